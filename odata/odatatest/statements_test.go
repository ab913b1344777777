package odatatest_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// counted is a connector whose connections count the queries they are sent.
type counted struct {
	driver.Connector
	queries *atomic.Int64
}

func (c counted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countedConn{conn.(fullConn), c.queries}, nil
}

// fullConn is what database/sql looks for in a connection of pgx.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
	driver.NamedValueChecker
}

type countedConn struct {
	fullConn
	queries *atomic.Int64
}

func (c countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.queries.Add(1)
	return c.fullConn.QueryContext(ctx, query, args)
}

func (c countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.queries.Add(1) // a statement that is prepared is run
	return c.fullConn.PrepareContext(ctx, query)
}

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
	connector, err := plain.Driver().(driver.DriverContext).OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	var queries atomic.Int64
	db := sqlx.NewDb(sql.OpenDB(counted{connector, &queries}), "pgx")
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
		"/Things?$expand=lines":                                   2,
		"/Things?$expand=lines($count=true),children&$count=true": 5,
		"/Things?$expand=children($expand=lines)":                 3,
	} {
		queries.Store(0)
		w := httptest.NewRecorder()
		service.ServeHTTP(w, httptest.NewRequest("GET", strings.ReplaceAll(target, " ", "%20"), nil))
		if got := queries.Load(); w.Code != 200 || got > want || got == 0 {
			t.Errorf("GET %s gives %d and sends %d statements, want %d at most", target, w.Code, got, want)
		}
	}
}
