package cursor_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestRowsBeforeTheNextLink holds that the last row of a page stays as it was
// although the row behind it is read first, to tell whether the page is the last.
func TestRowsBeforeTheNextLink(t *testing.T) {
	t.Parallel()
	d := &database{rows: [][]engine.Cell{
		{integer(1), text("first")}, {integer(2), text("second")}, {integer(3), text("behind")},
	}}
	for _, tt := range []struct {
		name string
		size int64
		more bool
	}{{"with a next page", 2, true}, {"without one", 3, false}} {
		t.Run(tt.name, func(t *testing.T) {
			s := newThings(t, edm.Of(edm.String))
			rows, err := s.reader(d).Open(t.Context(), s.page(0, tt.size, 0))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			for i := range tt.size {
				if !rows.Next() {
					t.Fatalf("row %d is missing: %v", i, rows.Err())
				}
				if got, want := string(rows.Row()[1].Bytes), string(d.rows[i][1].Bytes); got != want {
					t.Errorf("row %d is %q, want %q", i, got, want)
				}
			}
			if rows.Next() || rows.More() != tt.more {
				t.Errorf("behind the page: more is %t, want %t", rows.More(), tt.more)
			}
		})
	}
}
