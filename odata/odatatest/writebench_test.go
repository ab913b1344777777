package odatatest_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// BenchmarkWrite measures what a request that writes costs besides the database: rows are in memory, of few rows.
func BenchmarkWrite(b *testing.B) {
	source, err := memory.New(odatatest.MemoryOf(odatatest.WriteMapping(), odatatest.WriteTables()))
	if err != nil {
		b.Fatal(err)
	}
	e := &written{service: benchService(b, source.Model(), source)}
	b.ReportAllocs()
	for i := range b.N {
		body := fmt.Sprintf(`{"title":"T%d","price":12.5,"stock":3,"maker_id":1,"made":"2024-02-29","remark":"some text","ok":true}`, i)
		if w := e.send(http.MethodPatch, "Parts('A')", body, 1, "If-Match", "*"); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// benchService serves a source to the user 1.
func benchService(b *testing.B, m *edm.Model, source odata.Source) *odata.Service {
	b.Helper()
	service, err := odata.New(m, source, odata.Options{
		Root: "/odata/", Base: func(*http.Request) string { return "http://h" },
		Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": int64(1)}}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return service
}

// BenchmarkDeepInsert measures an order of 100 items in one request, on SQLite.
func BenchmarkDeepInsert(b *testing.B) {
	file := filepath.Join(b.TempDir(), "links.db")
	db, err := sqlx.Open("sqlite", file)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := odatatest.FillTables(db, "sqlite", odatatest.LinkTables()); err != nil {
		b.Fatal(err)
	}
	source, err := sqlsource.New(b.Context(), sqlsource.Database{Dialect: "sqlite", DB: db, DSN: file}, odatatest.LinkMapping())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	e := &written{service: benchService(b, source.Model(), source)}
	body := `{"note":"n","items":[` + strings.Repeat(`{"product_id":"P1","price":1.5,"amount":2},`, 99) + `{"product_id":"P3","price":2}]}`
	b.ReportAllocs()
	for range b.N {
		if w := e.send(http.MethodPost, "Orders", body, 1); w.Code != http.StatusCreated {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// BenchmarkChangeSet measures a hundred creations in one atomicity group of a JSON batch, on SQLite.
func BenchmarkChangeSet(b *testing.B) {
	file := filepath.Join(b.TempDir(), "noted.db")
	db, err := sqlx.Open("sqlite", file)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("PRAGMA journal_mode = WAL; CREATE TABLE noted (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL, price DECIMAL(10,2) NOT NULL, stock INTEGER NOT NULL, note VARCHAR(200), version INTEGER NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	source, err := sqlsource.New(b.Context(), sqlsource.Database{Dialect: "sqlite", DB: db, DSN: file}, sqlsource.Config{
		Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Noted", Table: "noted", Write: &sqlsource.Write{Create: true, Version: "version"}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	e := &written{service: benchService(b, source.Model(), source)}
	parts := make([]string, 100)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"id":"%d","atomicityGroup":"g","method":"POST","url":"Noted","headers":{"content-type":"application/json"},"body":{"name":"a new name","price":12.34,"stock":5,"note":"and a note"}}`, i)
	}
	body := `{"requests":[` + strings.Join(parts, ",") + `]}`
	b.ReportAllocs()
	for range b.N {
		if w := e.send(http.MethodPost, "$batch", body, 1); w.Code != http.StatusOK || strings.Count(w.Body.String(), `"status":201`) != len(parts) {
			b.Fatal(w.Code, w.Body)
		}
	}
}
