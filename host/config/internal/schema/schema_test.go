package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/internal/finding"
)

// key returns a key of the whole file by its path of block names.
func key(t *testing.T, path string) schema.Key {
	t.Helper()
	steps := strings.Split(path, ".")
	block := config.Keys()
	for _, name := range steps[:len(steps)-1] {
		inner, ok := block.Block(name)
		if !ok {
			t.Fatalf("%s: there is no block %s", path, name)
		}
		block = inner
	}
	k, ok := block.Key(steps[len(steps)-1])
	if !ok {
		t.Fatalf("there is no key %s", path)
	}
	return k
}

// Days are not Go's, and must not run over.
func TestParseSpan(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "60s": time.Minute, "1h30m": 90 * time.Minute, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := schema.ParseSpan(s); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "90", "90D", "-1d", "+1d", "1.5d", "1d-1h", "1d+1h", "1d2", "1h1d", "106752d", "106751d24h", "99999999999999999999d", "1d1d"} {
		if got, err := schema.ParseSpan(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// convert converts a value, and returns the first fault as one line.
func convert(k schema.Key, v cty.Value) (value any, fault string) {
	value, ok := k.Convert(v, func(f finding.Finding) {
		if fault == "" {
			fault = strings.Join(append(f.Path, f.What), "|") + ": " + f.Remedy
		}
	})
	if ok != (fault == "") {
		return value, "fault and result disagree: " + fault
	}
	return value, fault
}

func TestConvert(t *testing.T) {
	text, number := cty.StringVal, cty.NumberIntVal
	fromEnv := func(s string) cty.Value { return text(s).Mark(schema.FromEnv) }
	list := func(s ...string) cty.Value {
		var values []cty.Value
		for _, one := range s {
			values = append(values, text(one))
		}
		return cty.TupleVal(values)
	}
	tests := map[string]struct {
		key   string
		value cty.Value
		want  any
	}{
		"text":                        {"database.dsn", text("a.db"), "a.db"},
		"null":                        {"server.public_url", cty.NullVal(cty.String), nil},
		"duration":                    {"session.idle", text("90s"), 90 * time.Second},
		"duration of the environment": {"session.idle", fromEnv("1m"), time.Minute},
		"integer":                     {"auth.throttle.attempts", number(7), int64(7)},
		"largest integer":             {"auth.throttle.attempts", number(1<<63 - 1), int64(1<<63 - 1)},
		"integer of the environment":  {"auth.throttle.attempts", fromEnv("7"), int64(7)},
		"flag":                        {"odata.enum.flags", cty.True, true},
		"flag of the environment":     {"odata.enum.flags", fromEnv("false"), false},
		"list":                        {"odata.discover", list("a", "b"), []any{"a", "b"}},
		"empty list":                  {"odata.discover", list(), []any{}},
		"list of the environment":     {"odata.discover", fromEnv(" a, b ,,c"), []any{"a", "b", "c"}},
		"map":                         {"plugin.env", cty.ObjectVal(map[string]cty.Value{"A": text("b")}), schema.Object{"A": "b"}},
		"map of integers":             {"odata.enum.members", cty.ObjectVal(map[string]cty.Value{"A": number(-1)}), schema.Object{"A": int64(-1)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, fault := convert(key(t, tt.key), tt.value)
			if diff := cmp.Diff(tt.want, got); diff != "" || fault != "" {
				t.Errorf("%s%s", fault, diff)
			}
		})
	}
}

func TestConvertRefuses(t *testing.T) {
	text := cty.StringVal
	tests := map[string]struct {
		key   string
		value cty.Value
		want  string
	}{
		"null":                      {"session.idle", cty.NullVal(cty.String), `idle must not be null: give a duration such as "60s", or leave the line out for the default "2h"`},
		"text for an integer":       {"auth.throttle.attempts", text("7"), "attempts is a string: give an integer"},
		"fraction":                  {"auth.throttle.attempts", cty.NumberFloatVal(1.5), "attempts is the number 1.5: give an integer"},
		"beyond int64":              {"auth.throttle.attempts", cty.MustParseNumberVal("9223372036854775808"), "attempts is the number 9223372036854775808: give an integer"},
		"zero where one is least":   {"auth.throttle.attempts", cty.NumberIntVal(0), "attempts: is 0: use an integer from 1 on"},
		"too many connections":      {"odata.database.max_connections", cty.NumberIntVal(100_001), "max_connections: is 100001: use an integer from 1 to 100000"},
		"no connection":             {"database.max_connections", cty.NumberIntVal(0), "max_connections: is 0: use an integer from 1 to 100000"},
		"plus sign":                 {"auth.throttle.attempts", text("+7").Mark(schema.FromEnv), "attempts is a string: give an integer"},
		"no duration":               {"session.idle", text("2"), `idle: "2" is no duration: write a number with a unit, such as "90s", "60m", "24h" or "90d"`},
		"no time at all":            {"session.idle", text("0s"), `idle: is 0s: use a duration greater than zero, such as "60s"`},
		"integer for a text":        {"database.dsn", cty.NumberIntVal(1), "dsn is a number: give a string"},
		"text for a list":           {"odata.discover", text("a"), `discover is a string: give a list of strings, such as ["a", "b"]`},
		"element of another type":   {"odata.discover", cty.TupleVal([]cty.Value{text("a"), cty.True}), "1|discover.1 is a boolean: give a string"},
		"null as an element":        {"odata.discover", cty.TupleVal([]cty.Value{cty.NullVal(cty.String)}), "0|discover.0 must not be null: give a string, or take it out"},
		"list for a map":            {"plugin.env", cty.EmptyTupleVal, "env is a list: give a map, such as { name = value }"},
		"other word":                {"server.log.level", text("wran"), `level: "wran" is not allowed: did you mean "warn"? allowed: trace, debug, info, warn, error, off`},
		"secret is not quoted":      {"database.dsn", text(" "), "dsn: the value is not usable: give a value, or leave the line out"},
		"secret number":             {"database.dsn", cty.MustParseNumberVal("98765432109876543210"), "dsn is a number: give a string"},
		"secret number in a map":    {"plugin.env", cty.ObjectVal(map[string]cty.Value{"PIN": cty.NumberFloatVal(-4.25)}), "PIN|env.PIN is a number: give a string"},
		"flag from the environment": {"odata.enum.flags", text("yes").Mark(schema.FromEnv), "flags is a string: give a boolean"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, got := convert(key(t, tt.key), tt.value); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Each rule for single values, with what it must accept and what it must not.
func TestChecks(t *testing.T) {
	for path, tt := range map[string]struct{ good, bad []string }{
		"server.address": {
			[]string{"127.0.0.1:8080", ":0", "[::1]:80", "app.example.com:65535"},
			[]string{"", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:08", "127.0.0.1:http", "a b:80"},
		},
		"server.public_url": {
			[]string{"https://app.example.com", "http://localhost:8080/", "https://[::1]"},
			[]string{"app.example.com", "ftp://a", "https://a/b", "https://a?b", "https://a#", "https://u:p@a", "https://a:0", "https://a:", "https://"},
		},
		"server.trusted_proxies": {[]string{"10.0.0.0/8", "::1/128"}, []string{"10.0.0.1", "10.0.0.0/33", "all"}},
		"auth.redirect_hosts": {
			[]string{"crm.example.com", "https://crm.example.com", "http://a:8080/", "crm.example.com:8443", "https://[::1]:8443", "https://bücher.example"},
			[]string{"javascript:", "JavaScript:", "javascript:alert(1)", "javascript://", "javascript://a", "data:", "mailto:a@b.c", "https:", "https://", "https://a:", "a:", "ftp://a", "//a", "https://u@a", "https://$", "https://a,b", "https://.a", "", "crm.example.com/x", "https://a?b", "*.example.com", "*", "https://*.example.com", "https://a.*"},
		},
		"auth.login_field": {[]string{"email", "NAME"}, []string{"", "Password", "remember_token"}},
		"mail.from":        {[]string{"a@b.c", "Shop <a@b.c>"}, []string{"", "Shop", "a@b.c, d@e.f", "a@b\u200B.c"}},
		"mail.smtp.host":   {[]string{"mail"}, []string{"", " "}},
		"plugin.sha256":    {[]string{strings.Repeat("aB", 32)}, []string{"", strings.Repeat("a", 63), strings.Repeat("g", 64)}},
		"plugin.headers":   {[]string{"Accept-Language", "x-a!b"}, []string{"", "Cookie", "authorization", "a b", "ä"}},
		"plugin.user_read": {[]string{"partner_id"}, []string{"", "PASSWORD", "remember_token"}},
		"plugin.mails":     {[]string{"verify-email", "a_1", strings.Repeat("a", 64)}, []string{"", "a/b", "../a", "a.txt", "A", "*", "1a", "password_reset", strings.Repeat("a", 65)}},
		"plugin.env":       {[]string{"", "a\nb"}, []string{"a\x00b"}},
		"plugin.roles":     {[]string{"dispenser", "org_setup"}, []string{"", "Dispenser", "org-setup"}},
		"route.path":       {[]string{"/", "/a", "/a/", "/a/b.c"}, []string{"", "a", "/a//b", "/a/../b", "/a?b", "/a%20b", "/{a}", "/login", "/odata/x", "/a\\b", "/a\n"}},
		"route.proxy":      {[]string{"http://127.0.0.1:3000", "https://a/b"}, []string{"", "a:3000", "ftp://a", "http://u:p@a", "http://a?b", "http://a#b", "http://a:99999"}},
		"route.redirect":   {[]string{"/", "/a?b#c", "https://a/b"}, []string{"", "a", "//a", "javascript:x", "/a\\b", "/a\r\n"}},
		"odata.guard":      {[]string{"none", "session", "settled"}, []string{"", "open", "Session"}},
		"odata.entity_set.table": {
			[]string{"products", "shop.products", "user"},
			[]string{"", "users", "USERS", "public.users", `"users"`, "vestibule_sessions", "password_reset_tokens"},
		},
		"odata.entity_set.type": {[]string{"Product", "_a1", "Größe", strings.Repeat("a", 128)}, []string{"", "1a", "a-b", "a.b", strings.Repeat("a", 129)}},
	} {
		t.Run(path, func(t *testing.T) {
			k := key(t, path)
			for _, s := range tt.good {
				if _, fault := convertOne(k, s); fault != "" {
					t.Errorf("%q: %s", s, fault)
				}
			}
			for _, s := range tt.bad {
				if _, fault := convertOne(k, s); fault == "" || strings.HasSuffix(fault, ": ") {
					t.Errorf("%q: finding %q, want a cause and a remedy", s, fault)
				}
			}
		})
	}
}

// convertOne converts a text, or the list or map of one.
func convertOne(k schema.Key, s string) (any, string) {
	v := cty.StringVal(s)
	switch k.Kind {
	case schema.Texts:
		v = cty.TupleVal([]cty.Value{v})
	case schema.Table:
		v = cty.ObjectVal(map[string]cty.Value{"A": v})
	}
	return convert(k, v)
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:0": true, "[::1]:80": true, "LOCALHOST:80": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "localhost.example.com:80": false, "127.0.0.1": false,
	} {
		if got := schema.Loopback(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestRemedy(t *testing.T) {
	root := config.Keys()
	server, _ := root.Block("server")
	for name, want := range map[string]string{
		"adress":      `did you mean "address"?`,
		"level":       "it belongs into the block log",
		"login_field": "it belongs into the block auth",
		"database":    "it belongs to the top level of the file",
		"colour":      "take it out; what can stand here: address, public_url, trusted_proxies, public_dir, admin_address, run_dir, memory, drain, tls, log",
	} {
		if got := server.Remedy(root, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	for name, want := range map[string]string{
		"postgresql": `did you mean "postgres"?`, "mysq": `did you mean "mysql"?`, "oracle": "use one of sqlite, postgres, mysql",
	} {
		if got := schema.DidYouMean(name, []string{"sqlite", "postgres", "mysql"}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
