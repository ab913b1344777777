package sqlsource_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// One holder gets the second pass in the place of the first, while another gets the first. Whoever comes first, both have what they
// were given: the first pass is not taken from the other holder.
func TestReplacedLinkIsNotTakenFromOthers(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, "")
			if err := odatatest.FillTables(db.DB, dialect, odatatest.LinkTables()); err != nil {
				t.Fatal(err)
			}
			cfg := odatatest.LinkMapping()
			cfg.Protected = reserved.Table
			s, err := sqlsource.New(t.Context(), db, cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			h, err := odata.New(s.Model(), s, odata.Options{Root: "/odata/", Base: func(*http.Request) string { return "http://h" }, Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
				return odata.Caller{SignedIn: true, Settled: true, ID: "1", User: map[string]any{"id": int64(1)}}, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			put := func(holder, pass string) int {
				for {
					r := httptest.NewRequest(http.MethodPut, "/odata/Holders('"+holder+"')/pass/$ref", strings.NewReader(`{"@odata.id":"Passes(`+pass+`)"}`))
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("If-Match", "*")
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if w.Code != http.StatusServiceUnavailable { // undone four times for the other one
						return w.Code
					}
				}
			}
			for round := range 60 {
				db.DB.MustExec("UPDATE passes SET holder_id = NULL WHERE id IN (1, 2)")
				db.DB.MustExec("UPDATE passes SET holder_id = 'h1' WHERE id = 1")
				codes := [2]int{}
				var all sync.WaitGroup
				all.Go(func() { codes[0] = put("h1", "2") })
				all.Go(func() { codes[1] = put("h2", "1") })
				all.Wait()
				var held []string
				if err := db.DB.Select(&held, "SELECT COALESCE(holder_id, '-') FROM passes WHERE id IN (1, 2) ORDER BY id"); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(held, " "); codes != [2]int{204, 204} || got != "h2 h1" {
					t.Fatalf("round %d: answered with %v, and the passes have %s", round, codes, got)
				}
			}
		})
	}
}
