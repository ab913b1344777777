package host_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A plugin whose answers no host takes does not pass its check, with a block or without:
// each sign-in would end with 502. Which origins are allowed is the business of the
// configuration.
func TestCheckPluginRefusesWhatNoHostTakes(t *testing.T) {
	program := plugintest.Build(t, "pluginproc/internal/faultplugin")
	for way, want := range map[string]string{
		"script-target":  "neither a rooted path nor an http URL",
		"control-target": "control character",
		"held-sign-in":   "at or below /login",
		"held-site":      "opens the whole site",
		"credential":     `"password"`,
		"foreign-target": "",
		"done":           "",
	} {
		for check, roles := range map[string][]string{"keeps to what its block grants": {"dispenser"}, "answers what a host takes": nil} {
			t.Run(way+", "+check, func(t *testing.T) {
				report, err := host.CheckPlugin(t.Context(), host.Plugin{
					Name: "fault", Command: []string{program, "ok"}, Roles: roles, Config: []byte(`{"call": "` + way + `"}`),
				}, hclog.NewNullLogger())
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range report.Findings {
					if f.Check != check {
						continue
					}
					if (f.Err == nil) != (want == "") || f.Err != nil && !strings.Contains(f.Err.Error(), want) {
						t.Errorf("%v, want %q", f.Err, want)
					}
					return
				}
				t.Errorf("nothing was checked: %+v", report.Findings)
			})
		}
	}
}

// A call by hand refuses them, too.
func TestCallPluginRefusesWhatNoHostTakes(t *testing.T) {
	program := plugintest.Build(t, "pluginproc/internal/faultplugin")
	for way, want := range map[string]string{"held-site": "opens the whole site", "foreign-target": "", "done": ""} {
		_, err := host.CallPlugin(t.Context(), host.Plugin{
			Name: "fault", Command: []string{program, "ok"}, Roles: []string{"dispenser"}, Config: []byte(`{"call": "` + way + `"}`),
		}, []byte(`{}`), hclog.NewNullLogger())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", way, err, want)
		}
	}
}
