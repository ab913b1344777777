package sqlsource_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// pair is one database, with and without memory.
type pair struct {
	db              *sqlx.DB
	remember, plain *shop
}

func openPair(t testing.TB, rows int) *pair {
	t.Helper()
	file := database(t, "sqlite", manyDDL("sqlite", rows))
	db, err := sqlx.Open("sqlite", file.DSN+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	mustExec(t, db, `CREATE TABLE vestibule_visits (id INTEGER PRIMARY KEY)`)
	cfg := sqlsource.Config{Guard: edm.GuardNone, Protected: reserved.Table, Discover: []string{"things", "parts"}}
	forget := file
	forget.Forget = true
	file.Writer = db
	return &pair{db, open(t, file, cfg), open(t, forget, cfg)}
}

func mustExec(t testing.TB, db *sqlx.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// answer runs a request and tells the version of what was read.
func answer(t testing.TB, s *shop, target string) (rows, version string) {
	t.Helper()
	p, err := s.plan(target, 0)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	r, err := s.Open(context.Background(), p)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	defer func() { _ = r.Close() }()
	version = r.Version()
	rows = render(r, p.Top)
	if p.Top.Count {
		rows = fmt.Sprint(r.Count(), rows)
	}
	if err := r.Err(); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return rows, version
}

// request makes a page at a random depth.
func request(r *rand.Rand, rows int) string {
	orders := []string{"", "a", "a desc", "b,a desc", "c desc,b", "d", "d desc,c", "b desc,id desc", "a,id", "length(b)", "a mul 2 desc,b"}
	filters := []string{"", "&$filter=a gt 1", "&$filter=b eq 'a'", "&$filter=a eq null", "&$count=true", "&$filter=a ne 2&$count=true"}
	skip := r.Intn(rows)
	if r.Intn(2) == 0 {
		skip = skip / 50 * 50 // where pages end
	}
	target := fmt.Sprintf("things?$skip=%d%s", skip, filters[r.Intn(len(filters))])
	if o := orders[r.Intn(len(orders))]; o != "" {
		target += "&$orderby=" + o
	}
	return target
}

// TestMemoryChangesNoAnswer holds that what is remembered shows nowhere: under writers of all kinds, every page is the
// one that plain OFFSET gives for the same state of the data.
func TestMemoryChangesNoAnswer(t *testing.T) {
	const rows = 2200
	p := openPair(t, rows)
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	var reads atomic.Int64
	other, err := sqlx.Open("sqlite", p.path(t)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for i, db := range []*sqlx.DB{p.db, other} {
		writers.Go(func() {
			r := rand.New(rand.NewSource(int64(i)))
			for {
				changeRows(t, db, r, rows)
				// Some pages are read before the next write, however slow the machine is.
				for until := reads.Load() + 8; reads.Load() < until; time.Sleep(time.Millisecond) {
					select {
					case <-stop:
						return
					default:
					}
				}
			}
		})
	}
	var compared, remembered atomic.Int64
	for i := range 3 {
		readers.Go(func() {
			r := rand.New(rand.NewSource(int64(100 + i)))
			for range 40 {
				reads.Add(1)
				target := request(r, rows)
				before := p.remember.Version(context.Background())
				got, version := answer(t, p.remember, target)
				want, _ := answer(t, p.plain, target)
				after := p.remember.Version(context.Background())
				if before == "" || before != after {
					continue // another connection wrote
				}
				compared.Add(1)
				if version == before {
					remembered.Add(1)
				}
				if got != want {
					t.Errorf("%s at version %s (%q): differs from plain OFFSET", target, before, version)
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
	if compared.Load() < 10 || remembered.Load() < 10 {
		t.Errorf("only %d answers could be compared, %d of them of a known version", compared.Load(), remembered.Load())
	}
}

func (p *pair) path(t testing.TB) (file string) {
	t.Helper()
	if err := p.db.Get(&file, `SELECT file FROM pragma_database_list WHERE name = 'main'`); err != nil {
		t.Fatal(err)
	}
	return file
}

// write is a write of a random kind, and then some time in which nothing happens.
func changeRows(t testing.TB, db *sqlx.DB, r *rand.Rand, rows int) {
	var err error
	switch r.Intn(5) {
	case 0:
		_, err = db.Exec(`INSERT OR REPLACE INTO things (id, a, b) VALUES (?, ?, ?)`, r.Intn(2*rows), r.Intn(5), "ab"[:1+r.Intn(2)])
	case 1:
		_, err = db.Exec(`DELETE FROM things WHERE id BETWEEN ? AND ?`, rows+r.Intn(rows), rows+r.Intn(rows))
	case 2:
		_, err = db.Exec(`UPDATE things SET a = NULL WHERE id = ?`, r.Intn(rows))
	default:
		_, err = db.Exec(`INSERT INTO vestibule_visits DEFAULT VALUES`)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestLinksAfterWrites follows the next links to the end, compares each page, and writes in between.
func TestLinksAfterWrites(t *testing.T) {
	const rows = 2200
	p := openPair(t, rows)
	r := rand.New(rand.NewSource(7))
	for _, order := range []string{"", "&$orderby=a desc,b"} {
		for skip := 0; skip < rows; skip += 200 {
			target := fmt.Sprintf("things?$skip=%d%s", skip, order)
			got, version := answer(t, p.remember, target)
			want, _ := answer(t, p.plain, target)
			if version == "" {
				t.Fatalf("%s: the version is not known", target)
			}
			if got != want {
				t.Fatalf("%s: differs from plain OFFSET", target)
			}
			if r.Intn(8) == 0 {
				mustExec(t, p.db, `DELETE FROM things WHERE id = ?`, r.Intn(rows))
			}
		}
	}
}

func TestVersion(t *testing.T) {
	p := openPair(t, 10)
	other, err := sqlx.Open("sqlite", p.path(t)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	cases := []struct {
		name  string
		write func()
		moves bool
	}{
		{"nothing", func() {}, false},
		{"a session of ours", func() { mustExec(t, p.db, `INSERT INTO vestibule_visits DEFAULT VALUES`) }, false},
		{"a row of ours", func() { mustExec(t, p.db, `UPDATE things SET a = 9 WHERE id = 1`) }, true},
		{"all rows of ours", func() { mustExec(t, p.db, `DELETE FROM parts`) }, true},
		{"the schema", func() { mustExec(t, p.db, `CREATE INDEX extra ON things (c)`) }, true},
		{"a table of ours", func() { mustExec(t, p.db, `CREATE TABLE vestibule_requests (id INTEGER PRIMARY KEY)`) }, true},
		{"a table that the model does not read", func() { mustExec(t, other, `CREATE TABLE unread (id INTEGER PRIMARY KEY)`) }, true},
		{"a row of another's", func() { mustExec(t, other, `UPDATE things SET a = 8 WHERE id = 1`) }, true},
		{"a session of another's", func() { mustExec(t, other, `INSERT INTO vestibule_visits DEFAULT VALUES`) }, true},
		{"ours undone", func() {
			tx := p.db.MustBegin()
			tx.MustExec(`INSERT INTO vestibule_visits DEFAULT VALUES`)
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"nothing again", func() {}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, before := answer(t, p.remember, "things?$top=1")
			now := p.remember.Version(context.Background())
			if before != now || before == "" {
				t.Fatalf("an answer is of version %q, and it is %q", before, now)
			}
			c.write()
			if after := p.remember.Version(context.Background()); (after != before) != c.moves || after == "" {
				t.Errorf("from %q to %q", before, after)
			}
		})
	}
	t.Run("while the writer is busy", func(t *testing.T) {
		tx := p.db.MustBegin()
		tx.MustExec(`INSERT INTO vestibule_visits DEFAULT VALUES`)
		mustAnswer(t, p, "things?$skip=2")
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		mustAnswer(t, p, "things?$skip=2")
	})
}

func mustAnswer(t *testing.T, p *pair, target string) {
	t.Helper()
	got, _ := answer(t, p.remember, target)
	if want, _ := answer(t, p.plain, target); got != want {
		t.Errorf("%s differs from plain OFFSET", target)
	}
}

// TestMemoryKeepsCallersApart holds that a total and a place belong to the policy that they were found under.
func TestMemoryKeepsCallersApart(t *testing.T) {
	p := openPair(t, 1500)
	cfg := sqlsource.Config{EntitySets: []sqlsource.EntitySet{{Name: "Mine", Table: "things", Type: "Mine", Filter: "a eq @user_a"}}}
	db := sqlsource.Database{Dialect: "sqlite", DSN: p.path(t)}
	own := open(t, db, cfg)
	db.Forget = true
	plain := open(t, db, cfg)
	for _, skip := range []int{0, 200} {
		for a := range int64(4) {
			target := fmt.Sprintf("Mine?$count=true&$skip=%d", skip)
			own.caller = plan.Caller{SignedIn: true, Settled: true, User: map[string]any{"a": a}}
			plain.caller = own.caller
			got, _ := answer(t, own, target)
			if want, _ := answer(t, plain, target); got != want {
				t.Errorf("%s for %d differs", target, a)
			}
		}
	}
}

// TestRestlessViews holds that nothing is remembered about a view that changes by itself.
func TestRestlessViews(t *testing.T) {
	for view, want := range map[string]bool{
		`SELECT id, a FROM things`:                         true,
		`SELECT id, datetime('NOW') AS at FROM things`:     false,
		`SELECT id, RANDOM() AS a FROM things`:             false,
		`SELECT id, CURRENT_TIMESTAMP AS at FROM things`:   false,
		`SELECT id, a FROM things WHERE id IN (SELECT 1)`:  true,
		`SELECT id FROM things WHERE d < strftime('%s')`:   false,
		`SELECT id, julianday() AS a FROM things`:          false,
		`SELECT id FROM things WHERE id > abs(random())/9`: false,
	} {
		t.Run(view, func(t *testing.T) {
			db := database(t, "sqlite", manyDDL("sqlite", 10)+";\nCREATE VIEW shown AS "+view)
			s := open(t, db, sqlsource.Config{
				Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Shown", Table: "shown", Type: "Shown", Key: []string{"id"}}},
			})
			if got := s.Version(context.Background()) != ""; got != want {
				t.Errorf("remembered: %t", got)
			}
		})
	}
}
