// Sends forms with mime/multipart and net/http. See ../README.md.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
)

type part struct {
	Name     string
	Text     string
	Filename string
	File     string
}

type job struct {
	URL   string
	Parts []part
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(form *multipart.Writer, parts []part) error {
	for _, p := range parts {
		if p.File == "" {
			if err := form.WriteField(p.Name, p.Text); err != nil {
				return err
			}
			continue
		}
		target, err := form.CreateFormFile(p.Name, p.Filename)
		if err != nil {
			return err
		}
		file, err := os.Open(p.File)
		if err != nil {
			return err
		}
		_, err = io.Copy(target, file)
		file.Close()
		if err != nil {
			return err
		}
	}
	return form.Close()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		send(lines.Text())
	}
}

func send(path string) {
	source, err := os.ReadFile(path)
	check(err)
	var j job
	check(json.Unmarshal(source, &j))

	// A pipe, so that the body is streamed in chunks without a Content-Length.
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	go func() { writer.CloseWithError(write(form, j.Parts)) }()

	request, err := http.NewRequest(http.MethodPost, j.URL, reader)
	check(err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	client := &http.Client{Transport: &http.Transport{Proxy: nil}}
	response, err := client.Do(request)
	check(err)
	defer response.Body.Close()
	body := new(strings.Builder)
	_, err = io.Copy(body, response.Body)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"status": response.StatusCode, "body": body.String()}))
}
