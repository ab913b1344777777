package main

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

func user(accepted pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "1", Name: "Ada", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"terms_accepted": accepted})}
}

func posted(accept pluginsdk.Value) func(*pluginsdk.Request) {
	return func(r *pluginsdk.Request) {
		r.Held, r.Form = "/terms/accept", pluginsdk.ValuesOf(map[string]pluginsdk.Value{"accept": accept})
	}
}

func TestTerms(t *testing.T) {
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "terms", Dispenser: pluginsdk.DispenserFunc(dispense)})
	p.Dispense(user(nil)).Holds("/terms/accept")
	p.Dispense(user(nil), posted(false)).Holds("/terms/accept")
	accepted := p.Dispense(user(nil), posted(true)).IsDone()
	if effects := accepted.Intent.Effects(); len(effects) != 1 || effects[0].Name() != "terms_accepted" || effects[0].Value() == nil {
		t.Errorf("the effects are %v", effects)
	}
	p.Dispense(user("2026-05-04T12:00:00Z")).IsDone()
}

func TestConformance(t *testing.T) { plugintest.Conformance(t, plugintest.Build(t, ".")) }
