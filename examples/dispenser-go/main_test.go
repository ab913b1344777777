package main

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

func user(ends pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "1", Name: "Ada", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"trial_ends_at": ends})}
}

func TestTrial(t *testing.T) {
	trial := &trial{}
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "trial", Dispenser: trial, Config: trial})
	p.Dispense(user(int64(1))).Redirects("/upgrade").With(pluginsdk.ConsumeIntended())
	p.Dispense(user(int64(1 << 40))).IsDone()
	p.Dispense(user(nil)).IsDone()
}

func TestConformance(t *testing.T) { plugintest.Conformance(t, plugintest.Build(t, ".")) }
