package main

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

const block = `{"version": "2026-11", "page": "/accept-terms", "prefixes": ["/terms"]}`

func TestTerms(t *testing.T) {
	p := plugintest.Serve(t, newPlugin(), plugintest.Config(block))
	for _, c := range []struct {
		name     string
		accepted pluginsdk.Value
		form     map[string]pluginsdk.Value
		passes   bool
		keeps    bool
	}{
		{"nothing accepted", nil, nil, false, false},
		{"an older version", "2025-01", nil, false, false},
		{"the current version", "2026-11", nil, true, false},
		{"accepts", nil, map[string]pluginsdk.Value{"accept": "2026-11"}, true, true},
		{"accepts again", "2025-01", map[string]pluginsdk.Value{"accept": "2026-11"}, true, true},
		{"accepts what is not in force any more", nil, map[string]pluginsdk.Value{"accept": "2025-01"}, false, false},
		{"asks which version there is", nil, map[string]pluginsdk.Value{"": ""}, false, false},
		{"no text", nil, map[string]pluginsdk.Value{"accept": true}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			user := pluginsdk.User{ID: "1", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"terms_version": c.accepted})}
			a := p.Dispense(user, func(r *pluginsdk.Request) {
				if c.form != nil {
					r.Method, r.Held, r.Form = "POST", "/accept-terms", pluginsdk.ValuesOf(c.form)
				}
			})
			if !c.passes {
				a.Holds("/accept-terms", "/terms")
				if c.form != nil && a.Intent.NextStep()["version"] != "2026-11" {
					t.Errorf("the page is told %v", a.Intent.NextStep())
				}
				return
			}
			a.IsDone()
			if c.keeps {
				a.With(pluginsdk.SetUser("terms_version", "2026-11"))
			} else if len(a.Intent.Effects()) > 0 {
				t.Errorf("the effects are %v", a.Intent.Effects())
			}
		})
	}
}

func TestConfiguration(t *testing.T) {
	for name, block := range map[string]string{
		"no version":       `{"page": "/p"}`,
		"an empty version": `{"page": "/p", "version": ""}`,
		"another origin":   `{"page": "https://x.example/p", "version": "1"}`,
	} {
		if problems := plugintest.ConfigProblems(t, newPlugin(), plugintest.Config(block)); len(problems) != 1 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	blind := plugintest.Config(block)
	blind.UserRead, blind.UserWrite = nil, nil
	if problems := plugintest.ConfigProblems(t, newPlugin(), blind); len(problems) != 2 {
		t.Errorf("without grants: %v", problems)
	}
}

func TestConformance(t *testing.T) {
	plugintest.ConformanceOf(t, conformance.Program{Command: []string{plugintest.Build(t, ".")}, Setup: plugintest.Config(block)})
}
