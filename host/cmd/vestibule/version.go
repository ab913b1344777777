package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// commit and date, of the commit, are set by the Makefile and by releases; a build by
// the go command alone knows them too where it may ask the repository.
var commit, date string

func versionCommand() command {
	return command{
		name: "version", short: "print version, commit with its date, Go and protocol numbers",
		long: "So does vestibule --version.",
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			fmt.Fprint(in.out, versionText())
			return nil
		},
	}
}

// built is what is known of the build: what it was told, or the setting that the go
// command has noted.
func built(told, setting string) string {
	noted := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == setting {
				noted = s.Value
			}
		}
	}
	return cmp.Or(told, noted, "unknown")
}

// versionText returns the program's version, build and protocol numbers, a line each.
func versionText() string {
	return fmt.Sprintf("vestibule %s\ncommit %s\ndate %s\ngo %s %s/%s\nplugin protocol %d\nintent version %s\nOData 4.0, 4.01\n",
		host.Version(), built(commit, "vcs.revision"), built(date, "vcs.time"), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		host.PluginProtocol, host.IntentVersion)
}
