package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
)

func pluginCommands() []command {
	return []command{pluginNew(), pluginList(), pluginCheck(), pluginCall(), pluginSum()}
}

// pluginLogger shows what plugins log about what goes wrong.
func (in *invocation) pluginLogger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "vestibule", Output: in.err, Level: hclog.Warn})
}

func pluginCall() command {
	return command{
		name: "call", args: "NAME FILE.json", short: "make the one call that a JSON file describes and print the answer",
		long: "FILE is - for the standard input. docs/plugins-reference.md says what is in it.",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(2, 2); err != nil {
				return err
			}
			call, err := in.readFile(in.args[1])
			if err != nil {
				return err
			}
			cfg, err := in.load()
			if err != nil {
				return err
			}
			plugins, err := cfg.PluginsByName(in.args[0])
			if err != nil {
				return err
			}
			plugins, _ = cfg.GrantColumns(ctx, plugins)
			answer, err := host.CallPlugin(ctx, plugins[0], call, in.pluginLogger())
			if err != nil {
				return located(in, cfg, err)
			}
			_, err = fmt.Fprintf(in.out, "%s\n", answer)
			return err
		},
	}
}

func (in *invocation) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in.in)
	}
	return os.ReadFile(name)
}
