package pluginproc_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A host that serves loses neither a dispenser, nor the handler beside it, nor all plugins at once.
func TestKeeps(t *testing.T) {
	block := func(name string, roles ...string) pluginproc.Spec {
		return pluginproc.Spec{Name: name, Command: []string{"/bin/true"}, Roles: roles}
	}
	dispenser := block("orgs", pluginsdk.RoleDispenser, pluginsdk.RoleOrgSetup)
	one, two := block("one", pluginsdk.RoleListener), block("two", pluginsdk.RoleListener)
	for _, tt := range []struct {
		name         string
		inUse, named []pluginproc.Spec
		says         string
	}{
		{"nothing", nil, nil, ""},
		{"the first plugin", nil, []pluginproc.Spec{dispenser}, ""},
		{"the same", []pluginproc.Spec{dispenser, one}, []pluginproc.Spec{one, dispenser}, ""},
		{"a listener less", []pluginproc.Spec{dispenser, one, two}, []pluginproc.Spec{dispenser, two}, ""},
		{"the last handler is gone", []pluginproc.Spec{dispenser}, []pluginproc.Spec{block("orgs", pluginsdk.RoleDispenser)}, `plugin: a dispenser is in use, and the last plugin with the role org_setup is gone: `},
		{"the handler moves", []pluginproc.Spec{dispenser, one}, []pluginproc.Spec{block("orgs", pluginsdk.RoleDispenser), block("one", pluginsdk.RoleListener, pluginsdk.RoleOrgSetup)}, ""},
		{"the dispenser is gone", []pluginproc.Spec{dispenser, one}, []pluginproc.Spec{one}, `plugin.orgs: plugin "orgs" is in use as dispenser, and its block is gone: put it back, or restart the host to go on without it`},
		{"everything is gone", []pluginproc.Spec{dispenser, one}, nil, `plugin.orgs: plugin "orgs" is in use as dispenser, and its block is gone: `},
		{"the dispenser is another one", []pluginproc.Spec{dispenser}, []pluginproc.Spec{block("other", pluginsdk.RoleDispenser)}, `plugin.orgs: plugin "orgs" is in use as dispenser, and its block is gone: `},
		{"the role is gone", []pluginproc.Spec{dispenser}, []pluginproc.Spec{block("orgs", pluginsdk.RoleOrgSetup)}, `plugin.orgs: plugin "orgs" is in use as dispenser, and has lost that role: `},
		{"all listeners are gone", []pluginproc.Spec{one, two}, nil, "plugin: the blocks of all plugins in use are gone: put them back, or restart the host to go on without them"},
		{"all listeners are others", []pluginproc.Spec{one}, []pluginproc.Spec{two}, "plugin: the blocks of all plugins in use are gone: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := pluginproc.New(tt.inUse, pluginproc.Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = m.Keeps(tt.named)
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.says)) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}
