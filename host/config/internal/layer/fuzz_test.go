package layer_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
	"github.com/vestibule-dev/vestibule/v2/internal/finding"
)

// Whatever is written, the parser neither panics nor lets a value through that
// it could not write again.
func FuzzParser(f *testing.F) {
	f.Add(config.Sample())
	f.Add("server {\n  address = env(\"A\", null)\n  tls = {}\n}\nroute \"a\" {\n  path = \"/${1 + 1}\"\n}\n")
	f.Add("plugin \"a\" {\n  command = [for x in [1, 2] : x]\n  config {\n    a = { b = [1, null, { c = file(\"x\") }] }\n    b \"l\" \"m\" {\n    }\n  }\n}")
	f.Add("odata {\n  enum \"E\" {\n    members = { A = 1e400, (null) = 2, \"b c\" = -0.5 }\n  }\n}")
	f.Add("server {\n  trusted_proxies = [\n")
	f.Add("a = <<X\n${\nX\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := parser()
		values, err := p.Unmarshal([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if p.Broken && len(p.Findings) == 0 {
			t.Error("wrong syntax, and no finding")
		}
		for _, one := range p.Findings {
			if !strings.HasPrefix(one.Error(), "x.hcl:") {
				t.Errorf("no position: %s", one.Error())
			}
		}
		written, err := p.Marshal(values)
		if err != nil {
			return // numbers beyond JSON
		}
		if again := parser(); len(p.Findings) == 0 {
			if _, err := again.Unmarshal(written); err != nil || again.Broken {
				t.Errorf("what was read cannot be read again: %v, %v\n%s", err, again.Findings, written)
			}
		}
	})
}

func parser() *layer.Parser {
	return &layer.Parser{
		File: "x.hcl", Dir: "/nonexistent", Schema: config.Keys(),
		Lookup: func(name string) (string, bool) { return name, name == "A" },
	}
}

// Variables and flags are typed by hand, too.
func FuzzOverlay(f *testing.F) {
	f.Add("VESTIBULE_ODATA__PAGINATION__MAX=500", "odata.pagination.max=null")
	f.Add("VESTIBULE_PLUGIN__A__CONFIG__B__C=[1,{}]", `route."a.b".path=/x`)
	f.Add("VESTIBULE_ODATA__ENUM__E__MEMBERS__A=1", "odata.enum.E.members={A=1}")
	f.Fuzz(func(t *testing.T, variable, flag string) {
		var findings finding.Findings
		settings := layer.Environment([]string{variable}, config.Keys(), &findings)
		p := parser()
		for _, s := range append(settings, layer.Flags([]string{flag}, &findings)...) {
			p.Apply(s, map[string]any{})
		}
		for _, one := range append(findings, p.Findings...) {
			if one.At.Name == "" {
				t.Errorf("no name of a variable or flag: %s", one.Error())
			}
		}
	})
}
