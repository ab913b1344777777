package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

const (
	publicURL = "server {\n  public_url = \"https://app.example.com\"\n}\n"
	company   = "identity \"company\" {\n  plugin = \"oidc\"\n}\n"
)

// An identity names a plugin with the role, and has a name that addresses can have.
func TestIdentitiesAreChecked(t *testing.T) {
	oidc := pluginBlock("oidc", "identity_provider")
	with := func(line string) string {
		return "identity \"company\" {\n  plugin = \"oidc\"\n  " + line + "\n}\n"
	}
	for _, tt := range []struct {
		name, text string
		want       []string // beginnings of the findings, in order
	}{
		{"as it should be", publicURL + company + oidc, nil},
		{"one that makes users", publicURL + with("create = true") + oidc, nil},
		{"one that is confirmed", publicURL + with(`link = "confirm"`) + oidc, nil},
		{"two of one plugin", publicURL + company + strings.Replace(company, "company", "other", 1) + oidc, nil},
		{"the only way to sign in", publicURL + with("create = true") + oidc + "auth {\n  password {\n    sign_in = false\n  }\n  passkeys {\n    enabled = false\n  }\n}\n", nil},
		{"the only way to sign in, which nobody gets", publicURL + with(`link = "confirm"`) + oidc + "auth {\n  password {\n    sign_in = false\n  }\n  passkeys {\n    enabled = false\n  }\n}\n", []string{`config.hcl:14:15: warning: people sign in with identities alone, and nobody who has none can link one: write link`}},
		{"without a public URL", company + oidc, []string{`config.hcl:1:10: identity "company" needs server.public_url: its provider sends browsers back to /auth/identity/company/callback there: add public_url = "https://app.example.com" to server`}},
		{"without a plugin", publicURL + "identity \"company\" {\n}\n", []string{`config.hcl:4:10: identity "company" has no plugin: add plugin = …`}},
		{"without any plugin", publicURL + company, []string{`config.hcl:5:12: identity "company" names the plugin "oidc", and there is no plugin: add plugin "oidc" { … }, or take the identity out`}},
		{"an unknown plugin", publicURL + strings.Replace(company, "oidc", "oicd", 1) + oidc, []string{`config.hcl:5:12: identity "company" names the plugin "oicd", which does not exist: did you mean "oidc"?`}},
		{"a plugin without the role", publicURL + company + pluginBlock("oidc", "listener"), []string{`config.hcl:5:12: identity "company" names the plugin "oidc", which is no identity provider: add "identity_provider" to its roles`}},
		{"a name of an endpoint", publicURL + strings.Replace(company, "company", "options", 1) + oidc, []string{`config.hcl:4:10: "options" is no name for an identity: use lower-case letters`}},
		{"a name in capitals", publicURL + strings.Replace(company, "company", "Company", 1) + oidc, []string{`config.hcl:4:10: "Company" is no name for an identity: `}},
		{"an unknown rule", publicURL + with(`link = "email"`) + oidc, []string{`config.hcl:6:10: link: "email" is not allowed: use one of never, confirm, verified_email`}},
		{"users who are never made", publicURL + with("link = \"confirm\"\n  create = true") + oidc, []string{`config.hcl:7:12: warning: identity "company" makes nobody a user: with link = "confirm"`}},
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

// check names the columns that keep an identity from making users.
func TestIdentitiesNeedColumnsWithADefault(t *testing.T) {
	const table = `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, password TEXT NOT NULL, created_at DATETIME NOT NULL,
		tenant INTEGER NOT NULL, rank TEXT NOT NULL DEFAULT 'x', note TEXT, twice INTEGER NOT NULL GENERATED ALWAYS AS (tenant * 2) VIRTUAL)`
	for create, want := range map[string]string{
		"true":  `identity "company" makes users with a name and an address, and the table users needs a value for tenant: give these columns a default, or take create out`,
		"false": "",
	} {
		write(t, map[string]string{"config.hcl": publicURL + strings.Replace(company, "\n}", "\n  create = "+create+"\n}", 1) + pluginBlock("oidc", "identity_provider")})
		execute(t, "vestibule.db", table)
		cfg, found := load(t, nil)
		if found != nil {
			t.Fatal(found)
		}
		var named []string
		for _, f := range cfg.Verify(t.Context()) {
			if strings.Contains(f.Error(), "needs a value for") {
				named = append(named, f.Error())
			}
		}
		if want == "" && named != nil || want != "" && (len(named) != 1 || !strings.Contains(named[0], "config.hcl:6:12: "+want)) {
			t.Errorf("create = %s: %q", create, named)
		}
	}
}

// check warns where any address of users counts as verified.
func TestIdentitiesNeedVerifiedAddresses(t *testing.T) {
	for column, want := range map[string]bool{"email_verified_at": false, "verified": true} {
		write(t, map[string]string{"config.hcl": publicURL + strings.Replace(company, "\n}", "\n  link = \"verified_email\"\n}", 1) + pluginBlock("oidc", "identity_provider")})
		execute(t, "vestibule.db", "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, password TEXT, "+column+" DATETIME)")
		cfg, found := load(t, nil)
		if found != nil {
			t.Fatal(found)
		}
		warned := slices.ContainsFunc(cfg.Verify(t.Context()), func(f config.Finding) bool {
			return f.Warning && strings.Contains(f.Error(), `config.hcl:6:10: warning: identity "company" is linked to whoever has its address`)
		})
		if warned != want {
			t.Errorf("%s: warned %v", column, warned)
		}
	}
}

// A host that serves does not lose the plugin of an identity, and identities themselves change at a restart.
func TestReloadKeepsThePluginsOfIdentities(t *testing.T) {
	identity, other := pluginBlock("oidc", "identity_provider"), pluginBlock("hook", "listener")
	before := runWith(t, map[string]string{"conf.d/10.hcl": publicURL + company + identity + other})
	for name, text := range map[string]string{"gone": other, "without its role": pluginBlock("oidc", "listener") + other} {
		rewrite(t, "conf.d/10.hcl", publicURL+company+text)
		if _, found := load(t, nil); len(found) != 1 || !strings.Contains(found[0], `identity "company" names the plugin "oidc"`) {
			t.Errorf("%s: %v", name, found)
		}
		rewrite(t, "conf.d/10.hcl", publicURL+text) // with the block of the identity, which waits for a restart
		cfg, found := load(t, nil)
		if found != nil {
			t.Fatal(found)
		}
		_, err := cfg.Reload(t.Context(), before.cfg, before.opts)
		var list config.Findings
		if !errors.As(err, &list) || !strings.Contains(err.Error(), `identity "company" names the plugin "oidc"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rewrite(t, "conf.d/10.hcl", publicURL+strings.Replace(company, "company", "renamed", 1)+identity+other)
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	reload, err := cfg.Reload(t.Context(), before.cfg, before.opts)
	if err != nil {
		t.Fatal(err)
	}
	var waiting []string
	for _, w := range reload.Waiting {
		waiting = append(waiting, w.Key)
	}
	slices.Sort(waiting)
	if diff := cmp.Diff([]string{"identity.company", "identity.renamed"}, waiting); diff != "" {
		t.Error(diff)
	}
}
