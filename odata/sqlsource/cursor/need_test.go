package cursor_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
)

// TestNeed holds that a plan of several statements has one state of the data for all of them, and that only one of a single
// statement goes without.
func TestNeed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		skip   int64
		change func(*plan.Plan)
		marks  bool
		want   engine.Need
	}{
		"a page":                      {0, nil, true, engine.Need{Version: true, Rows: 3}},
		"a page, and nothing is kept": {0, nil, false, engine.Need{Rows: 3}},
		"behind skipped rows":         {2, nil, true, engine.Need{Snapshot: true, Rows: 3}},
		"with the total":              {0, func(p *plan.Plan) { p.Top.Count = true }, true, engine.Need{Snapshot: true, Rows: 3}},
		"with the total alone":        {0, func(p *plan.Plan) { p.Top.Count = true }, false, engine.Need{Snapshot: true, Rows: 3}},
		"the number of rows":          {0, func(p *plan.Plan) { p.Kind = plan.RawCount }, true, engine.Need{Snapshot: true, Rows: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newThings(t, edm.Of(edm.String))
			d := &database{rows: [][]engine.Cell{{integer(11), text("a"), integer(1)}}, version: "v1"}
			r := &cursor.Reader{DB: d, Gen: s.gen, Seekable: func(*edm.EntitySet) bool { return true }}
			if c.marks {
				r.Marks = seekcache.New(1 << 20)
			}
			p := s.page(c.skip, 2, 0)
			if c.change != nil {
				c.change(p)
			}
			rows, err := r.Open(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			if d.need != c.want {
				t.Errorf("asks for %+v, want %+v", d.need, c.want)
			}
		})
	}
}
