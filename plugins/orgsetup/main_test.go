package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

func ada(partner pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "1", Name: "Ada", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"partner_id": partner})}
}

func german(r *pluginsdk.Request) { r.Locale = "de-AT" }

func TestAsksUntilThereIsAnOrganisation(t *testing.T) {
	p := plugintest.Serve(t, newPlugin())
	p.Dispense(ada(nil)).AsksForOrganisation("Ada")
	p.Dispense(ada(int64(7))).IsDone()
	p.Dispense(ada(int64(0))).IsDone() // a number like any other
}

func TestJudgesForms(t *testing.T) {
	p := plugintest.Serve(t, newPlugin(), plugintest.Config(`{"reserved": ["Example  Inc."]}`))
	form := func(pairs ...any) map[string]pluginsdk.Value {
		m := map[string]pluginsdk.Value{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	p.Handle(ada(nil), form()).Satisfied()
	p.Handle(ada(nil), form("company_size", "enterprise")).NeedsMoreInput("billing_email")
	p.Handle(ada(nil), form("company_size", "mid_market", "billing_email", "")).NeedsMoreInput("billing_email")
	p.Handle(ada(nil), form("company_size", "enterprise", "billing_email", "b@example.com")).Satisfied()
	p.Handle(ada(nil), form("org_name", " &-! ")).Refuses("at least one letter or digit")
	p.Handle(ada(nil), form("org_name", "1&1")).Satisfied()
	p.Handle(ada(nil), form("org_name", " &-! "), german).Refuses("mindestens einen Buchstaben")
	p.Handle(ada(nil), form("org_name", "EXAMPLE inc.")).Refuses("taken")
}

// Everybody who names the same organisation gets the same number.
func TestNumbersComeFromNames(t *testing.T) {
	p := plugintest.Serve(t, newPlugin())
	number := func(name string, legalForm int64) int64 {
		j := p.Handle(ada(nil), map[string]pluginsdk.Value{"org_name": name, "legal_form": legalForm}).Satisfied()
		n, _ := j.Result.Effects()[0].Value().(int64)
		return n
	}
	one := number("Analytical Engines", 2)
	if one <= 0 || one > 1<<53 {
		t.Errorf("the number is %d", one)
	}
	if number(" analytical  ENGINES ", 2) != one || number("Analytical Engines", 1) == one || number("Other", 2) == one {
		t.Error("names and numbers do not go together")
	}
}

func TestDirectoryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "partners.json")
	if err := os.WriteFile(path, []byte(`{"Analytical Engines": 9007199254740993}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := plugintest.Serve(t, newPlugin(), plugintest.Config(`{"directory": "`+path+`"}`))
	p.Handle(ada(nil), nil).Satisfied().With(pluginsdk.SetUser("partner_id", int64(9007199254740993)))
	p.Handle(ada(nil), map[string]pluginsdk.Value{"org_name": "Nobody"}).Refuses("not in the directory")
}

func TestDirectoryService(t *testing.T) {
	var keys []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		var in struct{ Name string }
		_ = json.NewDecoder(r.Body).Decode(&in) // the name stays empty then
		switch in.Name {
		case "Analytical Engines":
			_, _ = w.Write([]byte(`{"partner_id": 4711}`))
		case "Nothing":
			_, _ = w.Write([]byte(`{}`))
		case "Broken":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer service.Close()
	p := plugintest.Serve(t, newPlugin(), plugintest.Config(`{"directory_url": "`+service.URL+`"}`))
	named := func(name string) map[string]pluginsdk.Value { return map[string]pluginsdk.Value{"org_name": name} }
	p.Handle(ada(nil), nil).Satisfied().With(pluginsdk.SetUser("partner_id", int64(4711)))
	p.Handle(ada(nil), named("Nobody")).Refuses("not in the directory")
	p.Handle(ada(nil), named("Broken")).Fails("500")
	p.Handle(ada(nil), named("Nothing")).Fails("no partner_id")
	if keys[0] != "test" {
		t.Errorf("the idempotency key is %q, want the intent's id", keys[0])
	}
	service.Close()
	p.Handle(ada(nil), nil).Fails("ask the directory")
}

func TestConfigMistakes(t *testing.T) {
	tests := []struct{ config, path, message string }{
		{`{"directory": "/none", "directory_url": "https://x"}`, "directory_url", "keep one"},
		{`{"directory": "/none"}`, "directory", "cannot be read"},
		{`{"directory_url": "ftp://x"}`, "directory_url", "no http"},
		{`{"directory_url": "https://"}`, "directory_url", "no http URL"},
		{`{"timeout": "soon"}`, "timeout", "not a duration"},
		{`{"timeout": "0s"}`, "timeout", "longer than nothing"},
		{`{"billing_required": ["solo", "huge"]}`, "billing_required[1]", "none of"},
		{`{"directory_ulr": "https://x"}`, "directory_ulr", `did you mean "directory_url"?`},
	}
	for _, tt := range tests {
		problems := plugintest.ConfigProblems(t, newPlugin(), plugintest.Config(tt.config))
		if len(problems) != 1 || problems[0].Path != tt.path || !strings.Contains(problems[0].Message, tt.message) {
			t.Errorf("%s: got %+v, want %s: %s", tt.config, problems, tt.path, tt.message)
		}
	}
}

// Without its column the plugin could never let anybody through, so check and serve
// refuse it. A role that it does not play needs nothing.
func TestColumnMustBeGranted(t *testing.T) {
	read, write := `without sight of "partner_id": add it to user_read`, `saved in "partner_id": add it to user_write`
	other := []string{"name"}
	for _, tt := range []struct {
		name  string
		setup pluginsdk.Setup
		want  []string
	}{
		{"neither", pluginsdk.Setup{}, []string{read, write}},
		{"both", pluginsdk.Setup{UserRead: []string{"partner_id"}, UserWrite: []string{"partner_id"}}, nil},
		{"another column", pluginsdk.Setup{UserRead: other, UserWrite: []string{"partner_id"}}, []string{read}},
		{"only reading", pluginsdk.Setup{UserRead: []string{"partner_id"}}, []string{write}},
		{"dispenser alone", pluginsdk.Setup{Roles: []string{"dispenser"}, UserRead: []string{"partner_id"}}, nil},
		{"handler alone", pluginsdk.Setup{Roles: []string{"org_setup"}, UserWrite: []string{"partner_id"}}, nil},
		{"own column", pluginsdk.Setup{Config: []byte(`{"column": "name"}`), UserRead: other, UserWrite: other}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems := plugintest.ConfigProblems(t, newPlugin(), tt.setup)
			if len(problems) != len(tt.want) {
				t.Fatalf("got %+v, want %d", problems, len(tt.want))
			}
			for i, p := range problems {
				if p.Path != "column" || !strings.Contains(p.Message, tt.want[i]) {
					t.Errorf("got %+v, want %q", p, tt.want[i])
				}
			}
		})
	}
}

func TestConformance(t *testing.T) { plugintest.Conformance(t, plugintest.Build(t, ".")) }
