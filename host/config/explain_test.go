package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// TestExplainAs holds that a query behind a row policy is explained for a user, and refused for nobody.
func TestExplainAs(t *testing.T) {
	write(t, map[string]string{"config.hcl": `route "home" {
  path     = "/"
  redirect = "/a"
}
database {
  dsn = "app.db"
}
odata {
  entity_set "Orders" {
    table  = "orders"
    filter = "customer_id eq @user_id"
  }
  entity_set "Lines" { table = "lines" }
  entity_set "Teams" {
    table  = "teams"
    filter = "id eq @user_team_id"
  }
}
`})
	execute(t, "app.db", `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT NOT NULL UNIQUE, password TEXT, remember_token TEXT, team_id INTEGER);
INSERT INTO users (id, name, email) VALUES (1, 'Ada', 'ada@example.com');
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER);
CREATE TABLE lines (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id));
CREATE TABLE teams (id INTEGER PRIMARY KEY);
INSERT INTO orders VALUES (1, 1), (2, 2), (3, 1)`)
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	if _, err := cfg.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		q             config.Explained
		want, not, no string
	}{
		"a policy and nobody":       {q: config.Explained{Target: "Orders"}, no: `asks for columns of the signed-in user; Orders has customer_id eq @user_id: ask as one of them with --as EMAIL`},
		"a policy behind an expand": {q: config.Explained{Target: "Lines?$expand=order"}, no: "Orders has customer_id eq @user_id: ask as one of them with --as EMAIL"},
		"a policy in a filter":      {q: config.Explained{Target: "Lines?$filter=order/id eq 1"}, no: "asks for columns of the signed-in user: ask as one of them with --as EMAIL"},
		"a policy and a user":       {q: config.Explained{Target: "Orders", As: "Ada@Example.com"}, want: "statement 1: 2 rows in ", not: "1 = 0"},
		"a user without the column": {q: config.Explained{Target: "Teams", As: "ada@example.com"}, want: "policy: lets no row pass"},
		"an unknown user":           {q: config.Explained{Target: "Orders", As: "eve@example.com"}, no: "no user has the address eve@example.com"},
		"no policy":                 {q: config.Explained{Target: "Lines"}, want: "statement 1: 0 rows in "},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := cfg.Explain(t.Context(), &out, c.q)
			switch {
			case c.no != "" && (err == nil || !strings.Contains(err.Error(), c.no)):
				t.Errorf("it is not refused with %q: %v", c.no, err)
			case c.no == "" && (err != nil || !strings.Contains(out.String(), c.want) || c.not != "" && strings.Contains(out.String(), c.not)):
				t.Errorf("%v\n%s", err, &out)
			}
		})
	}
}

// TestExplainTimeLimit holds that a query that takes too long is stopped, and that its statement and plan are shown.
func TestExplainTimeLimit(t *testing.T) {
	write(t, map[string]string{"config.hcl": `route "home" {
  path     = "/"
  redirect = "/a"
}
database {
  dsn = "app.db"
}
odata {
  limits {
    timeout = "200ms"
  }
  entity_set "Endless" {
    table = "endless"
    key   = ["id"]
  }
}
`})
	execute(t, "app.db", `CREATE VIEW endless AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n`)
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	for limit, want := range map[time.Duration]string{
		0:                      "the time limit of 200ms ran out",
		100 * time.Millisecond: "the time limit of 100ms ran out",
	} {
		var out strings.Builder
		if err := cfg.Explain(t.Context(), &out, config.Explained{Target: "Endless?$orderby=id desc", Limit: limit}); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"  SELECT ", "statement 1: stopped after 0 rows and ", want} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("no %s in\n%s", part, &out)
			}
		}
	}
}
