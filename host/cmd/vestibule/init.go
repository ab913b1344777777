package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func initCommand() command {
	return command{
		name: "init", short: "write a commented config.hcl",
		long: "Writes the file that -c names with all settings, their defaults and what they mean. Never overwrites one.",
		run:  initialize,
	}
}

func initialize(_ context.Context, in *invocation) error {
	if err := in.need(0, 0); err != nil {
		return err
	}
	file, err := os.OpenFile(in.source.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already and is not overwritten: name another with -c, or move it away", in.source.File)
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(config.Sample())
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", in.source.File, err)
	}
	fmt.Fprintf(in.out, "wrote %s; next: vestibule user add --email you@example.com --name You, then vestibule serve\n", in.source.File)
	return nil
}
