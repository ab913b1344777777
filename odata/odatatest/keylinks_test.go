package odatatest_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// walked is a row of the walks. Those whose id is divisible by 3 stay, others come and go. Values repeat, and some are null.
type walked struct {
	ID    int64          `odata:"id,key"`
	Owner int64          `odata:"owner"`
	A     sql.NullInt64  `odata:"a"`
	B     sql.NullString `odata:"b,search"`
	C     sql.NullString `odata:"c,type=Decimal,scale=4"`
}

// paired is a walked with a key of two parts.
type paired struct {
	X int64         `odata:"x,key"`
	Y string        `odata:"y,key"`
	A sql.NullInt64 `odata:"a"`
}

func (w walked) pair() paired { return paired{w.ID % 7, fmt.Sprint("y", w.ID), w.A} }

func newWalked(id int64, r *rand.Rand) walked {
	w := walked{ID: id, Owner: id % 2}
	w.A = sql.NullInt64{Int64: r.Int64N(6), Valid: r.IntN(4) > 0}
	w.B = sql.NullString{String: []string{"", "a", "A", "ä", "zz ", "zz", "𝄞"}[r.IntN(7)], Valid: r.IntN(4) > 0}
	w.C = sql.NullString{String: fmt.Sprintf("%d.%04d", r.IntN(3)-1, r.IntN(3)*5000), Valid: r.IntN(4) > 0}
	return w
}

// walkedStore has the rows of one engine.
type walkedStore struct {
	name   string
	model  *odata.Model
	source odata.Source
	// insert and remove go through a connection of their own.
	insert func(t *testing.T, w walked)
	remove func(t *testing.T, id int64)
}

// walkedStores are all four engines with the same rows.
func walkedStores(t *testing.T, rows []walked) []walkedStore {
	t.Helper()
	mapping := sqlsource.Config{Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "Walks", Table: "walks", Search: []string{"b"}, Navigations: []sqlsource.Navigation{{Name: "same", To: "Walks", Many: true, On: map[string]string{"owner": "owner"}}}},
		{Name: "Mine", Table: "walks", Filter: "owner eq @user_id", Guard: "session"},
		{Name: "Pairs", Table: "pairs"},
	}}
	list := []walkedStore{walkedInMemory(t, rows)}
	for _, d := range []struct{ name, driver, dsn string }{
		{"sqlite", "sqlite", filepath.Join(t.TempDir(), "walks.db")}, {"postgres", "pgx", dbtest.Postgres(t)}, {"mysql", "mysql", dbtest.MySQL(t)},
	} {
		other, err := sqlx.Open(d.driver, d.dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = other.Close() })
		tables := []odatatest.Table{
			{Name: "walks", Columns: []string{"id big!", "owner big!", "a big", "b str", "c dec"}, Key: []string{"id"}},
			{Name: "pairs", Columns: []string{"x big!", "y str!", "a big"}, Key: []string{"x", "y"}},
		}
		if err := odatatest.FillTables(other, d.name, tables); err != nil {
			t.Fatal(err)
		}
		do := func(t *testing.T, statement string, args ...any) {
			t.Helper()
			if _, err := other.Exec(other.Rebind(statement), args...); err != nil {
				t.Fatal(err)
			}
		}
		s := walkedStore{name: d.name}
		s.insert = func(t *testing.T, w walked) {
			t.Helper()
			do(t, "INSERT INTO walks VALUES (?, ?, ?, ?, ?)", w.ID, w.Owner, w.A, w.B, w.C)
			do(t, "INSERT INTO pairs VALUES (?, ?, ?)", w.pair().X, w.pair().Y, w.A)
		}
		s.remove = func(t *testing.T, id int64) {
			t.Helper()
			do(t, "DELETE FROM walks WHERE id = ?", id)
			do(t, "DELETE FROM pairs WHERE y = ?", fmt.Sprint("y", id))
		}
		for _, w := range rows {
			s.insert(t, w)
		}
		db, err := sqlx.Open(d.driver, d.dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: d.name, DB: db, DSN: d.dsn}, mapping)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = source.Close() })
		s.model, s.source = source.Model(), source
		list = append(list, s)
	}
	return list
}

func walkedInMemory(t *testing.T, rows []walked) walkedStore {
	t.Helper()
	pairs := func() []paired {
		list := make([]paired, len(rows))
		for i, w := range rows {
			list[i] = w.pair()
		}
		return list
	}
	source, err := memory.New(memory.Config{Namespace: "Test", Guard: edm.GuardNone, Sets: []memory.Set{
		{Name: "Walks", Rows: rows, Navigations: []memory.Navigation{{Name: "same", To: "Walks", Many: true, On: map[string]string{"owner": "owner"}}}},
		{Name: "Mine", Rows: rows, Filter: "owner eq @user_id", Guard: "session"},
		{Name: "Pairs", Rows: pairs()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	replace := func(t *testing.T) {
		t.Helper()
		for set, list := range map[string]any{"Walks": rows, "Mine": rows, "Pairs": pairs()} {
			if err := source.Replace(set, list); err != nil {
				t.Fatal(err)
			}
		}
	}
	return walkedStore{
		name: "memory", model: source.Model(), source: source,
		insert: func(t *testing.T, w walked) {
			t.Helper()
			rows = append(rows[:len(rows):len(rows)], w)
			replace(t)
		},
		remove: func(t *testing.T, id int64) {
			t.Helper()
			var left []walked
			for _, w := range rows {
				if w.ID != id {
					left = append(left, w)
				}
			}
			rows = left
			replace(t)
		},
	}
}

// walkedPage is a page of rows, or the first one of those that an entity expands.
type walkedPage struct {
	Value, Same []struct {
		ID *int64
		Y  string
	}
	Next  string `json:"@odata.nextLink"`
	Below string `json:"same@odata.nextLink"`
}

// TestWalksBesideWriters follows next links while another connection inserts and deletes. Links that name the row where the
// page ended lose and repeat nothing that is there all the time; links that count rows do.
func TestWalksBesideWriters(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var rows []walked
	for id := range int64(120) {
		rows = append(rows, newWalked(id, r))
	}
	targets := []string{
		"Walks", "Walks?$orderby=a", "Walks?$orderby=a desc,b", "Walks?$orderby=b desc,a", "Walks?$orderby=c,b", "Walks?$orderby=c desc,id desc", "Walks?$orderby=length(b),c desc",
		"Walks?$orderby=id desc", "Walks?$filter=c ge 0&$orderby=b,a desc", "Walks?$search=z&$orderby=a desc", "Walks?$compute=a mul 2 as twice&$orderby=twice desc", "Walks?$count=true&$orderby=b",
		"Walks?$expand=same($top=1;$select=id)&$orderby=a desc", "Walks(0)/same?$orderby=b desc", "Walks(0)?$expand=same($orderby=a desc)", "Mine?$orderby=a desc,c",
		"Walks?$apply=groupby((id,a,b))&$orderby=b desc", "Walks?$apply=filter(c ge 0)/compute(length(b) as size)&$orderby=size", "Pairs", "Pairs?$orderby=a desc", "Pairs?$orderby=y desc",
	}
	for _, s := range walkedStores(t, rows) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			writes := &writer{store: s, next: 1000, random: rand.New(rand.NewPCG(5, 6))}
			for _, w := range rows {
				if w.ID%3 != 0 {
					writes.there = append(writes.there, w.ID)
				}
			}
			missed := 0
			for _, keyed := range []bool{true, false} {
				h := writes.service(t, keyed)
				for _, target := range targets {
					faults := writes.walk(t, h, target)
					if missed += len(faults); keyed && len(faults) > 0 {
						t.Errorf("GET %s: %s", target, strings.Join(faults, ", "))
						missed = 0
					}
				}
			}
			if missed == 0 {
				t.Error("links that count rows lose and repeat nothing: the writes come at no moment that matters")
			}
		})
	}
}

// writer changes the rows of a store between the pages of a walk.
type writer struct {
	store  walkedStore
	next   int64
	there  []int64 // rows that may go
	random *rand.Rand
}

func (w *writer) service(t *testing.T, keyed bool) http.Handler {
	t.Helper()
	s, err := odata.New(w.store.model, w.store.source, odata.Options{
		KeyLinks: keyed, Base: func(*http.Request) string { return "http://h" }, Limits: odata.Limits{PageSize: 7},
		Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": int64(1)}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *writer) change(t *testing.T) {
	t.Helper()
	for range 2 {
		at := w.random.IntN(len(w.there))
		w.store.remove(t, w.there[at])
		w.there = append(w.there[:at:at], w.there[at+1:]...)
	}
	for range 2 {
		w.next++
		for w.next%3 == 0 {
			w.next++
		}
		w.store.insert(t, newWalked(w.next, w.random))
		w.there = append(w.there, w.next)
	}
}

// walk follows the links and tells which of the rows that stay were lost or repeated.
func (w *writer) walk(t *testing.T, h http.Handler, target string) (faults []string) {
	t.Helper()
	escaped := "/" + strings.ReplaceAll(target, " ", "%20")
	whole := escaped
	switch {
	case strings.Contains(target, "same("):
		whole = strings.Replace(strings.Replace(escaped, "same(", "same($top=100000;", 1), "$top=100000;$top=1", "$top=1", 1)
		if strings.HasPrefix(target, "Walks?") {
			whole += "&$top=100000"
		}
	case strings.Contains(target, "?"):
		whole += "&$top=100000"
	default:
		whole += "?$top=100000"
	}
	all, _ := pageOf(t, h, whole)
	seen := map[string]int{}
	for next := escaped; next != ""; {
		var ids []string
		ids, next = pageOf(t, h, next)
		for _, id := range ids {
			if seen[id]++; seen[id] == 2 {
				faults = append(faults, id+" is repeated")
			}
		}
		w.change(t)
	}
	for _, id := range all {
		var n int64
		_, _ = fmt.Sscanf(id, "y%d", &n)
		if n%3 == 0 && seen[id] == 0 {
			faults = append(faults, id+" is lost")
		}
	}
	return faults
}

// pageOf gives the rows of a page, and where the next one is.
func pageOf(t *testing.T, h http.Handler, uri string) (ids []string, next string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://h/", nil)
	r.RequestURI = uri
	a := httptest.NewRecorder()
	h.ServeHTTP(a, r)
	var p walkedPage
	if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil || a.Code != http.StatusOK {
		t.Fatalf("GET %s gives %d %s", uri, a.Code, a.Body)
	}
	for _, row := range append(p.Value, p.Same...) {
		if row.ID != nil {
			row.Y = fmt.Sprint("y", *row.ID)
		}
		ids = append(ids, row.Y)
	}
	return ids, strings.TrimPrefix(p.Next+p.Below, "http://h")
}

// TestLongTextsInPages orders by texts that are longer than the part by which MariaDB sorts: pages have the order of the
// whole, whichever that is.
func TestLongTextsInPages(t *testing.T) {
	t.Parallel()
	for _, d := range []struct{ name, driver, dsn string }{
		{"sqlite", "sqlite", filepath.Join(t.TempDir(), "long.db")}, {"postgres", "pgx", dbtest.Postgres(t)}, {"mysql", "mysql", dbtest.MySQL(t)},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			db, err := sqlx.Open(d.driver, d.dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			db.MustExec("CREATE TABLE longs (id BIGINT NOT NULL PRIMARY KEY, s TEXT, v VARCHAR(3000), b " + map[string]string{"sqlite": "BLOB", "postgres": "bytea", "mysql": "BLOB"}[d.name] + ")")
			for id := range 24 {
				text := strings.Repeat("x", []int{1023, 1024, 1500, 2500}[id%4]) + []string{"", "b", "a", "aa", "ü", "z"}[id%6]
				db.MustExec(db.Rebind("INSERT INTO longs VALUES (?, ?, ?, ?)"), 50-id, text, text, []byte(text))
			}
			source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: d.name, DB: db, DSN: d.dsn}, sqlsource.Config{
				Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Longs", Table: "longs"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = source.Close() })
			w := &writer{store: walkedStore{model: source.Model(), source: source}}
			h := w.service(t, true)
			for _, order := range []string{"s", "s%20desc", "v", "v%20desc", "concat(s,'x')", "s%20desc,v%20desc", "v,id%20desc", "b", "b%20desc,s"} {
				var want, got []string
				want, _ = pageOf(t, h, "/Longs?$select=id&$top=100&$orderby="+order)
				for next := "/Longs?$select=id&$orderby=" + order; next != ""; {
					var ids []string
					ids, next = pageOf(t, h, next)
					got = append(got, ids...)
				}
				if strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("by %s: %s, want %s", order, got, want)
				}
			}
		})
	}
}
