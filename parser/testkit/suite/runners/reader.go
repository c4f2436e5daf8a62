// Reads forms with Go's mime/multipart. The README of the suite describes the protocol.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"runtime"
)

type part struct {
	name, filename *string
	content        []byte
}

// A body that is read in chunks, as from a socket.
type chunks struct {
	body io.Reader
	size int
}

func (c chunks) Read(to []byte) (int, error) {
	return c.body.Read(to[:min(len(to), c.size)])
}

func read(contentType string, body io.Reader) ([]part, error) {
	// The same steps as in http.Request.MultipartReader.
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return nil, errors.New("no form")
	}
	reader := multipart.NewReader(body, parameters["boundary"])
	var parts []part
	for {
		next, err := reader.NextPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(next)
		if err != nil {
			return nil, err
		}
		name, filename := next.FormName(), next.FileName()
		found := part{&name, nil, content}
		if filename != "" {
			found.filename = &filename
		}
		parts = append(parts, found)
	}
}

func pack(out *bytes.Buffer, data []byte) {
	binary.Write(out, binary.BigEndian, int32(len(data)))
	out.Write(data)
}

func packText(out *bytes.Buffer, text *string) {
	if text == nil {
		binary.Write(out, binary.BigEndian, int32(-1))
	} else {
		pack(out, []byte(*text))
	}
}

func take(in io.Reader) []byte {
	var size int32
	if binary.Read(in, binary.BigEndian, &size) != nil {
		return nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		panic(err)
	}
	return data
}

func main() {
	in := bufio.NewReader(os.Stdin)
	var version bytes.Buffer
	pack(&version, []byte(runtime.Version()))
	os.Stdout.Write(version.Bytes())
	for batch := take(in); batch != nil; batch = take(in) {
		bodies := bytes.NewReader(batch)
		var out bytes.Buffer
		for contentType := take(bodies); contentType != nil; contentType = take(bodies) {
			var size int32
			binary.Read(bodies, binary.BigEndian, &size)
			body := take(bodies)
			if size == 0 {
				size = int32(len(body))
			}
			parts, err := read(string(contentType), chunks{bytes.NewReader(body), int(size)})
			if err != nil {
				out.WriteByte(0)
				pack(&out, []byte(err.Error()))
				continue
			}
			out.WriteByte(1)
			binary.Write(&out, binary.BigEndian, int32(len(parts)))
			for _, found := range parts {
				packText(&out, found.name)
				packText(&out, found.filename)
				pack(&out, found.content)
			}
		}
		var reply bytes.Buffer
		pack(&reply, out.Bytes())
		os.Stdout.Write(reply.Bytes())
	}
}
