package config_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func TestDriverOf(t *testing.T) {
	for dsn, want := range map[string]string{
		"app.db": "sqlite", "/var/lib/app.db": "sqlite", "./a b.sqlite3": "sqlite", "file:app.db?mode=ro": "sqlite", "file:///app.db": "sqlite", ":memory:": "sqlite", "a=b.db": "sqlite",
		"postgres://app@db/shop": "postgres", "postgresql://app:a;b=c@db/shop": "postgres", "host=db dbname=shop": "postgres", "user=app host=/run/postgresql": "postgres",
		"app:secret@tcp(db:3306)/shop": "mysql", "app@unix(/run/mysqld/mysqld.sock)/shop": "mysql", "tcp(db)/shop": "mysql", "app:a;b=c@tcp(db)/shop": "mysql", "app@/shop": "mysql",
		"mysql://app@db/shop": "", "mariadb://db/shop": "", "sqlserver://db": "", "jdbc:mysql://db/shop": "", "Server=db;Database=shop": "", "sqlite://app.db": "",
	} {
		if got := config.DriverOf(dsn); got != want {
			t.Errorf("%s: %q, want %q", dsn, got, want)
		}
	}
}

// FuzzDriverOf holds that every name has one of the three drivers or none.
func FuzzDriverOf(f *testing.F) {
	f.Add("postgres://a")
	f.Fuzz(func(t *testing.T, dsn string) {
		if driver := config.DriverOf(dsn); driver != "" && !strings.Contains("sqlite postgres mysql", driver) {
			t.Errorf("%q: %q", dsn, driver)
		}
	})
}

// TestQueriesInferTheirDriver holds that odata.database needs no driver beside a DSN.
func TestQueriesInferTheirDriver(t *testing.T) {
	const start = "route \"home\" {\n  path = \"/\"\n  redirect = \"/a\"\n}\nroute \"dashboard\" {\n  path = \"/d\"\n  redirect = \"/a\"\n}\ndatabase {\n  dsn = \"sign-in.db\"\n}\nodata {\n  discover = [\"things\"]\n  database {\n    dsn = "
	for dsn, want := range map[string]string{
		"shop.db":      "",
		"elsewhere.db": "the database of odata cannot be opened: there is no database elsewhere.db: write the dsn as a file of SQLite, postgres://",
		"postgres://app@127.0.0.1:1/shop?connect_timeout=1": "the database of odata cannot be opened: ",
	} {
		write(t, map[string]string{"config.hcl": start + "\"" + dsn + "\"\n  }\n}\n"})
		execute(t, "shop.db", "CREATE TABLE things (id INTEGER PRIMARY KEY)")
		cfg, found := load(t, nil)
		if found != nil {
			t.Fatal(found)
		}
		got := strings.Join(lines(cfg.Verify(t.Context())), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %s", dsn, got)
		}
	}
}
