package sqlsource_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

const linksDDL = `CREATE TABLE films (id {BIG} NOT NULL PRIMARY KEY, title {STR});
CREATE TABLE stars (code {STR} NOT NULL PRIMARY KEY, name {STR});
CREATE TABLE casts (film {BIG} NOT NULL REFERENCES films(id), star {STR} NOT NULL REFERENCES stars(code), role {STR} DEFAULT 'extra' NOT NULL, note {STR}, PRIMARY KEY (film, star));
CREATE TABLE loose (film {BIG}, star {STR});
CREATE TABLE leads (film {BIG} NOT NULL UNIQUE, star {STR} NOT NULL);
CREATE TABLE ruled (film {BIG} NOT NULL, star {STR} NOT NULL, CHECK (film < 3));
CREATE TABLE elsewhere (film {BIG} NOT NULL, star {STR} NOT NULL, FOREIGN KEY (film) REFERENCES rented(film));
CREATE TABLE needs (film {BIG}, star {STR}, role {STR} NOT NULL);
CREATE TABLE texts (film {STR}, star {STR});
CREATE VIEW viewed AS SELECT film, star FROM casts;
INSERT INTO films VALUES (1, 'one'), (2, 'two'), (3, 'three');
INSERT INTO stars VALUES ('a', 'Ann'), ('b', 'Ben'), ('A', 'other')`

// links makes a database of films and stars. MariaDB takes no short form of foreign keys for granted, and texts that differ.
func links(t testing.TB, dialect string) sqlsource.Database {
	t.Helper()
	script := strings.Replace(linksDDL, "CREATE TABLE elsewhere", "CREATE TABLE rented (film {BIG} NOT NULL PRIMARY KEY);\nCREATE TABLE elsewhere", 1)
	if dialect == "mysql" {
		script = strings.ReplaceAll(script, "{STR}", "VARCHAR(80) COLLATE utf8mb4_bin")
		script = strings.Replace(script, "loose (film {BIG}, star VARCHAR(80) COLLATE utf8mb4_bin)", "loose (film {BIG}, star VARCHAR(80) COLLATE utf8mb4_general_ci)", 1)
	}
	return database(t, dialect, ddlOf(dialect, script))
}

func linksConfig(vias ...string) sqlsource.Config {
	all := func() *sqlsource.Write { return &sqlsource.Write{Create: true, Update: true, Delete: true} }
	films := sqlsource.EntitySet{Name: "Films", Table: "films", Write: all()}
	for _, via := range vias {
		films.Navigations = append(films.Navigations, sqlsource.Navigation{Name: via, To: "Stars", Many: true, Via: via, FromKey: "film", ToKey: "star"})
	}
	return sqlsource.Config{EntitySets: []sqlsource.EntitySet{films, {Name: "Stars", Table: "stars", Write: all()}}}
}

// link makes the change of "link 1 casts a", or of "unlink" with the same.
func (w writer) link(request string) *write.Change {
	w.t.Helper()
	words := strings.Fields(request)
	c := w.change("DELETE Films("+words[1]+")", "*")
	star := w.change("DELETE Stars('"+words[3]+"')", "*")
	c.Kind, c.Nav, c.Other, c.After, c.Match = write.Link, c.Set.Type.Nav(words[2]), star.Key, star.Before, nil
	if words[0] == "unlink" {
		c.Kind = write.Unlink
	}
	return c
}

// linked makes the change of link in a transaction of its own.
func (w writer) linked(c *write.Change) string {
	for range 100 {
		_, err := w.once(c)
		if err == nil {
			return "ok"
		}
		if refusalOf(err) != "conflict" {
			return refusalOf(err)
		}
	}
	return "a hundred conflicts"
}

// The rules of a table in between refuse links, and a link is the very texts of its keys.
func TestRulesOfTablesInBetween(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := links(t, dialect)
			w := writer{t, open(t, db, linksConfig("casts", "loose", "leads", "ruled", "elsewhere")), tenant(1)}
			for _, step := range []struct{ request, want string }{
				{"link 1 casts a", "ok"},
				{"link 1 casts A", "ok"},
				{"unlink 1 casts a", "ok"},
				{"unlink 1 casts a", "404 casts"},
				{"unlink 1 casts A", "ok"},
				{"link 1 loose a", "ok"},
				{"unlink 1 loose A", "404 loose"},
				{"link 1 loose A", "ok"},
				{"unlink 1 loose a", "ok"},
				{"unlink 1 loose A", "ok"},
				{"link 1 leads a", "ok"},
				{"link 1 leads a", "ok"},
				{"link 1 leads b", "duplicate"},
				{"unlink 1 leads b", "404 leads"},
				{"link 2 ruled a", "ok"},
				{"link 3 ruled a", "422"},
				{"link 1 elsewhere a", "dead link elsewhere"},
				{"link 1 casts zz", "dead link casts"},
				{"link 9 casts a", "404"},
			} {
				if got := w.linked(w.link(step.request)); got != step.want {
					t.Errorf("%s: %s, want %s", step.request, got, step.want)
				}
			}
			db.DB.MustExec("INSERT INTO loose VALUES (1, 'b'), (1, 'b'), (2, 'b'), (1, NULL)")
			if got := w.linked(w.link("unlink 1 loose b")); got != "ok" {
				t.Error(got)
			}
			var left int
			if err := db.DB.Get(&left, "SELECT count(*) FROM loose"); err != nil || left != 2 {
				t.Errorf("%d rows are left, %v", left, err)
			}
			if role := ""; db.DB.Get(&role, "SELECT role FROM casts") == nil {
				t.Error("a removed link is there")
			}
		})
	}
}

// A table in between that takes no rows of two keys alone is one whose links cannot be written.
func TestUnlinkableTables(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			cfg := linksConfig("casts", "needs", "texts", "viewed")
			cfg.EntitySets[0].Navigations = append(cfg.EntitySets[0].Navigations, sqlsource.Navigation{Name: "self", To: "Films", Many: true, Via: "films", FromKey: "id", ToKey: "id"})
			db := links(t, dialect)
			s := open(t, db, cfg)
			want := map[string]string{"needs": `"role"`, "texts": "another type", "viewed": "a view", "self": "table of a set"}
			for _, u := range s.Unlinkable() {
				if u.Set != "Films" || want[u.Navigation] == "" || !strings.Contains(u.What, want[u.Navigation]) {
					t.Errorf("%+v", u)
				}
				delete(want, u.Navigation)
			}
			if len(want) > 0 {
				t.Errorf("nothing is said of %v", want)
			}
			for _, nav := range s.Model().Set("Films").Type.Navigation {
				if !nav.Through || nav.Linkable != (nav.Name == "casts") {
					t.Errorf("%s: through %v, linkable %v", nav.Name, nav.Through, nav.Linkable)
				}
			}
			cfg.EntitySets[1].Write.Update = false
			if u := open(t, db, cfg).Unlinkable(); !slices.Equal(navigationsOf(u), []string{"self"}) {
				t.Errorf("links that nobody may write: %v", u)
			}
		})
	}
}

func navigationsOf(list []sqlsource.Unlinkable) (names []string) {
	for _, u := range list {
		names = append(names, u.Navigation)
	}
	return names
}

// A user of the database who may not write a table in between is found at the start.
func TestLinksOfAUserWithoutTheRight(t *testing.T) {
	t.Parallel()
	db := links(t, "postgres")
	name := fmt.Sprintf("linker%d", time.Now().UnixNano())
	db.DB.SetMaxOpenConns(1)
	db.DB.MustExec("CREATE ROLE " + name)
	t.Cleanup(func() { db.DB.MustExec("RESET ROLE; DROP OWNED BY " + name + "; DROP ROLE " + name) })
	db.DB.MustExec("GRANT SELECT, INSERT, UPDATE, DELETE ON films, stars TO " + name + "; GRANT SELECT, INSERT ON casts TO " + name +
		"; GRANT SELECT, INSERT, DELETE ON loose TO " + name + "; SET ROLE " + name)
	s := open(t, db, linksConfig("casts", "loose"))
	if u := s.Unlinkable(); len(u) != 1 || u[0].Navigation != "casts" || !strings.Contains(u[0].What, "may not") || s.Model().Set("Films").Type.Nav("casts").Linkable {
		t.Errorf("%+v", u)
	}
}

// Two ways over one table in between are each other's partner.
func TestMirroredNavigationsArePartners(t *testing.T) {
	cfg := linksConfig("casts", "loose")
	cfg.EntitySets[1].Navigations = []sqlsource.Navigation{
		{Name: "films", To: "Films", Many: true, Via: "casts", FromKey: "star", ToKey: "film"},
		{Name: "one", To: "Films", Many: true, Via: "loose", FromKey: "star", ToKey: "film"},
		{Name: "two", To: "Films", Many: true, Via: "loose", FromKey: "star", ToKey: "film"},
	}
	films := open(t, links(t, "sqlite"), cfg).Model().Set("Films").Type
	stars := films.Nav("casts").Target.Type
	for nav, want := range map[*edm.Navigation]string{films.Nav("casts"): "films", stars.Nav("films"): "casts", films.Nav("loose"): ""} {
		if nav.Partner != want {
			t.Errorf("the partner of %s is %q, want %q", nav.Name, nav.Partner, want)
		}
	}
}

// Another program adds and removes the same links without the locks of this one, and deletes the rows at their ends: a link is
// added, is refused, or is there, and nothing fails.
func TestLinksBesideAnotherProgram(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := links(t, dialect)
			db.DB.SetMaxOpenConns(8)
			w := writer{t, open(t, db, linksConfig("casts", "leads")), tenant(1)}
			done := make(chan struct{})
			var other, own sync.WaitGroup
			if dialect != "sqlite" { // where one at a time writes
				other.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-done:
							return
						default:
						}
						for _, s := range []string{"INSERT INTO casts (film, star) VALUES (1, 'a')", "DELETE FROM casts WHERE film = 1", "INSERT INTO stars VALUES ('b', 'x')", "DELETE FROM stars WHERE code = 'b'"} {
							_, _ = db.DB.ExecContext(context.Background(), s)
						}
					}
				})
			}
			requests := []string{"link 1 casts a", "unlink 1 casts a", "link 1 casts b", "unlink 1 casts b", "link 2 leads a", "unlink 2 leads b"}
			var mu sync.Mutex
			seen := map[string]int{}
			for i := range 4 {
				own.Go(func() {
					for j := range 30 {
						request := requests[(i+j)%len(requests)]
						got := w.linked(w.link(request))
						mu.Lock()
						seen[strings.Fields(request)[0]+" "+got]++
						mu.Unlock()
					}
				})
			}
			own.Wait()
			close(done)
			other.Wait()
			for outcome, n := range seen {
				if !slices.Contains([]string{"link ok", "unlink ok", "unlink 404 casts", "unlink 404 leads", "link dead link casts"}, outcome) {
					t.Errorf("%d times %s", n, outcome)
				}
			}
			t.Log(seen)
		})
	}
}
