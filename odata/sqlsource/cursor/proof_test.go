package cursor_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// TestShortLooksWhileOthersCommit holds that a column that a look finds clean at once is ordered by as it is stored, although
// each transaction reads another version of the data than the one before it.
func TestShortLooksWhileOthersCommit(t *testing.T) {
	t.Parallel()
	s := newThings(t, edm.Type{Kind: edm.Decimal, Precision: 10, Scale: 2})
	s.table.Columns[s.value].Loose, s.table.Columns[s.value].Type = sqltext.LooseNumeric, "DECIMAL(10,2)"
	d := &database{version: "v", commits: true}
	r := &cursor.Reader{DB: d, Gen: s.gen, Marks: seekcache.New(1 << 20)}
	for range 3 {
		p := s.page(0, 2, 0)
		value := p.Top.Columns[1].Expr
		p.Top.Query.Order = append([]plan.Order{{Expr: value}}, p.Top.Query.Order...)
		rows, err := r.Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	page := d.statements[len(d.statements)-1].SQL
	if _, order, ok := strings.Cut(page, "ORDER BY "); !ok || strings.Contains(order, "9e999") {
		t.Errorf("the last page is %s", page)
	}
}
