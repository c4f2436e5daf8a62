// A server of Go's net/http. It prints its ports for HTTP and HTTPS, and responds to a form with the parts that it finds. The argument
// is a file with its key and its certificate. The README describes the response.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func receive(out http.ResponseWriter, request *http.Request) {
	if err := request.ParseMultipartForm(1 << 20); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	defer request.MultipartForm.RemoveAll()
	out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if request.ContentLength < 0 {
		fmt.Fprint(out, "chunked")
	} else {
		fmt.Fprint(out, request.ContentLength)
	}
	for name, values := range request.MultipartForm.Value {
		for _, value := range values {
			fmt.Fprintf(out, "\n%s\t-\t%x", name, sha256.Sum256([]byte(value)))
		}
	}
	for name, files := range request.MultipartForm.File {
		for _, file := range files {
			content, err := file.Open()
			if err != nil {
				panic(err)
			}
			hash := sha256.New()
			io.Copy(hash, content)
			content.Close()
			fmt.Fprintf(out, "\n%s\t%s\t%x", name, file.Filename, hash.Sum(nil))
		}
	}
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return listener
}

func main() {
	plain, secure := listen(), listen()
	fmt.Println(plain.Addr().(*net.TCPAddr).Port, secure.Addr().(*net.TCPAddr).Port)
	handler := http.HandlerFunc(receive)
	go http.Serve(plain, handler)
	panic(http.ServeTLS(secure, handler, os.Args[1], os.Args[1]))
}
