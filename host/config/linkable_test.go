package config_test

import (
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
)

// A table in between that takes no links is a warning, where the blocks of both sets allow changes.
func TestATableInBetweenThatTakesNoLinks(t *testing.T) {
	for name, c := range map[string]struct {
		between, target string
		want            string
	}{
		"a column needs a value": {"CREATE TABLE between_two (a INTEGER, b INTEGER, role TEXT NOT NULL)", "update = true", `the column "role" of "between_two" needs a value`},
		"a table of two keys":    {"CREATE TABLE between_two (a INTEGER, b INTEGER)", "update = true", ""},
		"nobody changes":         {"CREATE TABLE between_two (a INTEGER, b INTEGER, role TEXT NOT NULL)", "create = true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"config.hcl": `database {
  driver = "sqlite"
  dsn = "app.db"
}
route "home" {
  path = "/"
  redirect = "/a"
}
odata {
  entity_set "Films" {
    table = "films"
    write {
      update = true
      filter = "id gt 0"
    }
    navigation "stars" {
      to = "Stars"
      many = true
      via = "between_two"
      from_key = "a"
      to_key = "b"
    }
  }
  entity_set "Stars" {
    table = "stars"
    write {
      ` + c.target + `
      filter = "id gt 0"
    }
  }
}
`})
			db, err := sqlx.Open("sqlite", "app.db")
			if err != nil {
				t.Fatal(err)
			}
			db.MustExec("CREATE TABLE films (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE stars (id INTEGER PRIMARY KEY, name TEXT); " + c.between)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			cfg, found := load(t, nil)
			if found != nil {
				t.Fatal(found)
			}
			got := strings.Join(lines(cfg.Verify(t.Context())), "\n")
			warned := strings.Contains(got, `config.hcl:16:16: warning: links cannot be added and removed: `+c.want)
			if warned != (c.want != "") {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}
