package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// pluginBlock is a plugin of four lines.
func pluginBlock(name string, roles ...string) string {
	return fmt.Sprintf("plugin %q {\n  command = [\"/bin/true\"]\n  roles = [\"%s\"]\n}\n", name, strings.Join(roles, `", "`))
}

// auth.dispensers names each dispenser once, and nothing else; without it there is one at
// most.
func TestDispensersAreNamedOnce(t *testing.T) {
	order := func(names string) string { return "auth {\n  dispensers = [" + names + "]\n}\n" }
	totp, terms, orgs := pluginBlock("totp", "dispenser"), pluginBlock("terms", "dispenser"), pluginBlock("orgs", "org_setup", "dispenser")
	for _, tt := range []struct {
		name, text string
		want       []string // beginnings of the findings, in order
	}{
		{"one without an order", orgs, nil},
		{"one in an order of its own", order(`"orgs"`) + orgs, nil},
		{"three in an order", order(`"terms", "totp", "orgs"`) + totp + terms + orgs, nil},
		{"several without an order", totp + terms + orgs, []string{
			`config.hcl:7:12: several plugins are dispensers, and auth.dispensers does not order them: add dispensers = ["totp", "terms", "orgs"] to auth, in the order in which they are to be asked`,
		}},
		{"behind another role", totp + orgs, []string{`config.hcl:7:25: several plugins are dispensers, and auth.dispensers does not order them: `}},
		{"an unknown name", order(`"totp", "trems"`) + totp + terms, []string{
			`config.hcl:2:16: auth.dispensers leaves out the plugin "terms", which is a dispenser: add it where it is to be asked, or take the role from it`,
			`config.hcl:2:25: auth.dispensers names the plugin "trems", which does not exist: did you mean "terms"?`,
		}},
		{"a name without any plugin", order(`"totp"`), []string{`config.hcl:2:17: auth.dispensers names the plugin "totp", and there is no plugin: add plugin "totp" { … }, or take the name out`}},
		{"a name that is there twice", order(`"totp", "totp"`) + totp, []string{`config.hcl:2:25: auth.dispensers names the plugin "totp" twice: name it once, where it is to be asked`}},
		{"a plugin without the role", order(`"totp", "hook"`) + totp + pluginBlock("hook", "listener"), []string{
			`config.hcl:2:25: auth.dispensers names the plugin "hook", which is no dispenser: add "dispenser" to its roles, or take the name out`,
		}},
		{"a dispenser that is left out", order(`"totp"`) + totp + terms, []string{`config.hcl:2:16: auth.dispensers leaves out the plugin "terms", which is a dispenser: `}},
		{"two plugins of one name", order(`"totp"`) + totp + totp, []string{`config.hcl:8:1: duplicate block plugin "totp": merge it into the one at line 4, or rename one of them`}},
		{"no list of names", order(`5`) + totp + terms, []string{`config.hcl:2:17: dispensers.0 is a number: give a string`}},
		{"no name of a plugin", order(`"t!"`) + totp, []string{`config.hcl:2:17: dispensers.0: "t!" is no name for a plugin: `}},
		{"a role that is refused", order(`"totp"`) + pluginBlock("totp", "dispencer"), []string{`config.hcl:6:12: roles.0: "dispencer" is not allowed: did you mean "dispenser"?`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(t, map[string]string{"config.hcl": tt.text})
			_, found := load(t, nil)
			if len(found) != len(tt.want) {
				t.Fatalf("%d findings, want %d:\n%s", len(found), len(tt.want), strings.Join(found, "\n"))
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(found[i], want) {
					t.Errorf("finding %d\n got %s\nwant %s…", i, found[i], want)
				}
			}
		})
	}
}

// The host gets the dispensers in the order of auth.dispensers, which a reload changes.
func TestDispensersAreHandedOverInTheirOrder(t *testing.T) {
	blocks := pluginBlock("hook", "listener") + pluginBlock("totp", "dispenser") + pluginBlock("terms", "dispenser") + pluginBlock("orgs", "dispenser", "org_setup")
	names := func(list []host.Plugin) (names []string) {
		for _, p := range list {
			names = append(names, p.Name)
		}
		return names
	}
	before := runWith(t, map[string]string{"conf.d/10.hcl": "auth {\n  dispensers = [\"orgs\", \"totp\", \"terms\"]\n}\n" + blocks})
	if diff := cmp.Diff([]string{"orgs", "totp", "terms", "hook"}, names(before.opts.Plugins)); diff != "" {
		t.Errorf("at the start (-want +got):\n%s", diff)
	}
	rewrite(t, "conf.d/10.hcl", "auth {\n  dispensers = [\"terms\", \"orgs\", \"totp\"]\n}\n"+blocks)
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	got, err := cfg.Reload(t.Context(), before.cfg, before.opts)
	if err != nil || len(got.Waiting) > 0 {
		t.Fatalf("reload: %v, waiting %v", err, got.Waiting)
	}
	if diff := cmp.Diff([]string{"terms", "orgs", "totp", "hook"}, names(got.Options.Plugins)); diff != "" {
		t.Errorf("after a reload (-want +got):\n%s", diff)
	}
}
