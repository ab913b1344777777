package host_test

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func TestVersionComesFromTheBuild(t *testing.T) {
	ours := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: module, Version: version}}
	}
	embedded := func(dep *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "example.com/shop", Version: "v1.2.3"}, Deps: []*debug.Module{dep}}
	}
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"a tag":                       {ours("v2.7.1"), "2.7.1"},
		"a tag before a release":      {ours("v2.7.0-rc.1"), "2.7.0-rc.1"},
		"no build information":        {ours(""), pluginsdk.Version},
		"a working tree":              {ours("(devel)"), pluginsdk.Version},
		"a commit after a tag":        {ours("v2.7.2-0.20261122000203-b77796c0ffee"), pluginsdk.Version},
		"a commit after a candidate":  {ours("v2.7.0-rc.1.0.20261122000203-b77796c0ffee"), pluginsdk.Version},
		"a commit without tags":       {ours("v2.0.0-20261122000203-b77796c0ffee+dirty"), pluginsdk.Version},
		"a tag with changes on top":   {ours("v2.7.1+dirty"), pluginsdk.Version},
		"a program that embeds it":    {embedded(&debug.Module{Path: module, Version: "v2.7.1"}), "2.7.1"},
		"a replaced module":           {embedded(&debug.Module{Path: module, Version: "v2.7.1", Replace: &debug.Module{Path: "../v"}}), pluginsdk.Version},
		"a program that has it not":   {embedded(&debug.Module{Path: "example.com/other", Version: "v9.9.9"}), pluginsdk.Version},
		"another module at the front": {&debug.BuildInfo{Main: debug.Module{Path: module + "/x", Version: "v9.9.9"}}, pluginsdk.Version},
	} {
		t.Run(name, func(t *testing.T) {
			if got := host.VersionIn(c.info); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if core := host.CoreVersion(); core != "2" {
		t.Errorf("the core version is %q", core)
	}
}

// The version of the sources has one home in Go; what is not Go must agree.
func TestOneVersion(t *testing.T) {
	numbers := map[string]string{
		"../CHANGELOG.md":                  `(?m)^## \[(?:Unreleased\]: )?(\d+\.\d+\.\d+)`,
		"../ui/package.json":               `"version": "([^"]+)"`,
		"../ui/dist/manifest.json":         `"version":"([^"]+)"`,
		"../pluginsdk/node/package.json":   `"version": "([^"]+)"`,
		"../pluginsdk/node/vestibule.js":   `VERSION = '([^']+)'`,
		"../pluginsdk/python/vestibule.py": `VERSION = "([^"]+)"`,
	}
	for file, pattern := range numbers {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		if found == nil || string(found[1]) != pluginsdk.Version {
			t.Errorf("%s: %q, want %s as in pluginsdk.Version", file, found, pluginsdk.Version)
		}
	}
	for _, file := range []string{"../ui/dist/manifest.json", "../examples/own-login/manifest.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ Core string }
		if err := json.Unmarshal(text, &manifest); err != nil || manifest.Core != host.CoreVersion() {
			t.Errorf("%s names core %q, want %s (%v)", file, manifest.Core, host.CoreVersion(), err)
		}
	}
}

// With an exclude or a replace in it, `go install …@version` refuses a module.
func TestModuleCanBeInstalled(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "module "+module+"\n") {
		t.Errorf("go.mod begins with %.60q", text)
	}
	if found := regexp.MustCompile(`(?m)^\s*(exclude|replace)\b.*`).Find(text); found != nil {
		t.Errorf("go.mod has %q", found)
	}
}
