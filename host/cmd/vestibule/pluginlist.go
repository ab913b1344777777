package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func pluginList() command {
	var asJSON bool
	return command{
		name: "list", args: "[--json]", short: "show the state of the running host's plugins",
		long: "Asks the running host through server.admin_address, else lists the plugin blocks of the configuration. Times and calls\n" +
			"count since the host started.",
		flags: func(f *pflag.FlagSet) { jsonFlag(f, &asJSON) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			cfg, err := in.load()
			if err != nil {
				return err
			}
			list, away := askHost(ctx, cfg)
			if away != nil {
				list = configuredPlugins(cfg)
			}
			if asJSON {
				return printJSON(in.out, struct {
					Running bool   `json:"running"`
					Reason  string `json:"reason,omitempty"`
					host.PluginList
				}{away == nil, reason(away), list})
			}
			if away != nil {
				fmt.Fprintf(in.err, "%s\nThese plugins are configured:\n", reason(away))
			}
			return in.printPlugins(list, away == nil)
		},
	}
}

// askHost asks the running host. The error is why it cannot be asked.
func askHost(ctx context.Context, cfg *config.Config) (host.PluginList, error) {
	if cfg.Server.AdminAddress == nil {
		return host.PluginList{}, errors.New(`a running host cannot be asked: set server.admin_address, such as "127.0.0.1:9090", and restart it`)
	}
	return host.RunningPlugins(ctx, *cfg.Server.AdminAddress)
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return oneLine(err)
}

// notRunning is the state of a plugin that only the configuration tells of.
const notRunning = "unknown"

// configuredPlugins are the plugin blocks as they are written.
func configuredPlugins(cfg *config.Config) host.PluginList {
	list := host.PluginList{Plugins: []host.PluginStatus{}}
	for _, name := range cfg.PluginNames() {
		p := cfg.Plugins[name]
		status := host.PluginStatus{Name: name, State: notRunning, Roles: p.Roles}
		if len(p.Command) > 0 {
			status.Program = p.Command[0]
		}
		list.Plugins = append(list.Plugins, status)
	}
	return list
}

func (in *invocation) printPlugins(list host.PluginList, running bool) error {
	table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
	if running {
		fmt.Fprintln(table, "NAME\tSTATE\tSINCE\tPID\tROLES\tVERSION\tRESTARTS\tCALLS\tP99\tSHA256\tLAST ERROR")
	} else {
		fmt.Fprintln(table, "NAME\tROLES\tPROGRAM")
	}
	for _, p := range list.Plugins {
		roles := strings.Join(p.Roles, ",")
		if !running {
			fmt.Fprintf(table, "%s\t%s\t%s\n", p.Name, roles, printable(p.Program))
			continue
		}
		pid := "-"
		if p.PID != 0 {
			pid = fmt.Sprint(p.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%.12s\t%s\n", p.Name, p.State, moment(p.Since), pid, roles,
			printable(p.Version), p.Restarts, p.Calls, p99(p), printable(p.SHA256), printable(p.LastError))
	}
	return table.Flush()
}

// p99 is the time as operators read it.
func p99(p host.PluginStatus) string {
	if p.Calls == 0 {
		return "-"
	}
	return time.Duration(p.P99 * float64(time.Second)).Round(10 * time.Microsecond).String()
}
