package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/term"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// create is whether a command may make the database.
type create bool

// withAdmin opens the database that the configuration names, and does the work.
func (in *invocation) withAdmin(ctx context.Context, may create, work func(*host.Admin) error) (err error) {
	cfg, err := in.load()
	if err != nil {
		return err
	}
	logger := hclog.New(&hclog.LoggerOptions{Name: "vestibule", Output: in.err, Level: hclog.Info})
	opts, err := cfg.AdminOptions(ctx, logger, bool(may))
	if err != nil {
		return err
	}
	admin, err := host.NewAdmin(opts)
	if err != nil {
		return errors.Join(err, opts.Store.Close())
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	return located(in, cfg, work(admin))
}

// maxPassword bounds what is read as a password, in bytes.
const maxPassword = 4096

// password asks for a password twice without echo, or reads it from the standard
// input.
func (in *invocation) password(fromStdin bool) (string, error) {
	if fromStdin {
		text, err := io.ReadAll(io.LimitReader(in.in, maxPassword+1))
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		if len(text) > maxPassword {
			return "", fmt.Errorf("the password is longer than %d bytes", maxPassword)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
	}
	file, ok := in.in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return "", &usageError{"there is no terminal to ask for the password", "give it on the standard input with --password-stdin"}
	}
	first, err := in.ask(file, "Password: ")
	if err != nil {
		return "", err
	}
	again, err := in.ask(file, "Once more: ")
	if err != nil {
		return "", err
	}
	if first != again {
		return "", errors.New("the two passwords differ: try again")
	}
	return first, nil
}

func (in *invocation) ask(file *os.File, prompt string) (string, error) {
	fmt.Fprint(in.err, prompt)
	text, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(in.err)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(text), nil
}
