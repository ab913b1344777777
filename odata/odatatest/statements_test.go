package odatatest_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// counter counts the statements that read, beside those that begin and end a transaction.
type counter struct{ queries atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(data.SQL, "SELECT") || strings.HasPrefix(data.SQL, "WITH") {
		c.queries.Add(1)
	}
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestStatementsPerRequest counts what reaches the database: one statement for
// a page, one more for its total, and one for each expanded property.
func TestStatementsPerRequest(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Postgres(t)
	plain, err := sqlx.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	if err := odatatest.Fill(plain, "postgres"); err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	ran := &counter{}
	config.Tracer = ran
	db := sqlx.NewDb(stdlib.OpenDB(*config), "pgx")
	defer func() { _ = db.Close() }()
	source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: "postgres", DB: db}, odatatest.Mapping())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	service, err := odata.New(source.Model(), source, odata.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]int64{
		"/Things":             1,
		"/Things(1)":          1,
		"/Things(1)/name":     1,
		"/Things/$count":      1,
		"/Things?$count=true": 2,
		"/Things?$filter=lines/any(l:l/qty gt 0)&$orderby=parent/name": 1,
		"/Things?$expand=lines":                                                    2,
		"/Things?$expand=lines($count=true),children&$count=true":                  5,
		"/Things?$expand=children($expand=lines)":                                  3,
		"/Things?$orderby=id desc&$expand=parent($expand=children($expand=lines))": 4,
	} {
		ran.queries.Store(0)
		w := httptest.NewRecorder()
		service.ServeHTTP(w, httptest.NewRequest("GET", strings.ReplaceAll(target, " ", "%20"), nil))
		if got := ran.queries.Load(); w.Code != 200 || got > want || got == 0 {
			t.Errorf("GET %s gives %d and sends %d statements, want %d at most", target, w.Code, got, want)
		}
	}
}
