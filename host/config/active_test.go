package config_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// deactivation are columns as applications have them on each database: a moment, truth
// values of two kinds, a text, a day, and a number.
func deactivation(driver string) []string {
	moment := map[string]string{"sqlite": "DATETIME", "postgres": "TIMESTAMP(0)", "mysql": "TIMESTAMP NULL"}[driver]
	var out []string
	for _, column := range []string{
		"deleted_at " + moment, "is_active BOOLEAN", "enabled SMALLINT", "status VARCHAR(20)", "leaves DATE", "level INTEGER",
	} {
		out = append(out, "ALTER TABLE users ADD COLUMN "+column)
	}
	return out
}

// A condition means the same of the same rows on every database, and null and 0 are no.
func TestActiveMeansTheSameEverywhere(t *testing.T) {
	people := []string{
		"deleted_at", "is_active", "enabled", "status", "leaves", "level",
		"past", "'2026-05-01 10:00:00', TRUE, 1, 'active', '2026-06-01', 3",
		"future", "'2037-01-01 00:00:00', TRUE, 1, 'active', '2026-06-01', 3",
		"none", "NULL, TRUE, 1, 'active', '2026-06-01', 3",
		"no", "NULL, FALSE, 0, 'banned', '2026-04-01', 0",
		"null", "NULL, NULL, NULL, NULL, NULL, NULL",
		"case", "NULL, TRUE, 2, 'Active', '2026-05-04', -1",
	}
	columns, people := strings.Join(people[:6], ", "), people[6:]
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			dsn := map[string]func(testing.TB) string{
				"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "app.db") }, "postgres": dbtest.Postgres, "mysql": dbtest.MySQL,
			}[driver](t)
			base := fmt.Sprintf("database {\n  driver = %q\n  dsn    = %q\n}\n", driver, dsn)
			cfg := mustLoad(t, base, nil)
			if _, err := cfg.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			s := served{driver: driver, dsn: dsn}
			for _, statement := range deactivation(driver) {
				exec(t, s, statement)
			}
			for i := 0; i < len(people); i += 2 {
				exec(t, s, fmt.Sprintf("INSERT INTO users (name, email, password, %s) VALUES ('%s', '%s@example.com', 'x', %s)", columns, people[i], people[i], people[i+1]))
			}
			for condition, want := range map[string]string{
				"deleted_at eq null and is_active":                 "none case",
				"deleted_at eq null or deleted_at gt now()":        "future none no null case",
				"deleted_at lt 2026-05-01T10:00:01Z":               "past",
				"is_active":                                        "past future none case",
				"not is_active":                                    "no",
				"is_active ne false":                               "past future none null case",
				"is_active eq null":                                "null",
				"enabled":                                          "past future none case",
				"enabled ne true":                                  "no null",
				"enabled eq 1":                                     "past future none",
				"status eq 'active'":                               "past future none",
				"status in ('active','Active')":                    "past future none case",
				"status ne 'banned'":                               "past future none null case",
				"leaves gt 2026-05-03":                             "past future none case",
				"level ge 0 and level le 2":                        "no",
				"level add 1 gt 0":                                 "past future none no",
				"startswith(tolower(email),'n')":                   "none no null",
				"name eq 'past' or id eq 4":                        "past no",
				"email_verified_at eq null and contains(name,'e')": "future none case",
			} {
				cfg := mustLoad(t, base+"auth {\n  active = "+fmt.Sprintf("%q", condition)+"\n}\n", nil)
				opts, err := cfg.Options(t.Context(), hclog.NewNullLogger())
				if err != nil {
					t.Errorf("%s: %v", condition, err)
					continue
				}
				opts.Store = opts.Store.With(store.Settings{Active: opts.Auth.Active, Now: func() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }})
				list, err := opts.Store.ListUsers(t.Context(), "", 100)
				if err != nil {
					t.Fatal(err)
				}
				var in []string
				for _, u := range list {
					if one, err := opts.Store.Users().FindByID(t.Context(), u.ID); err != nil || one.Inactive != u.Inactive {
						t.Errorf("%s of %s: %v alone, %v in a list, %v", condition, u.Name, one.Inactive, u.Inactive, err)
					}
					if u.MaySignIn() {
						in = append(in, u.Name)
					}
				}
				if got := strings.Join(in, " "); got != want {
					t.Errorf("%s: %q, want %q", condition, got, want)
				}
				if err := errors.Join(opts.OData.Source.(io.Closer).Close(), opts.Store.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A page of the query endpoint, which finds its session with its rows on servers, is
// refused at once to somebody who was deactivated, and so is every other guarded thing.
func TestActiveHoldsForPagesAtOnce(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			s := serveOn(t, driver, "}\nauth {\n  active = \"deleted_at eq null and enabled\"\n", keptShelves, nil, append(append(boards(), deactivation(driver)...), "INSERT INTO boards VALUES (9, 9)")...)
			exec(t, s, `INSERT INTO shelves VALUES (1), (2), (3)`)
			exec(t, s, `UPDATE users SET enabled = 1`)
			p := s.person(t)
			for range 3 { // so that the session is remembered where it would be
				if status, text := p.read(t, "/odata/Kept"); status != 200 {
					t.Fatal(status, text)
				}
			}
			exec(t, s, `UPDATE users SET deleted_at = '2026-05-04 11:00:00'`)
			if status, text := p.read(t, "/odata/Kept"); status != 401 {
				t.Errorf("deleted: %d %s", status, text)
			}
			if status := s.signIn(t); status != 422 {
				t.Errorf("signs in: %d", status)
			}
			exec(t, s, `UPDATE users SET deleted_at = NULL`)
			p.signIn(t)
			exec(t, s, `UPDATE users SET enabled = 0`)
			if status, _ := p.read(t, "/dashboard"); status != 401 {
				t.Errorf("not enabled: %d", status)
			}
		})
	}
}

// What is wrong with a condition is said with its place and a remedy.
func TestActiveFaults(t *testing.T) {
	for condition, want := range map[string]string{
		"delted_at eq null":             `auth.active: the table users has no column "delted_at": did you mean "deleted_at"?`,
		"password ne null":              `auth.active: the column "password" is a credential: compare with another column: no condition may use it`,
		"Remember_Token eq null":        `auth.active: the column "Remember_Token" is a credential: `,
		"deleted_at":                    `auth.active: deleted_at is not a condition`,
		"status":                        `auth.active: status is not a condition`,
		"level add 1":                   `is not a condition`,
		"is_active eq 1":                `auth.active: `,
		"id eq @user_id":                `auth.active: @user_id stands for somebody who is signed in, and the condition decides who may be: compare with a constant`,
		"deleted_at eq":                 `auth.active: `,
		"orders/any(o:o/id eq 1)":       `auth.active: the table users has no column "orders": `,
		"status/length eq 1":            `auth.active: `,
		"$it/status eq 'x'":             `auth.active: `,
		"length(level) eq 1":            `auth.active: `,
		"nosuch(status) eq 'x'":         `auth.active: `,
		"status eq 'active' or true eq": `auth.active: `,
	} {
		t.Run(condition, func(t *testing.T) {
			cfg := mustLoad(t, "auth {\n  active = "+fmt.Sprintf("%q", condition)+"\n}\n", nil)
			if _, err := cfg.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			s := served{driver: "sqlite", dsn: "vestibule.db"}
			for _, statement := range deactivation("sqlite") {
				exec(t, s, statement)
			}
			found := lines(cfg.Verify(t.Context()))
			if _, err := cfg.Options(t.Context(), hclog.NewNullLogger()); err == nil {
				t.Error("it is served")
			}
			for _, line := range found {
				if strings.HasPrefix(line, "config.hcl:2:12: ") && strings.Contains(line, want) {
					return
				}
			}
			t.Errorf("want %q among\n%s", want, strings.Join(found, "\n"))
		})
	}
	write(t, map[string]string{"config.hcl": "app {\n}\n"})
	if _, found := load(t, nil, "auth.active="); len(found) != 1 || !strings.Contains(found[0], "auth.active") {
		t.Errorf("an empty one: %q", found)
	}
}

// Columns that look like deactivation and that the condition does not name are warned
// about, with a condition that fits them.
func TestColumnsThatLookLikeDeactivation(t *testing.T) {
	for name, test := range map[string]struct {
		columns, active, warning string
	}{
		"none":                 {"partner_id INTEGER, city TEXT, created DATETIME", "", ""},
		"soft deletes":         {"deleted_at DATETIME", "", `auth.active does not mention deleted_at of users: whom the application deactivates by it still signs in: write auth { active = "deleted_at eq null" }, or`},
		"Django":               {"is_active BOOL, is_staff BOOL", "", `active = "is_active" }`},
		"integers":             {"active INTEGER, banned INTEGER", "", `active = "active and banned ne true" }`},
		"capitals":             {"isActive BOOLEAN, deletedAt DATETIME", "", `active = "isActive and deletedAt eq null" }`},
		"moments":              {"disabled_at DATETIME, banned_at DATETIME, locked_at INTEGER, suspended_at TEXT", "", `active = "disabled_at eq null and banned_at eq null and locked_at eq null and suspended_at eq null" }`},
		"states":               {"status TEXT, blocked TINYINT(1), enabled TEXT", "", `active = "status eq 'active' and blocked ne true and enabled eq 'true'" }`},
		"numbered state":       {"status INTEGER", "", `active = "status eq 1" }`},
		"all mentioned":        {"deleted_at DATETIME, is_active BOOLEAN", "is_active and deleted_at eq null", ""},
		"one is not mentioned": {"deleted_at DATETIME, is_active BOOLEAN", "is_active", `auth.active does not mention deleted_at of users: whom the application deactivates by it still signs in: write auth { active = "(is_active) and deleted_at eq null" }`},
	} {
		t.Run(name, func(t *testing.T) {
			text := "app {\n}\n" // an empty file is warned of
			if test.active != "" {
				text = "auth {\n  active = " + fmt.Sprintf("%q", test.active) + "\n}\n"
			}
			cfg := mustLoad(t, text, nil)
			if _, err := cfg.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			for column := range strings.SplitSeq(test.columns, ", ") {
				exec(t, served{driver: "sqlite", dsn: "vestibule.db"}, "ALTER TABLE users ADD COLUMN "+column)
			}
			var got []string
			for _, line := range lines(cfg.Verify(t.Context())) {
				if strings.Contains(line, "auth.active") {
					got = append(got, line)
				}
			}
			switch {
			case test.warning == "" && len(got) > 0:
				t.Errorf("warned: %q", got)
			case test.warning != "" && (len(got) != 1 || !strings.Contains(got[0], "warning: ") || !strings.Contains(got[0], test.warning)):
				t.Errorf("%q\nwant one with %q", got, test.warning)
			}
			suggested := condition(test.warning)
			if suggested == "" {
				return
			}
			again := mustLoadIn(t, "auth {\n  active = "+fmt.Sprintf("%q", suggested)+"\n}\n")
			for _, line := range lines(again.Verify(t.Context())) {
				if strings.Contains(line, "auth.active") {
					t.Errorf("the suggestion: %s", line)
				}
			}
		})
	}
}

// condition is what a warning suggests.
func condition(warning string) string {
	_, rest, _ := strings.Cut(warning, `active = "`)
	text, _, _ := strings.Cut(rest, `" }`)
	return text
}

// A column that is dropped while people are signed in, and a value that its type cannot
// hold, keep people out.
func TestActiveFailsClosed(t *testing.T) {
	cfg := mustLoad(t, "auth {\n  active = \"deleted_at eq null and level ge 0\"\n}\n", nil)
	if _, err := cfg.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := served{driver: "sqlite", dsn: "vestibule.db"}
	for _, statement := range append(deactivation("sqlite"), "INSERT INTO users (name, email, password, level, deleted_at) VALUES ('a', 'a@b.c', 'x', 1, NULL), ('b', 'b@b.c', 'x', 1, 'yesterday'), ('c', 'c@b.c', 'x', 'much', NULL)") {
		exec(t, s, statement)
	}
	opts, err := cfg.Options(t.Context(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(opts.OData.Source.(io.Closer).Close(), opts.Store.Close()) }()
	opts.Store = opts.Store.With(store.Settings{Active: opts.Auth.Active})
	states := func() (out []bool) {
		for _, id := range []string{"1", "2", "3"} {
			u, err := opts.Store.Users().FindByID(t.Context(), id)
			out = append(out, err == nil && u.MaySignIn())
		}
		return out
	}
	if diff := cmp.Diff([]bool{true, false, false}, states()); diff != "" {
		t.Error(diff)
	}
	exec(t, s, "ALTER TABLE users DROP COLUMN level")
	states() // where the statement fails, the columns are read again
	if diff := cmp.Diff([]bool{false, false, false}, states()); diff != "" {
		t.Error(diff)
	}
}

// mustLoadIn loads a configuration beside the files that are there.
func mustLoadIn(t *testing.T, text string) *config.Config {
	t.Helper()
	if err := os.WriteFile("config.hcl", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	return cfg
}
