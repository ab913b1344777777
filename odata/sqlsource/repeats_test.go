package sqlsource_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Two hosts over one database are sent each of some creates by several clients at once, again and again: each is made once, and all
// answers to it are alike. What has ended is forgotten.
func TestRepeatedRequests(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, "")
			if err := odatatest.FillTables(db.DB, dialect, odatatest.WriteTables()); err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			hosts := [2]http.Handler{}
			var sources [2]*sqlsource.Source
			for i := range hosts {
				cfg := odatatest.WriteMapping()
				cfg.Protected = reserved.Table
				s, err := sqlsource.New(t.Context(), db, cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				sources[i] = s
			}
			var migrating sync.WaitGroup
			for _, s := range sources {
				migrating.Go(func() {
					if _, err := s.Migrate(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			migrating.Wait()
			for i, s := range sources {
				service, err := odata.New(s.Model(), s, odata.Options{Root: "/odata/", Base: func(*http.Request) string { return "http://h" }, Now: func() time.Time { return now }, Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
					return odata.Caller{SignedIn: true, Settled: true, ID: "1", User: map[string]any{"id": int64(1)}}, nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				hosts[i] = service
			}
			const creates, clients, times = 20, 3, 2
			var mu sync.Mutex
			answers := map[int]map[string]int{}
			var all sync.WaitGroup
			for client := range clients {
				all.Go(func() {
					for i := range creates {
						for turn := range times {
							w := create(hosts[(client+turn)%2], i, now)
							mu.Lock()
							if answers[i] == nil {
								answers[i] = map[string]int{}
							}
							answers[i][fmt.Sprint(w.Code, w.Header().Get("Location"), w.Header().Get("ETag"), w.Body)]++
							mu.Unlock()
						}
					}
				})
			}
			all.Wait()
			for i, alike := range answers {
				for answer, n := range alike {
					if n != clients*times || !strings.HasPrefix(answer, "201") {
						t.Errorf("create %d: %d times %s", i, n, answer)
					}
				}
			}
			var rows, kept int
			if err := db.DB.Get(&rows, `SELECT COUNT(*) FROM makers WHERE name LIKE 'Repeated %'`); err != nil || rows != creates {
				t.Errorf("%d rows for %d creates, %v", rows, creates, err)
			}
			for _, tt := range []struct {
				later time.Duration
				want  int
			}{{23 * time.Hour, 0}, {25 * time.Hour, creates}, {25 * time.Hour, 0}} {
				if n, err := sources[0].Forget(t.Context(), now.Add(tt.later)); err != nil || n != tt.want {
					t.Errorf("%d were forgotten after %v, want %d, %v", n, tt.later, tt.want, err)
				}
			}
			if err := db.DB.Get(&kept, `SELECT COUNT(*) FROM vestibule_requests`); err != nil || kept != 0 {
				t.Errorf("%d requests are kept, %v", kept, err)
			}
		})
	}
}

func create(h http.Handler, i int, now time.Time) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/odata/Makers", strings.NewReader(fmt.Sprintf(`{"name":"Repeated %d"}`, i)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Repeatability-Request-ID", fmt.Sprint("create ", i))
	r.Header.Set("Repeatability-First-Sent", now.UTC().Format(http.TimeFormat))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Without its table a source remembers nothing, and says so.
func TestRequestsWithoutTable(t *testing.T) {
	t.Parallel()
	db := database(t, "sqlite", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
	for _, writes := range []bool{false, true} {
		cfg := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "notes"}}}
		if writes {
			cfg.EntitySets[0].Write = &sqlsource.Write{Create: true}
		}
		s, err := sqlsource.New(t.Context(), db, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if there, err := s.Migrated(t.Context()); s.Repeats() || err != nil || there == writes {
			t.Error(writes, there, err)
		}
		if made, err := s.Migrate(t.Context()); made != writes || err != nil || s.Repeats() != writes {
			t.Error(writes, made, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A table of requests that somebody drops under a running source is a 503 for those who repeat, and Ready says so until it is there
// again.
func TestDroppedTableOfRequests(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, "CREATE TABLE notes (id INTEGER PRIMARY KEY, text VARCHAR(20))")
			cfg := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "notes", Write: &sqlsource.Write{Create: true}}}}
			var sources [2]*sqlsource.Source // of two hosts
			for i := range sources {
				s, err := sqlsource.New(t.Context(), db, cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				if _, err := s.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
				sources[i] = s
			}
			s := sources[0]
			claim := func() error {
				tx, err := s.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = tx.Close() }()
				_, err = tx.Claim(&write.Repeat{ID: make([]byte, 32), Print: make([]byte, 32), Ends: time.Now()})
				return err
			}
			if err := errors.Join(claim(), s.Ready(t.Context())); err != nil {
				t.Fatal(err)
			}
			if _, err := db.DB.Exec("DROP TABLE vestibule_requests"); err != nil {
				t.Fatal(err)
			}
			if fault, ok := errors.AsType[*plan.Error](claim()); !ok || fault.Kind != plan.Unavailable {
				t.Errorf("the claim: %v", fault)
			}
			if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "vestibule_requests") {
				t.Errorf("not told: %v", err)
			}
			if made, err := sources[1].Migrate(t.Context()); err != nil || !made {
				t.Fatal(made, err)
			}
			if err := errors.Join(s.Ready(t.Context()), claim()); err != nil {
				t.Errorf("the table is back: %v", err)
			}
		})
	}
}
