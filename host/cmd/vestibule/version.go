package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// commit and date, of the commit, are set by the Makefile and by releases.
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

// ofModule returns the commit and the date that a module version names. The name of a tag is that of its commit.
func ofModule(version string) (commit, date string) {
	pseudo := regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})$`) // the time and the start of a commit without a tag
	m := pseudo.FindStringSubmatch(version)
	if m == nil {
		return strings.TrimPrefix(version, "(devel)"), ""
	}
	at, err := time.Parse("20060102150405", m[1])
	if err != nil {
		return m[2], ""
	}
	return m[2], at.Format(time.RFC3339)
}

// built returns the commit and the date of the build: those that the linker has set, or that the go command has
// recorded of the repository, or, for go install, of the module.
func built() (string, string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(commit, "unknown"), cmp.Or(date, "unknown")
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	tag, day := ofModule(info.Main.Version)
	return cmp.Or(commit, settings["vcs.revision"], tag, "unknown"), cmp.Or(date, settings["vcs.time"], day, "unknown")
}

// versionText returns the program's version, build and protocol numbers, a line each.
func versionText() string {
	commit, date := built()
	return fmt.Sprintf("vestibule %s\ncommit %s\ndate %s\ngo %s %s/%s\nplugin protocol %d\nintent version %s\nOData 4.0, 4.01\n",
		host.Version(), commit, date, runtime.Version(), runtime.GOOS, runtime.GOARCH, host.PluginProtocol, host.IntentVersion)
}
