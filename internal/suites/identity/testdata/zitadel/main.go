// Zitadel serves the example provider of zitadel/oidc on a free port of loopback, which it
// prints. It is a module of its own: the provider needs 17 modules, which nothing
// that is released may need. Its person is test-user@127.0.0.1.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "zitadel:", err)
		os.Exit(1)
	}
}

func serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	issuer := "http://" + l.Addr().String()
	storage.RegisterClients(storage.WebClient("vestibule", "not-a-secret", os.Getenv("REDIRECT")))
	people := storage.NewStorage(storage.NewUserStore(issuer))
	handler := exampleop.SetupServer(issuer, people, slog.New(slog.NewTextHandler(io.Discard, nil)), false)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	fmt.Println(issuer)
	return server.Serve(l)
}
