package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// commit is set by the Makefile; a build by the go command alone knows it too
// where it may ask the repository.
var commit string

func versionCommand() command {
	return command{
		name: "version", short: "print version, commit, Go and protocol numbers",
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			fmt.Fprintf(in.out, "vestibule %s\ncommit %s\ngo %s %s/%s\nplugin protocol %d\nintent version %s\nOData 4.0, 4.01\n",
				host.Version(), revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH, host.PluginProtocol, host.IntentVersion)
			return nil
		},
	}
}

func revision() string {
	found := commit
	if info, ok := debug.ReadBuildInfo(); ok && found == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				found = s.Value
			}
		}
	}
	return cmp.Or(found, "unknown")
}
