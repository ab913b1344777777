package cursor_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
)

// TestSeek reads the first page and then the second. The second is sought by key
// only where it shows the same rows in the same order as if it had been counted
// off: in the same state of the data, for the same caller, behind a key.
func TestSeek(t *testing.T) {
	t.Parallel()
	three := [][]engine.Cell{{integer(11), text("a")}, {integer(12), text("b")}, {integer(13), text("c")}}
	type request struct {
		version string
		owner   int64
	}
	tests := []struct {
		name          string
		first, second request
		rows          [][]engine.Cell
		unsure        bool // whether the key is unique
		sought        bool
	}{
		{"same data", request{"v1", 0}, request{"v1", 0}, three, false, true},
		{"same caller", request{"v1", 7}, request{"v1", 7}, three, false, true},
		{"other data", request{"v1", 0}, request{"v2", 0}, three, false, false},
		{"unknown data", request{"", 0}, request{"", 0}, three, false, false},
		{"other caller", request{"v1", 7}, request{"v1", 8}, three, false, false},
		{"caller without a policy", request{"v1", 7}, request{"v1", 0}, three, false, false},
		{"order that is not total", request{"v1", 0}, request{"v1", 0}, three, true, false},
		{"key that is null", request{"v1", 0}, request{"v1", 0}, [][]engine.Cell{{integer(11), {}}, {{}, {}}, {integer(13), {}}}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newThings(t, edm.Of(edm.String))
			d := &database{rows: tt.rows}
			r := &cursor.Reader{DB: d, Gen: s.gen, Marks: seekcache.New(1 << 20), Seekable: func(*edm.EntitySet) bool { return !tt.unsure }}
			read(t, d, r, s, tt.first.version, 0, tt.first.owner)
			read(t, d, r, s, tt.second.version, 2, tt.second.owner)
			plain := &database{rows: tt.rows}
			read(t, plain, s.reader(plain), s, "", 2, tt.second.owner)
			got, counted := d.statements[len(d.statements)-1], plain.statements[0]
			if sought := !cmp.Equal(got, counted); sought != tt.sought {
				t.Errorf("sought: %t, want %t\n%s %v", sought, tt.sought, got.SQL, got.Args)
			}
			if tt.sought && !slices.Contains(got.Args, any(int64(12))) {
				t.Errorf("the page does not begin behind the key 12: %s %v", got.SQL, got.Args)
			}
		})
	}
}

// read reads a page of two rows.
func read(t *testing.T, d *database, r *cursor.Reader, s *things, version string, skip, owner int64) {
	t.Helper()
	d.version = version
	rows, err := r.Open(t.Context(), s.page(skip, 2, owner))
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() { // the mark behind the page is what counts
	}
	if err := rows.Close(); err != nil || rows.Err() != nil {
		t.Fatal(err, rows.Err())
	}
}
