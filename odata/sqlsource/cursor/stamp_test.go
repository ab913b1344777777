package cursor_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// stamped is a database whose statements tell a stamp, as those of PostgreSQL do; empty for null, as on a standby.
type stamped struct {
	*database
	stamp string
}

func (s *stamped) Begin(context.Context, engine.Need) (engine.Tx, error) {
	return &stampedTx{&tx{s.database}, s}, nil
}

type stampedTx struct {
	*tx
	s *stamped
}

// Query has no row for a guard with another stamp, and else rows that end with the stamp.
func (t *stampedTx) Query(query string, args []any) (engine.Cursor, error) {
	t.s.statements = append(t.s.statements, sqltext.Statement{SQL: query, Args: args})
	answer := &database{}
	if !guarded(query) || t.s.stamp != "" && slices.Contains(args, any(t.s.stamp)) {
		cell := engine.Cell{}
		if t.s.stamp != "" {
			cell = text(t.s.stamp)
		}
		for _, row := range t.s.rows {
			answer.rows = append(answer.rows, append(slices.Clone(row), cell))
		}
	}
	return &cells{d: answer, at: -1}, nil
}

func guarded(query string) bool { return strings.Contains(query, "END) = $") }

// TestStamps reads the second page and then the third. The third begins behind the second only under the same stamp:
// another snapshot, another timeline of a failover, another life after a crash all make it another. A standby has none.
func TestStamps(t *testing.T) {
	t.Parallel()
	three := [][]engine.Cell{{integer(11), text("a")}, {integer(12), text("b")}, {integer(13), text("c")}}
	tests := []struct {
		name          string
		second, third string
		sent          []bool // whether each statement of the third page has a guard
		seeks         bool
	}{
		{"same state", "7:7:/1/00000001/10/20", "7:7:/1/00000001/10/20", []bool{true}, true},
		{"a commit", "7:7:/1/00000001/10/20", "8:8:/1/00000001/10/20", []bool{true, false}, false},
		{"another server", "7:7:/1/00000001/10/20", "7:7:/2/00000001/10/20", []bool{true, false}, false},
		{"a failover", "7:7:/1/00000001/10/20", "7:7:/1/00000002/10/20", []bool{true, false}, false},
		{"a crash", "7:7:/1/00000001/10/20", "7:7:/1/00000001/10/21", []bool{true, false}, false},
		{"a standby", "", "", []bool{false}, false},
		{"a standby after the primary", "7:7:/1/00000001/10/20", "", []bool{true, false}, false},
		{"a primary after the standby", "", "7:7:/1/00000001/10/20", []bool{false}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newThings(t, edm.Of(edm.String))
			gen, err := sqltext.New("postgres", &sqltext.Mapping{Tables: map[*edm.EntitySet]*sqltext.Table{s.set: {
				Name: []string{"things"}, Ordinary: true, Unique: true,
				Columns: map[*edm.Property]*sqltext.Column{s.id: {Name: "id", Type: "bigint"}, s.value: {Name: "value", Type: "text", Nullable: true}},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			d := &stamped{database: &database{rows: three}, stamp: tt.second}
			r := &cursor.Reader{DB: d, Gen: gen, Stamps: true, Marks: seekcache.New(1 << 20), Seekable: func(*edm.EntitySet) bool { return true }}
			readTwo(t, r, s.page(2, 2, 0))
			d.stamp, d.statements = tt.third, nil
			readTwo(t, r, s.page(4, 2, 0))
			var sent []bool
			for _, st := range d.statements {
				sent = append(sent, guarded(st.SQL))
			}
			if !slices.Equal(sent, tt.sent) {
				t.Errorf("statements with a guard: %v, want %v", sent, tt.sent)
			}
			last := d.statements[len(d.statements)-1]
			if seeks := slices.Contains(last.Args, any(int64(12))); seeks != tt.seeks || seeks == strings.Contains(last.SQL, "OFFSET") {
				t.Errorf("sought %t, want %t: %s %v", seeks, tt.seeks, last.SQL, last.Args)
			}
		})
	}
}

// readTwo reads a page of two rows to its end.
func readTwo(t *testing.T, r *cursor.Reader, p *plan.Plan) {
	t.Helper()
	rows, err := r.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Close(); err != nil || rows.Err() != nil || n != 2 || !rows.More() || rows.Version() != "" {
		t.Fatal(n, rows.More(), rows.Version(), err, rows.Err())
	}
}
