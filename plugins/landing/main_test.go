package main

import (
	"math"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

const rules = `{
	"rules": [
		{"when": {"plan": ["pro", "team"], "trial": false}, "target": "/studio"},
		{"when": {"partner_id": {"not": null}}, "target": "/partners/{partner_id}/{name}"},
		{"when": {"age": {"min": 6, "max": 17}}, "target": "route:home"},
		{"when": {"big": 9007199254740993}, "target": "/big"},
		{"when": {"email": "root@example.com"}, "target": "https://admin.example.com/"},
		{"when": {"kind": "lost"}, "target": "route:nowhere"}
	],
	"otherwise": "/start"
}`

func TestRules(t *testing.T) {
	tests := []struct {
		name    string
		email   string
		columns map[string]pluginsdk.Value
		want    string
	}{
		{"no column", "", nil, "/start"},
		{"one of a list", "", map[string]pluginsdk.Value{"plan": "team", "trial": false}, "/studio"},
		{"false as 0", "", map[string]pluginsdk.Value{"plan": "pro", "trial": int64(0)}, "/studio"},
		{"all conditions must hold", "", map[string]pluginsdk.Value{"plan": "pro", "trial": true}, "/start"},
		{"not null, and placeholders", "", map[string]pluginsdk.Value{"partner_id": int64(math.MaxInt64)}, "/partners/9223372036854775807/Ada%20%2F%20L"},
		{"null is not not null", "", map[string]pluginsdk.Value{"partner_id": nil}, "/start"},
		{"between", "", map[string]pluginsdk.Value{"age": int64(6)}, "/"},
		{"between, as a float", "", map[string]pluginsdk.Value{"age": 17.0}, "/"},
		{"above", "", map[string]pluginsdk.Value{"age": 17.5}, "/start"},
		{"null is in no order", "", map[string]pluginsdk.Value{"age": nil}, "/start"},
		{"text is not between numbers", "", map[string]pluginsdk.Value{"age": "7"}, "/start"},
		{"integers exactly", "", map[string]pluginsdk.Value{"big": int64(9007199254740993)}, "/big"},
		{"integers exactly, next to it", "", map[string]pluginsdk.Value{"big": int64(9007199254740992)}, "/start"},
		{"text in a bytes column", "", map[string]pluginsdk.Value{"plan": []byte("pro"), "trial": false}, "/studio"},
		{"a field that needs no grant", "root@example.com", nil, "https://admin.example.com/"},
	}
	p := plugintest.Serve(t, newPlugin(), plugintest.Config(rules))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			user := pluginsdk.User{ID: "1", Name: "Ada / L", Email: tt.email, Columns: pluginsdk.ValuesOf(tt.columns)}
			a := p.Dispense(user)
			if a.Intent.Target() != tt.want {
				t.Errorf("got %q, want %q", a.Intent.Target(), tt.want)
			}
			a.With(pluginsdk.ConsumeIntended())
		})
	}
	p.Dispense(pluginsdk.User{Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"kind": "lost"})}).Fails(`no route "nowhere"`)
}

func TestIntended(t *testing.T) {
	asked := func(r *pluginsdk.Request) { r.Intended = "/orders" }
	pro := pluginsdk.User{Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"plan": "pro"})}
	block := func(more string) string {
		return `{"rules": [{"when": {"plan": "pro"}, "target": "/pro"}]` + more + `}`
	}

	p := plugintest.Serve(t, newPlugin(), plugintest.Config(block("")))
	p.Dispense(pro, asked).IsDone()
	p.Dispense(pro).Redirects("/pro")
	p.Dispense(pluginsdk.User{}).IsDone()

	p = plugintest.Serve(t, newPlugin(), plugintest.Config(block(`, "intended": "last", "otherwise": "/x"`)))
	p.Dispense(pro, asked).Redirects("/pro")
	p.Dispense(pluginsdk.User{}, asked).IsDone()
	p.Dispense(pluginsdk.User{}).Redirects("/x")

	p = plugintest.Serve(t, newPlugin(), plugintest.Config(block(`, "intended": "never"`)))
	p.Dispense(pluginsdk.User{}, asked).Redirects("/dashboard").With(pluginsdk.ConsumeIntended())
}

func TestConfigMistakes(t *testing.T) {
	tests := []struct{ config, path, message string }{
		{`{"rules": [{"when": {"plan": "a"}, "target": "studio"}]}`, "rules[0].target", "no path"},
		{`{"rules": [{"when": {"plan": "a"}, "target": "//evil"}]}`, "rules[0].target", "no path"},
		{`{"rules": [{"when": {}, "target": "/"}]}`, "rules[0].when", "no condition"},
		{`{"rules": [{"target": "/"}]}`, "rules[0].when", "required"},
		{`{"rules": [{"when": {"a": 1}, "target": "/"}, {"when": {"a": {"mni": 1}}, "target": "/"}]}`, "rules[1].when.a.mni", "use not, min"},
		{`{"rules": [{"when": {"a": {"min": true}}, "target": "/"}]}`, "rules[0].when.a.min", "number or a text"},
		{`{"rules": [{"when": {"a": {}}, "target": "/"}]}`, "rules[0].when.a", "says nothing"},
		{`{"intended": "perhaps"}`, "intended", "none of: first, last, never"},
		{`{"otherwise": "x"}`, "otherwise", "no path"},
		{`{"rules": [{"when": {"secret": 1}, "target": "/"}]}`, "rules[0].when.secret", "add it to user_read"},
		{`{"rules": [{"when": {"plan": 1}, "target": "/{secret}"}]}`, "rules[0].target", "add it to user_read"},
		{`{"otherwise": "/{secret}"}`, "otherwise", "add it to user_read"},
	}
	for _, tt := range tests {
		setup := plugintest.Config(tt.config)
		setup.UserRead = []string{"plan", "a"}
		problems := plugintest.ConfigProblems(t, newPlugin(), setup)
		if len(problems) == 0 || problems[0].Path != tt.path || !strings.Contains(problems[0].Message, tt.message) {
			t.Errorf("%s: got %+v, want %s: %s", tt.config, problems, tt.path, tt.message)
		}
	}
}

func TestConformance(t *testing.T) { plugintest.Conformance(t, plugintest.Build(t, ".")) }
