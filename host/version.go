package host

import (
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const modulePath = "github.com/vestibule-dev/vestibule/v2"

// Version is the version of the product, such as "2.0.0": that of the tag from
// which this program was built, or of which it imports this package. A build of a
// working tree between two tags has the version of its sources,
// [pluginsdk.Version].
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return pluginsdk.Version
	}
	return VersionIn(info)
}

// CoreVersion is the first number of [Version], which the manifests of front-end
// modules name.
func CoreVersion() string {
	core, _, _ := strings.Cut(Version(), ".")
	return core
}

// untagged matches what the go command makes up for a commit without a tag, or for
// one with changes on top (https://go.dev/ref/mod#pseudo-versions).
var untagged = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}(\+|$)|\+dirty$`)

// VersionIn is the version of the product in a program of which this is known.
func VersionIn(info *debug.BuildInfo) string {
	found := info.Main.Version
	if info.Main.Path != modulePath {
		found = ""
		for _, dep := range info.Deps {
			if dep.Path == modulePath && dep.Replace == nil {
				found = dep.Version
			}
		}
	}
	number, ok := strings.CutPrefix(found, "v")
	if !ok || untagged.MatchString(number) {
		return pluginsdk.Version
	}
	return number
}
