package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func initCommand() command {
	var from, driver string
	return command{
		name: "init", short: "write a commented config.hcl, or propose sets for a database",
		long: "Writes the file that -c names with all settings, their defaults and their meaning. Never overwrites a file.\n" +
			"With --from it prints a block odata for the tables and views of a database, to edit:\n" +
			"vestibule init --from app.db > odata.hcl",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&from, "from", "", "`DSN` of the database: a file of SQLite, postgres://…, or user:password@tcp(host)/name")
			f.StringVar(&driver, "driver", "", "sqlite, postgres or mysql; inferred from the DSN when empty")
		},
		run: func(ctx context.Context, in *invocation) error {
			if from == "" {
				return initialize(in)
			}
			if err := in.need(0, 0); err != nil {
				return err
			}
			text, err := config.Propose(ctx, driver, from)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(in.out, text)
			return err
		},
	}
}

func initialize(in *invocation) error {
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
