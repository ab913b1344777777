package main

import (
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

func TestConfigMistakes(t *testing.T) {
	const client = `"client_id": "vestibule", "client_secret": "x"`
	tests := []struct{ name, config, path, message string }{
		{"plain http", `"issuer": "http://login.example.com"`, "issuer", "not on https"},
		{"a name that looks like loopback", `"issuer": "http://localhost.example.com"`, "issuer", "not on https"},
		{"another scheme", `"issuer": "ftp://127.0.0.1"`, "issuer", "not on https"},
		{"no URL", `"issuer": "login.example.com"`, "issuer", "no issuer"},
		{"a query", `"issuer": "https://login.example.com/?x=1"`, "issuer", "without a query"},
		{"a password", `"issuer": "https://a:b@login.example.com"`, "issuer", "no issuer"},
		{"a template", `"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"`, "issuer", "placeholder"},
		{"Entra for all organisations", `"issuer": "https://login.microsoftonline.com/organizations/v2.0"`, "tenants", "list the ids"},
		{"Entra for everybody", `"issuer": "https://login.microsoftonline.com/common/v2.0"`, "tenants", "list the ids"},
		{"no tenant's id", `"issuer": "https://login.microsoftonline.com/common/v2.0", "tenants": ["example.com"]`, "tenants", "no tenant's id"},
		{"no openid", `"issuer": "https://login.example.com", "scopes": ["email"]`, "scopes", "openid"},
		{"two scopes in one", `"issuer": "https://login.example.com", "scopes": ["openid email", "openid"]`, "scopes", "blanks"},
		{"an address as a domain", `"issuer": "https://login.example.com", "domains": ["@example.com"]`, "domains", "no domain"},
		{"a claim without values", `"issuer": "https://login.example.com", "claims": {"groups": []}`, "claims", "no values"},
		{"a claim with one text", `"issuer": "https://login.example.com", "claims": {"groups": "staff"}`, "claims.groups", "a list is wanted"},
		{"an unknown key", `"issuer": "https://login.example.com", "domain": ["example.com"]`, "domain", `did you mean "domains"?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			problems := plugintest.ConfigProblems(t, newPlugin(time.Now), plugintest.Config("{"+client+", "+tt.config+"}"))
			if len(problems) != 1 || problems[0].Path != tt.path || !strings.Contains(problems[0].Message, tt.message) {
				t.Errorf("got %+v, want %s: %s", problems, tt.path, tt.message)
			}
		})
	}
	for _, config := range []string{
		`"issuer": "https://login.microsoftonline.com/organizations/v2.0", "tenants": ["11111111-2222-3333-4444-555555555555"]`,
		`"issuer": "http://127.0.0.1:9000"`, `"issuer": "http://[::1]:9000/x"`, `"issuer": "http://localhost:9000"`,
	} {
		if problems := plugintest.ConfigProblems(t, newPlugin(time.Now), plugintest.Config("{"+client+", "+config+"}")); problems != nil {
			t.Errorf("%s: %+v", config, problems)
		}
	}
}

// The texts for people pass as reasons of refusals: one line of at most 256 bytes.
func TestTextsAreShort(t *testing.T) {
	for _, locale := range []string{"en", "de-AT", "", "fr"} {
		say := textsFor(locale)
		for _, text := range []string{say.denied, say.again, say.notYou, say.unverified, say.noProof, say.oldProof} {
			if text == "" || len(text) > 256 || oneLine(text, 256) != text {
				t.Errorf("%s: %q is no reason", locale, text)
			}
		}
	}
}

// The plugin passes the checks with a provider that answers, and with one that is down:
// it is ready, and what needs no provider is answered.
func TestConformance(t *testing.T) {
	program := plugintest.Build(t, ".")
	up := newRogue(t, time.Now)
	down := newRogue(t, time.Now)
	down.Close()
	for name, issuer := range map[string]string{"up": up.URL, "down": down.URL} {
		t.Run(name, func(t *testing.T) {
			plugintest.ConformanceOf(t, conformance.Program{Command: []string{program}, Setup: setupFor(issuer)})
		})
	}
}

// setupFor is the plugin's setup for a provider, with more lines of its config block.
func setupFor(issuer string, more ...string) pluginsdk.Setup {
	lines := append([]string{`"issuer": "` + issuer + `"`, `"client_id": "` + clientID + `"`, `"client_secret": "` + clientSecret + `"`}, more...)
	return plugintest.Config("{" + strings.Join(lines, ", ") + "}")
}
