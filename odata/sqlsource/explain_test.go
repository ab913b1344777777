package sqlsource_test

import (
	"context"
	"strings"
	"testing"
)

func testExplain(t *testing.T, s *shop) {
	cases := []struct {
		target     string
		statements int
		advice     string
	}{
		{"Products", 1, ""},
		{"Products(1)", 1, ""},
		{"Products?$count=true&$expand=category,tags&$filter=stock gt 1", 4, "(stock)"},
		{"Products?$filter=stock eq 1 and price gt 5&$orderby=name", 1, "(stock, name)"},
		{"Products?$filter=contains(name,'x')&$orderby=weight desc", 1, "(weight)"},
		{"Categories(1)/products", 1, "(category_id)"},
		{"Categories?$expand=products($orderby=price)", 2, "(category_id, price)"},
		{"Products?$filter=sku eq 'x'", 1, ""},
		{"Products/$count?$filter=stock in (1,2)", 1, "(stock)"},
	}
	for _, c := range cases {
		p, err := s.plan(c.target, 0)
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Explain(context.Background(), p)
		if err != nil {
			t.Fatalf("%s: %v", c.target, err)
		}
		if len(e.Statements) != c.statements {
			t.Errorf("%s: %d statements, want %d", c.target, len(e.Statements), c.statements)
		}
		for _, st := range e.Statements {
			if len(st.QueryPlan) == 0 || !strings.HasPrefix(st.SQL, "SELECT") {
				t.Errorf("%s: %+v", c.target, st)
			}
		}
		advice := strings.NewReplacer(" NULLS FIRST", "", " NULLS LAST", "", " DESC", "", ` COLLATE "C"`, "", " COLLATE BINARY", "").Replace(strings.Join(e.Advice, ";"))
		advice = strings.NewReplacer(`"`, "", "`", "").Replace(advice)
		if c.advice == "" && advice != "" || !strings.HasSuffix(advice, c.advice) {
			// MySQL has an index for every foreign key.
			if s.dialect != "mysql" || !strings.Contains(c.advice, "category_id") {
				t.Errorf("%s: advice %q, want %q", c.target, advice, c.advice)
			}
		}
		if text := p.String() + e.Statements[0].SQL; strings.Contains(text, "'x'") {
			t.Errorf("%s shows a value: %s", c.target, text)
		}
		if !strings.Contains(e.String(), "statement 1: ") {
			t.Errorf("%s: %s", c.target, e)
		}
	}
}
