package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path := flag.String("db", "shop.db", "the SQLite database `file` to make")
	flag.Parse()
	if err := run(ctx, *path, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string, out io.Writer) error {
	begin := time.Now()
	made, err := seed.Build(ctx, path)
	if err != nil {
		return err
	}
	if made {
		_, _ = fmt.Fprintf(out, "%s: made in %.1f s: %d products, %d customers, %d orders\n",
			path, time.Since(begin).Seconds(), seed.Products, seed.Customers, seed.Orders)
	}
	_, err = fmt.Fprintf(out, "Demo account: %s\nPassword:     %s\n", seed.Email, seed.Password)
	return err
}
