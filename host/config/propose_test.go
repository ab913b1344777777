package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// What is proposed for a database passes `vestibule check` as it is.
func TestProposedConfiguration(t *testing.T) {
	chinook, err := os.ReadFile("../../odata/odatatest/testdata/chinook.sql")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tables string
		want   []string
	}{
		"chinook": {string(chinook), []string{`entity_set "InvoiceLine" {`, `text       = "Artist/Name"`, `value_list = "Artist"`, `property "InvoiceId" { value_list = "Invoice" }`}},
		"odd names": {
			"CREATE TABLE \"Odd \"\" ${names}\" (\"key \"\" no\" INTEGER PRIMARY KEY, \"%{a}\" TEXT, \"b\nc\" VARCHAR(9) NOT NULL); CREATE TABLE \"two\nlines\" (a INTEGER)",
			[]string{`table  = "Odd \" $${names}"`, `search = ["b\nc"]`, "# Left out: two?lines: it has no key, and no rows"},
		},
		"credentials": {
			"CREATE TABLE invoices (id INTEGER PRIMARY KEY, passwd VARCHAR(40) NOT NULL, total DECIMAL(8,2), currency_secret VARCHAR(3)); CREATE TABLE apps (api_key TEXT PRIMARY KEY)",
			[]string{`hide  = ["passwd", "currency_secret"]`, "# Left out: apps: its key api_key looks like a credential", "# The columns in hide look like credentials"},
		},
		"nothing": {"CREATE TABLE users (id INTEGER PRIMARY KEY, password TEXT); CREATE TABLE vestibule_x (id INTEGER PRIMARY KEY)", []string{"odata {\n}", "# Left out: users: it holds credentials"}},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"home.html": "home"})
			execute(t, "app.db", c.tables)
			check(t, "app.db", c.want)
		})
	}
	if _, err := config.Propose(t.Context(), "", filepath.Join(t.TempDir(), "nothing.db")); err == nil || !strings.Contains(err.Error(), "there is no database") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := config.Propose(t.Context(), "", "mariadb://app@db/shop"); err == nil || !strings.Contains(err.Error(), "has the form of no driver: write a file of SQLite") {
		t.Errorf("a DSN of no driver: %v", err)
	}
	for _, driver := range []string{"oracle", "sqlite3"} {
		file := filepath.Join(t.TempDir(), "x.db")
		if _, err := config.Propose(t.Context(), driver, file); err == nil || !strings.Contains(err.Error(), "it is one of sqlite, postgres, mysql") {
			t.Errorf("the driver %s: %v", driver, err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("the driver %s made a file", driver)
		}
	}
}

// check proposes a configuration, and checks it.
func check(t *testing.T, file string, want []string) {
	t.Helper()
	text, err := config.Propose(t.Context(), "", file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "vestibule_") {
		t.Errorf("it tells of tables of our own:\n%s", text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %s in\n%s", w, text)
		}
	}
	cfg, found := proposal(t, file, text)
	if found != nil {
		t.Fatalf("%s\n%s", strings.Join(found, "\n"), text)
	}
	if found := lines(cfg.Verify(t.Context())); len(found) > 0 {
		t.Errorf("%s\n%s", strings.Join(found, "\n"), text)
	}
}

// proposal loads a proposed configuration for a SQLite file.
func proposal(t *testing.T, file, text string) (*config.Config, []string) {
	t.Helper()
	rest := "\nroute \"home\" {\n  path = \"/\"\n  file = \"home.html\"\n}\nroute \"dashboard\" {\n  path = \"/dashboard\"\n  file = \"home.html\"\n}\ndatabase {\n  dsn = \"sign-in.db\"\n}\n"
	text = strings.Replace(text, "\nodata {", "\nodata {\n  database {\n    dsn = \""+file+"\"\n  }", 1)
	if err := os.WriteFile("config.hcl", []byte(text+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, nil)
}

// TestProposedLinesAreNeeded holds that a table has under ten lines on average, and that each of them is needed: without it
// the configuration is refused, or $metadata is another.
func TestProposedLinesAreNeeded(t *testing.T) {
	types := strings.NewReplacer("{BIG}", "INTEGER", "{INT}", "INTEGER", "{STR}", "VARCHAR(80)", "{DATE}", "DATE", "{TS}", "DATETIME", "{ODD}", "WEIRD")
	for name, file := range map[string]string{
		"chinook": "../../odata/odatatest/testdata/chinook.sql", "northwind": "../../odata/sqlsource/testdata/northwind.sql", "ugly": "../../odata/sqlsource/testdata/ugly.sql",
	} {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"home.html": "home"})
			execute(t, "app.db", types.Replace(string(script)))
			check(t, "app.db", nil)
			text, err := config.Propose(t.Context(), "", "app.db")
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Split(text, "\n")
			if sets := strings.Count(text, "entity_set"); len(all) >= 10*sets {
				t.Errorf("%d lines for %d tables and views", len(all), sets)
			}
			whole := metadata(t, text)
			if whole == "" {
				t.Fatalf("the proposal is refused:\n%s", text)
			}
			for i, line := range all {
				setting := strings.Contains(line, " = ") && !strings.HasPrefix(line, "#")
				if setting && metadata(t, strings.Join(slices.Delete(slices.Clone(all), i, i+1), "\n")) == whole {
					t.Errorf("nothing changes without %s", line)
				}
			}
		})
	}
}

// metadata returns the model of a proposed configuration; nothing if it is refused.
func metadata(t *testing.T, text string) string {
	t.Helper()
	cfg, found := proposal(t, "app.db", text)
	if found != nil {
		return ""
	}
	var out bytes.Buffer
	if err := cfg.Metadata(t.Context(), &out, false); err != nil {
		return ""
	}
	return out.String()
}
