package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/cmd/vestibule/internal/manual"
)

func completionCommand() command {
	return command{
		name: "completion", args: strings.Join(manual.Shells(), "|"), short: "print the script that completes command lines in a shell",
		long: "For bash: source <(vestibule completion bash). For zsh: the same, or the file _vestibule in a folder of $fpath. For\n" +
			"fish: the file vestibule.fish in ~/.config/fish/completions.",
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(1, 1); err != nil {
				return err
			}
			text, err := manual.Completion(in.args[0], wholeProgram())
			if err != nil {
				return &usageError{err.Error(), in.hint}
			}
			_, err = io.WriteString(in.out, text)
			return err
		},
	}
}

func manCommand() command {
	return command{
		name: "man", args: "FOLDER", short: "write the pages of the manual, for man(1)",
		long: "FOLDER is made where it is missing, such as ~/.local/share/man/man1. Pages of another version are replaced.",
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(1, 1); err != nil {
				return err
			}
			if err := os.MkdirAll(in.args[0], 0o755); err != nil {
				return fmt.Errorf("write the manual: %w", err)
			}
			for _, page := range manual.Pages(wholeProgram(), "vestibule "+host.Version()) {
				if err := os.WriteFile(filepath.Join(in.args[0], page.Name), []byte(page.Text), 0o644); err != nil {
					return fmt.Errorf("write the manual: %w", err)
				}
			}
			return nil
		},
	}
}

// wholeProgram is the tree of all commands, as shells and people are told of it.
func wholeProgram() manual.Command {
	return manual.Command{
		Name: "vestibule", Short: "sign-in and an OData service in front of a web application",
		Long: "Each command reads the file that -c names, config.hcl in the current folder. A setting is overridden by the\n" +
			"variable VESTIBULE_BLOCK__KEY, and that one by --set. Flags may stand before, between and after arguments.",
		Sub: described(commands()),
	}
}

func described(list []command) []manual.Command {
	var out []manual.Command
	for _, cmd := range list {
		one := manual.Command{Name: cmd.name, Args: cmd.args, Short: cmd.short, Long: cmd.long, Sub: described(cmd.sub)}
		if cmd.sub == nil {
			cmd.flagSet(&invocation{}).VisitAll(func(f *flag.Flag) {
				value, usage := flag.UnquoteUsage(f)
				one.Flags = append(one.Flags, manual.Flag{Name: f.Name, Value: value, Usage: usage, Default: shownDefault(f)})
			})
			one.Flags = append(one.Flags, manual.Flag{Name: "help", Usage: "print what the command does, and its flags"})
		}
		out = append(out, one)
	}
	return out
}

// shownDefault is the default of a flag that has one, and is not off.
func shownDefault(f *flag.Flag) string {
	if f.DefValue == "false" {
		return ""
	}
	return f.DefValue
}
