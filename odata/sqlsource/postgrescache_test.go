package sqlsource_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// statements records what a handle on PostgreSQL runs.
type statements struct {
	mu   sync.Mutex
	list []string
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, d.SQL)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// take gives what was recorded since the last call.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}

// walkers are a source on PostgreSQL that remembers, one that does not, and a handle for writers.
type walkers struct {
	db              *sqlx.DB
	remember, plain *shop
	ran             *statements
}

func openWalkers(t testing.TB, rows int, more string, cfg sqlsource.Config) *walkers {
	t.Helper()
	db := database(t, "postgres", deepDDL("postgres", rows)+";\n"+more)
	quiet(t, db.DB)
	return walkersOn(t, db, cfg)
}

func walkersOn(t testing.TB, db sqlsource.Database, cfg sqlsource.Config) *walkers {
	t.Helper()
	config, err := pgx.ParseConfig(db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	w := &walkers{db: db.DB, ran: &statements{}}
	config.Tracer = w.ran
	traced := stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = traced.Close() })
	w.remember = open(t, sqlsource.Database{Dialect: "postgres", DB: sqlx.NewDb(traced, "pgx")}, cfg)
	db.Forget, db.Deep = true, 1<<40
	w.plain = open(t, db, cfg)
	return w
}

// quiet keeps the server from committing anything by itself: autovacuum does so when it has analyzed a table.
func quiet(t testing.TB, db *sqlx.DB) {
	t.Helper()
	mustExec(t, db, `ALTER SYSTEM SET autovacuum = off`)
	mustExec(t, db, `SELECT pg_reload_conf()`)
	for workers := 1; workers > 0; time.Sleep(time.Millisecond) {
		if err := db.Get(&workers, `SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%' OR current_setting('autovacuum') = 'on'`); err != nil {
			t.Fatal(err)
		}
	}
}

func thingsOnly() sqlsource.Config {
	return sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}}
}

// compare answers a target from both, and tells whether the one that remembers skipped no row, or counted none.
func (w *walkers) compare(t testing.TB, target string) (sought bool) {
	t.Helper()
	w.ran.take()
	got := w.remember.get(target)
	ran := w.ran.take()
	if want := w.plain.get(target); got != want || strings.Contains(got, "fault") {
		t.Fatalf("%s\n got %s\nwant %s\n%s", target, got, want, strings.Join(ran, "\n"))
	}
	return len(ran) == 1 && strings.Contains(ran[0], "END) = $") && !strings.Contains(ran[0], "OFFSET")
}

// TestNextLinksSeekOnPostgreSQL holds that a page begins where the one before it ended, without a row skipped, and that
// each is the one of OFFSET, whatever the order is of: the first two leave their places behind.
func TestNextLinksSeekOnPostgreSQL(t *testing.T) {
	w := openWalkers(t, 1100, `ALTER TABLE things ADD g uuid, ADD h boolean, ADD i date, ADD j timestamp, ADD k real, ADD l time, ADD m bytea;
UPDATE things SET g = CASE WHEN id % 3 > 0 THEN md5((id % 9)::text)::uuid END, h = id % 2 = 0, i = DATE '2024-01-01' + (id % 5)::int,
	j = TIMESTAMP '2024-01-01' + (id % 5) * interval '0.1 s', k = id % 7 / 3.0, l = TIME '10:00' + (id % 5) * interval '1 s', m = 'x'`, thingsOnly())
	for order, seeks := range map[string]bool{
		"": true, "c": true, "c desc": true, "a": true, "a desc": true, "b": true, "b desc,a": true, "d": true, "d desc,c": true, "e,f": true,
		"g": true, "h desc": true, "i": true, "j": true, "k desc": true, "l": true,
		"m": false, "length(b)": false, "a add 1": false,
	} {
		for _, filter := range []string{"", "&$filter=a ne 2 or b eq null"} {
			for page := range 5 {
				target := fmt.Sprintf("things?$skip=%d%s", page*200, filter)
				if page == 0 {
					target = "things?" + strings.TrimPrefix(filter, "&")
				}
				if order != "" {
					target += "&$orderby=" + order
				}
				if sought := w.compare(t, strings.TrimSuffix(target, "?")); sought != (seeks && page > 1) {
					t.Errorf("%s: sought %t", target, sought)
				}
			}
		}
	}
}

// TestTotalsAreRememberedOnPostgreSQL holds that a total is counted once while the data stays the same.
func TestTotalsAreRememberedOnPostgreSQL(t *testing.T) {
	w := openWalkers(t, 500, "", thingsOnly())
	for _, target := range []string{
		"things?$count=true", "things?$count=true&$filter=a gt 1", "things?$count=true&$top=0&$filter=a gt 2", "things/$count?$filter=a gt 3",
		"things?$count=true&$filter=a gt 99", "things?$count=true&$top=3&$filter=a gt 0",
	} {
		if w.compare(t, target) {
			t.Errorf("%s: known before it was asked", target)
		}
		if !w.compare(t, target) {
			t.Errorf("%s: counted again", target)
		}
	}
	if _, err := w.db.Exec(`INSERT INTO things (id, a, c, e, f) VALUES (9000, 4, 1, 1, 9000)`); err != nil {
		t.Fatal(err)
	}
	if w.compare(t, "things?$count=true") {
		t.Error("a total outlived the data")
	}
}

// TestWhatChangesNoSnapshotIsNotRemembered holds that nothing is remembered about rows that may change without a
// transaction of the server, or that the snapshot is not all of.
func TestWhatChangesNoSnapshotIsNotRemembered(t *testing.T) {
	cfg := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "Plain", Table: "things", Type: "Plain"},
		{Name: "View", Table: "shown", Type: "View", Key: []string{"id"}},
		{Name: "Unlogged", Table: "fast", Type: "Unlogged"},
		{Name: "Policed", Table: "policed", Type: "Policed"},
		{Name: "Parent", Table: "parent", Type: "Parent"},
		{Name: "Parted", Table: "parted", Type: "Parted"},
		{Name: "Claimed", Table: "things", Type: "Claimed", Key: []string{"c"}},
	}}
	w := openWalkers(t, 700, `CREATE VIEW shown AS SELECT * FROM things;
CREATE UNLOGGED TABLE fast (LIKE things INCLUDING ALL); INSERT INTO fast SELECT * FROM things;
CREATE TABLE policed (LIKE things INCLUDING ALL); INSERT INTO policed SELECT * FROM things; ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE TABLE parent (LIKE things INCLUDING ALL); INSERT INTO parent SELECT * FROM things; CREATE TABLE child () INHERITS (parent);
CREATE TABLE parted (id bigint PRIMARY KEY, c numeric) PARTITION BY RANGE (id); CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT id, c FROM things`, cfg)
	for _, c := range []struct {
		target string
		want   bool
	}{
		{"Plain?$orderby=c,id", true},
		{"Plain?$orderby=c,id&$filter=$root/View/any(v:v/a eq 1)", false},
		{"Plain?$orderby=c,id&$filter=id lt 999999 or now() lt 2000-01-01T00:00:00Z", false},
		{"View?$orderby=c,id", false},
		{"Unlogged?$orderby=c,id", false},
		{"Policed?$orderby=c,id", false},
		{"Parent?$orderby=c,id", false},
		{"Parted?$orderby=c,id", false},
		{"Claimed?$orderby=e,f", false},
	} {
		w.compare(t, c.target+"&$skip=200")
		if got := w.compare(t, c.target+"&$skip=400"); got != c.want {
			t.Errorf("%s: sought %t, want %t", c.target, got, c.want)
		}
	}
	w.compare(t, "Claimed/$count")
	if !w.compare(t, "Claimed/$count") {
		t.Error("the total of a set needs no key that is one")
	}
}

// TestCommitsBetweenPages holds that a page after any commit is the one of OFFSET, also after one that was under way when
// the place was noted, and after a new life of the server, which statistics that begin anew stand for.
func TestCommitsBetweenPages(t *testing.T) {
	w := openWalkers(t, 1500, "CREATE TABLE other (id bigint)", thingsOnly())
	open := w.db.MustBegin()
	open.MustExec(`DELETE FROM things WHERE id < 10`)
	cases := []struct {
		name   string
		change func()
		sought bool
	}{
		{"nothing", func() {}, true},
		{"a row in front", func() { w.db.MustExec(`INSERT INTO things (id, a, c, e, f) VALUES (5000, 4, -1, 1, 5000)`) }, false},
		{"an order", func() { w.db.MustExec(`UPDATE things SET c = 2.99 WHERE c < 0.2`) }, false},
		{"a transaction that was open", func() { _ = open.Commit() }, false},
		{"another table", func() { w.db.MustExec(`INSERT INTO other VALUES (1)`) }, false},
		{"nothing again", func() {}, true},
		{"a new life", func() { w.db.MustExec(`SELECT pg_stat_reset_shared('bgwriter')`) }, false},
		{"all rows", func() { w.db.MustExec(`TRUNCATE things`) }, false},
	}
	for _, c := range cases {
		for _, query := range []string{"$orderby=c", "$orderby=c&$count=true"} {
			w.compare(t, "things?"+query+"&$skip=200")
			w.compare(t, "things?"+query+"&$skip=400")
		}
		c.change()
		for _, query := range []string{"$orderby=c", "$orderby=c&$count=true"} {
			if sought := w.compare(t, "things?"+query+"&$skip=600"); sought != c.sought {
				t.Errorf("%s: %s sought %t", c.name, query, sought)
			}
		}
	}
}

// TestRememberedPagesUnderWriters holds that under writers of all kinds each page is the one of OFFSET in the same state.
func TestRememberedPagesUnderWriters(t *testing.T) {
	const rows = 1200
	w := openWalkers(t, rows, "CREATE TABLE other (id bigint)", thingsOnly())
	stop := make(chan struct{})
	var writer sync.WaitGroup
	turn := make(chan struct{})
	writer.Go(func() {
		r := rand.New(rand.NewPCG(5, 5))
		for {
			select {
			case <-stop:
				return
			case <-turn:
			}
			for _, change := range []string{
				`UPDATE things SET c = $1 % 3 WHERE id = $1`, `DELETE FROM things WHERE id = $1 AND id < 300`, `INSERT INTO other VALUES ($1)`, `UPDATE things SET a = NULL WHERE id = $1`,
			} {
				if r.IntN(3) > 0 {
					continue
				}
				if _, err := w.db.Exec(change, r.IntN(rows)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	r := rand.New(rand.NewPCG(6, 6))
	orders := []string{"c", "a desc", "b,a desc", "d desc,c", "id"}
	snapshot := func() (s string) {
		if err := w.db.Get(&s, `SELECT pg_current_snapshot()::text`); err != nil {
			t.Fatal(err)
		}
		return s
	}
	compared, sought := 0, 0
	for n := range 300 {
		if n%6 == 0 {
			turn <- struct{}{} // writes go on beside the next pages
		}
		target := fmt.Sprintf("things?$top=50&$skip=%d&$orderby=%s", 50*(n%20), orders[n/20%len(orders)])
		if r.IntN(3) == 0 {
			target += "&$count=true"
		}
		w.ran.take()
		before := snapshot()
		got, want := w.remember.get(target), w.plain.get(target)
		ran := w.ran.take()
		if before != snapshot() {
			continue
		}
		compared++
		if len(ran) == 1 && !strings.Contains(ran[0], "OFFSET") && strings.Contains(ran[0], "END) = $") {
			sought++
		}
		if got != want {
			t.Fatalf("%s\n got %s\nwant %s\n%s", target, got, want, strings.Join(ran, "\n"))
		}
	}
	close(stop)
	writer.Wait()
	if compared < 30 || sought < 10 {
		t.Errorf("%d pages could be compared, %d of them were sought", compared, sought)
	}
}

// TestRememberedPagesKeepCallersApart holds that places and totals belong to the policy that they were found under.
func TestRememberedPagesKeepCallersApart(t *testing.T) {
	w := openWalkers(t, 2500, "", sqlsource.Config{EntitySets: []sqlsource.EntitySet{{Name: "Mine", Table: "things", Type: "Mine", Filter: "e eq @user_e"}}})
	for _, skip := range []int{20, 40, 60} {
		for e := range int64(4) {
			caller := plan.Caller{SignedIn: true, Settled: true, User: map[string]any{"e": e}}
			w.remember.caller, w.plain.caller = caller, caller
			for _, count := range []string{"", "&$count=true"} {
				w.compare(t, fmt.Sprintf("Mine?$orderby=c&$top=20&$skip=%d%s", skip, count))
			}
		}
	}
}
