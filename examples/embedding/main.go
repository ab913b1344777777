package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
)

// The account that the program adds to an empty database.
const (
	demoEmail    = "ada@example.com"
	demoPassword = "engine-of-analysis-1843"
)

func main() {
	address := flag.String("addr", "127.0.0.1:8081", "the loopback `address` to listen on")
	file := flag.String("db", "embedding.db", "the SQLite database `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *address, *file); err != nil {
		fmt.Fprintln(os.Stderr, "embedding:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, file string) (err error) {
	a, err := openApp(ctx, file, "mail", hclog.New(&hclog.LoggerOptions{Name: "embedding", Output: os.Stderr}))
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = errors.Join(err, a.close(ctx))
	}()
	if _, err := a.admin.AddUser(ctx, demoEmail, "Ada Lovelace", demoPassword); err != nil && !errors.Is(err, host.ErrTaken) {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: a.handler, ReadHeaderTimeout: 10 * time.Second}
	fmt.Printf("http://%s  sign in as %s with %s\n", listener.Addr(), demoEmail, demoPassword)
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
