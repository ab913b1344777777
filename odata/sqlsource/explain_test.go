package sqlsource_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
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
		var text strings.Builder
		e, err := s.Explain(t.Context(), p, &text)
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
		if shown := p.String() + e.Statements[0].SQL; strings.Contains(shown, "'x'") {
			t.Errorf("%s shows a value: %s", c.target, shown)
		}
		first := e.Statements[0]
		if start := "  " + first.SQL + "\n    " + first.QueryPlan[0]; !strings.Contains(text.String(), start) {
			t.Errorf("%s: no %s in\n%s", c.target, start, &text)
		}
		if !strings.Contains(e.String(), "statement 1: ") || strings.Contains(e.String(), "stopped") {
			t.Errorf("%s: %s", c.target, e)
		}
	}
}

// TestExplainSlowStatement holds that the text of a statement and its query plan are there before it has run, and what is
// known when the time is over.
func TestExplainSlowStatement(t *testing.T) {
	slow := map[string]string{
		"sqlite":   `CREATE VIEW slow AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n`,
		"postgres": `CREATE VIEW slow AS SELECT id, pg_sleep(300)::text AS slept FROM generate_series(1, 9) AS id`,
		"mysql": `CREATE TABLE rows_to_wait_for (id INT PRIMARY KEY);
INSERT INTO rows_to_wait_for VALUES (1), (2), (3);
CREATE VIEW slow AS SELECT id, SLEEP(300) AS slept FROM rows_to_wait_for`,
	}
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			s := open(t, database(t, dialect, slow[dialect]), sqlsource.Config{
				Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "slow", Table: "slow", Key: []string{"id"}}},
			})
			p, err := s.plan("slow?$orderby=id desc", 0)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // a look at the data comes first, of a second at most
			defer cancel()
			var text strings.Builder
			e, err := s.Explain(ctx, p, &text)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("it ended with %v", err)
			}
			if len(e.Statements) != 1 || !e.Statements[0].Stopped || !strings.Contains(e.String(), "statement 1: stopped after 0 rows") {
				t.Errorf("%+v", e)
			}
			if !strings.Contains(text.String(), "  SELECT ") || !strings.Contains(text.String(), "\n    ") {
				t.Errorf("the text is %s", &text)
			}
		})
	}
}

// stopAt cancels a context as soon as a text is written.
type stopAt struct {
	strings.Builder
	text string
	stop func()
}

func (s *stopAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.text) {
		s.stop()
	}
	return s.Builder.Write(p)
}

// TestExplainWritesTheStatementFirst holds that the text is written before the database is asked for anything.
func TestExplainWritesTheStatementFirst(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			s := openShop(t, dialect)
			p, err := s.plan("Products?$filter=stock gt 1", 0)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := &stopAt{text: "SELECT ", stop: cancel}
			e, err := s.Explain(ctx, p, out)
			if !errors.Is(err, context.Canceled) || !strings.Contains(out.String(), "SELECT ") || len(e.Statements) != 1 || len(e.Statements[0].QueryPlan) > 0 {
				t.Errorf("%v, %+v\n%s", err, e, out)
			}
			if len(e.Advice) != 1 {
				t.Errorf("the index that would help: %q", e.Advice)
			}
		})
	}
}
