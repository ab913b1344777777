package sqlsource_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// countChanges runs what the documents let operators run.
func countChanges(t testing.TB, db *sqlx.DB, tables ...string) {
	t.Helper()
	if err := dbtest.CountChanges(t.Context(), db.DB, "../../docs/operations/counted-changes.sql", tables...); err != nil {
		t.Fatal(err)
	}
}

// logicalServer starts a server that prepares transactions and publishes changes. It ends with the test binary.
var logicalServer = sync.OnceValues(func() (string, error) {
	return dbtest.Start("postgres", "-c", "max_prepared_transactions=5", "-c", "wal_level=logical")
})

// onLogicalServer is a new database on that server.
func onLogicalServer(t testing.TB, name, script string) sqlsource.Database {
	t.Helper()
	dbtest.Postgres(t) // skips without a server
	dsn, err := logicalServer()
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, onServer(t, dsn, "").DB, "CREATE DATABASE "+name)
	return onServer(t, strings.Replace(dsn, "/bench?", "/"+name+"?", 1), script)
}

func onServer(t testing.TB, dsn, script string) sqlsource.Database {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	fill(t, db, script)
	return sqlsource.Database{Dialect: "postgres", DSN: dsn, DB: sqlx.NewDb(db, "pgx")}
}

// carryOut runs statements one by one on one connection.
func carryOut(t testing.TB, db *sqlx.DB, script string) {
	t.Helper()
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for statement := range strings.SplitSeq(script, "; ") {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// walk reads two pages, so that a place is remembered, and reports whether the third is sought after a change.
func (w *walkers) walk(t testing.TB, query string, change func()) (sought bool) {
	t.Helper()
	w.compare(t, "things?"+query+"&$skip=200")
	w.compare(t, "things?"+query+"&$skip=400")
	change()
	return w.compare(t, "things?"+query+"&$skip=600")
}

const countedTables = `;
CREATE TABLE other (id bigint);
CREATE TABLE relay (id bigint);
CREATE TABLE owners (id bigint PRIMARY KEY, name text);
INSERT INTO owners SELECT n, 'x' FROM generate_series(0, 9) n;
ALTER TABLE things ADD owner bigint REFERENCES owners ON DELETE CASCADE ON UPDATE CASCADE, ADD g text;
UPDATE things SET owner = CASE WHEN id < 100 THEN id % 10 END;
CREATE TABLE parent (g text);
CREATE TABLE named (a bigint);
INSERT INTO named VALUES (1);
CREATE TABLE vestibule_sessions (id bigint PRIMARY KEY, seen bigint);
INSERT INTO vestibule_sessions VALUES (1, 1);
CREATE VIEW shown AS SELECT id, f FROM things`

// relays makes a write to relay one to things, as an application might.
const relays = `CREATE FUNCTION relayed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE things SET c = c + 1 WHERE id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER relayed AFTER INSERT ON relay FOR EACH ROW EXECUTE FUNCTION relayed();
CREATE PROCEDURE steps() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO other VALUES (1); COMMIT; UPDATE things SET c = c + 1 WHERE id = 50; COMMIT; INSERT INTO other VALUES (2); END $$`

// countedChange is something that happens between two pages.
type countedChange struct {
	name, change string
	// again makes the table counted once more, where the change ended that.
	again string
	keeps bool
}

func countedChanges() []countedChange {
	const again = "ALTER TABLE things ENABLE ALWAYS TRIGGER vestibule_changed, ENABLE REPLICA TRIGGER vestibule_changed_by_replication"
	return []countedChange{
		{name: "nothing", change: "SELECT 1", keeps: true},
		{name: "another table", change: "INSERT INTO other VALUES (1)", keeps: true},
		{name: "a table of the sign-in", change: "UPDATE vestibule_sessions SET seen = seen + 1", keeps: true},
		{name: "a table below a foreign key", change: "UPDATE owners SET name = 'y' WHERE id = 9", keeps: true},
		{name: "a new table", change: "CREATE TABLE newer (id bigint)", keeps: true},
		{name: "vacuum and analyze", change: "VACUUM ANALYZE things", keeps: true},
		{name: "a row that is locked", change: "BEGIN; SELECT 1 FROM things WHERE id = 3 FOR UPDATE; INSERT INTO other VALUES (1); COMMIT", keeps: true},
		{name: "a transaction that is rolled back", change: "BEGIN; UPDATE things SET c = c + 1; ROLLBACK; INSERT INTO other VALUES (1)", keeps: true},
		{name: "a savepoint that is rolled back", change: "BEGIN; INSERT INTO other VALUES (1); SAVEPOINT s; UPDATE things SET c = c + 1; ROLLBACK TO s; COMMIT", keeps: true},
		{name: "a prepared transaction", change: "BEGIN; UPDATE things SET c = c + 1 WHERE id = 7; PREPARE TRANSACTION 'p'; INSERT INTO other VALUES (1)", keeps: true},
		{name: "a prepared transaction that commits", change: "COMMIT PREPARED 'p'"},
		{name: "a prepared transaction that is rolled back", change: "BEGIN; DELETE FROM things WHERE id = 7; PREPARE TRANSACTION 'q'; ROLLBACK PREPARED 'q'; INSERT INTO other VALUES (1)", keeps: true},
		{name: "an inserted row", change: "INSERT INTO things (id, a, c, e, f) VALUES (5000, 4, -1, 1, 5000)"},
		{name: "an updated row", change: "UPDATE things SET c = c + 1 WHERE id = 11"},
		{name: "a deleted row", change: "DELETE FROM things WHERE id = 12"},
		{name: "a savepoint that is released", change: "BEGIN; SAVEPOINT s; UPDATE things SET c = c + 1 WHERE id = 13; RELEASE s; COMMIT"},
		{name: "a savepoint after a change", change: "BEGIN; UPDATE things SET c = c + 1 WHERE id = 13; SAVEPOINT s; DELETE FROM things WHERE id = 14; ROLLBACK TO s; COMMIT"},
		{name: "a change after a savepoint", change: "BEGIN; SAVEPOINT s; DELETE FROM things WHERE id = 14; ROLLBACK TO s; UPDATE things SET c = c + 1 WHERE id = 13; COMMIT"},
		{name: "a repeatable read", change: "BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE things SET c = c + 1 WHERE id = 15; COMMIT"},
		{name: "a serializable one", change: "BEGIN ISOLATION LEVEL SERIALIZABLE; UPDATE things SET c = c + 1 WHERE id = 15; COMMIT"},
		{name: "a copy", change: `COPY things (id, a, c, e, f) FROM PROGRAM 'echo 5001,1,-2,1,5001' WITH (FORMAT csv)`},
		{name: "an upsert", change: "INSERT INTO things (id, c, e, f) VALUES (16, 0, 1, 6016) ON CONFLICT (id) DO UPDATE SET c = things.c + 1"},
		{name: "a merge", change: "MERGE INTO things t USING (VALUES (17)) v(id) ON t.id = v.id WHEN MATCHED THEN UPDATE SET c = c + 1"},
		{name: "a statement within another", change: "WITH gone AS (DELETE FROM things WHERE id = 18 RETURNING id) INSERT INTO other SELECT id FROM gone"},
		{name: "a view", change: "UPDATE shown SET f = f + 10000 WHERE id = 19"},
		{name: "a prepared statement", change: "PREPARE s AS UPDATE things SET c = c + 1 WHERE id = 19; EXECUTE s; DEALLOCATE s"},
		{name: "a trigger", change: "INSERT INTO relay VALUES (20)"},
		{name: "a procedure that commits", change: "CALL steps()"},
		{name: "a cascade of deletes", change: "DELETE FROM owners WHERE id = 1"},
		{name: "a cascade of updates", change: "UPDATE owners SET id = 12 WHERE id = 2"},
		{name: "a replica", change: "SET session_replication_role = replica; UPDATE things SET c = c + 1 WHERE id = 23; RESET session_replication_role"},
		{name: "rewritten values", change: "ALTER TABLE things ALTER c TYPE numeric(10,2) USING 5 - c"},
		{name: "a column of that name", change: "ALTER TABLE things DROP g; ALTER TABLE things ADD g text DEFAULT 'x'"},
		{name: "triggers off for a load", change: "ALTER TABLE things DISABLE TRIGGER USER; UPDATE things SET c = c + 1 WHERE id = 24; ALTER TABLE things ENABLE TRIGGER USER", again: again},
		{name: "triggers off and always on", change: "ALTER TABLE things DISABLE TRIGGER USER; UPDATE things SET c = c + 1 WHERE id = 24; ALTER TABLE things ENABLE TRIGGER USER; " + again},
		{name: "triggers off and on in one transaction", change: "BEGIN; ALTER TABLE things DISABLE TRIGGER USER; UPDATE things SET c = c + 1 WHERE id = 24; " + again + "; COMMIT"},
		{name: "triggers dropped and made anew", change: "DROP TRIGGER vestibule_changed ON things; DROP TRIGGER vestibule_changed_by_replication ON things; UPDATE things SET c = c + 1 WHERE id = 25; CALL vestibule_count_changes('things')"},
		{name: "a parent for a while", change: "ALTER TABLE things INHERIT parent; UPDATE parent SET g = 'y'; ALTER TABLE things NO INHERIT parent"},
		{name: "a parent", change: "ALTER TABLE things INHERIT parent", again: "ALTER TABLE things NO INHERIT parent"},
		{name: "a sorted table", change: "CLUSTER things USING things_c"},
		{name: "a rewritten table", change: "VACUUM FULL things"},
		{name: "a table in its place", change: "BEGIN; ALTER TABLE things RENAME TO old; CREATE TABLE things (LIKE old INCLUDING ALL); INSERT INTO things SELECT * FROM old WHERE id > 3; " +
			"DROP TABLE old CASCADE; COMMIT; CALL vestibule_count_changes('things')"},
		{name: "emptied counts", change: "TRUNCATE vestibule_changes; UPDATE things SET c = c + 1 WHERE id = 27"},
		{name: "a new life", change: "SELECT pg_stat_reset_shared('bgwriter')"},
		{name: "another page", change: "SELECT 1", keeps: true},
		{name: "no table below", change: "TRUNCATE things"},
	}
}

// TestCountedChanges holds that what is remembered of a table whose changes are counted lasts until they are others, and
// that each page is the one of OFFSET.
func TestCountedChanges(t *testing.T) {
	db := onLogicalServer(t, "changed", deepDDL("postgres", 1500)+countedTables)
	mustExec(t, db.DB, relays)
	countChanges(t, db.DB, "things")
	w := walkersOn(t, db, thingsOnly())
	for _, c := range countedChanges() {
		t.Run(c.name, func(t *testing.T) {
			for _, query := range []string{"$orderby=c", "$orderby=c desc&$count=true", "$orderby=a,c&$filter=e lt 90"} {
				w.compare(t, "things?"+query+"&$skip=200")
				w.compare(t, "things?"+query+"&$skip=400")
			}
			carryOut(t, w.db, c.change)
			for _, query := range []string{"$orderby=c", "$orderby=c desc&$count=true", "$orderby=a,c&$filter=e lt 90"} {
				if sought := w.compare(t, "things?"+query+"&$skip=600"); sought != c.keeps {
					t.Errorf("%s: sought %t", query, sought)
				}
			}
			if c.again != "" {
				carryOut(t, w.db, c.again)
			}
		})
	}
}

// TestCountedChangesOfOthers holds that a commit in another database of the server ends nothing.
func TestCountedChangesOfOthers(t *testing.T) {
	db := database(t, "postgres", deepDDL("postgres", 1500)+countedTables)
	countChanges(t, db.DB, "things")
	elsewhere := database(t, "postgres", "CREATE TABLE far (id bigint)")
	w := walkersOn(t, db, thingsOnly())
	if !w.walk(t, "$orderby=c", func() { mustExec(t, elsewhere.DB, "INSERT INTO far VALUES (1)") }) {
		t.Error("a commit in another database ended what was remembered")
	}
}

// TestWhatIsNotCounted holds that requests go by commits, as without triggers, where their rows may change by something that
// no trigger of their table sees.
func TestWhatIsNotCounted(t *testing.T) {
	db := database(t, "postgres", deepDDL("postgres", 700)+countedTables+`;
CREATE TYPE mood AS ENUM ('good', 'bad');
ALTER TABLE things ADD m mood DEFAULT 'good';
CREATE UNLOGGED TABLE fast (LIKE things INCLUDING ALL);
INSERT INTO fast SELECT * FROM things;
CREATE TABLE parted (id bigint PRIMARY KEY, c numeric) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT id, c FROM things;
CREATE TABLE child () INHERITS (parent);
ALTER TABLE child ADD id bigint PRIMARY KEY, ADD c numeric;
INSERT INTO child (id, c) SELECT id, c FROM things;
CREATE TABLE half (LIKE things INCLUDING ALL);
INSERT INTO half SELECT * FROM things`)
	countChanges(t, db.DB, "things", "fast", "parted", "child")
	mustExec(t, db.DB, `CREATE TRIGGER vestibule_changed AFTER INSERT OR UPDATE ON half FOR EACH STATEMENT EXECUTE FUNCTION vestibule_changed()`)
	w := walkersOn(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "Things", Table: "things", Type: "Thing"},
		{Name: "View", Table: "shown", Type: "View", Key: []string{"id"}},
		{Name: "Fast", Table: "fast", Type: "Fast"},
		{Name: "Parted", Table: "parted", Type: "Parted"},
		{Name: "Child", Table: "child", Type: "Child"},
		{Name: "Half", Table: "half", Type: "Half"},
		{Name: "Named", Table: "named", Type: "Named", Key: []string{"a"}},
	}})
	for _, c := range []struct {
		target, change string
		want           bool
	}{
		{"Things?$orderby=c", "INSERT INTO other VALUES (1)", true},
		{"Things?$orderby=c&$filter=m ne 'fine'", "INSERT INTO other VALUES (1)", false},
		{"Things?$orderby=c&$filter=m ne 'fine'", "ALTER TYPE mood RENAME VALUE 'good' TO 'fine'", false},
		{"Things?$orderby=c&$filter=$root/Named/any(v:v/a eq 1)", "DELETE FROM named", false},
		{"View?$orderby=f", "INSERT INTO other VALUES (1)", false},
		{"Fast?$orderby=c", "INSERT INTO other VALUES (1)", false},
		{"Parted?$orderby=c", "INSERT INTO other VALUES (1)", false},
		{"Child?$orderby=c", "UPDATE parent SET g = 'x'", false},
		{"Child?$orderby=c", "INSERT INTO other VALUES (1)", false},
		{"Half?$orderby=c", "INSERT INTO other VALUES (1)", false},
	} {
		w.compare(t, c.target+"&$skip=200")
		w.compare(t, c.target+"&$skip=400")
		mustExec(t, w.db, c.change)
		if got := w.compare(t, c.target+"&$skip=600"); got != c.want {
			t.Errorf("%s after %s: sought %t", c.target, c.change, got)
		}
	}
}

// TestCountsThatMayNotBeRead holds that a host whose user may not read the counts goes by commits.
func TestCountsThatMayNotBeRead(t *testing.T) {
	db := onLogicalServer(t, "unreadable", deepDDL("postgres", 1500)+countedTables)
	countChanges(t, db.DB, "things")
	mustExec(t, db.DB, `REVOKE SELECT ON vestibule_changes FROM PUBLIC; CREATE ROLE reader LOGIN; GRANT SELECT ON things TO reader`)
	w := walkersOn(t, onServer(t, strings.Replace(db.DSN, "postgres@", "reader@", 1), ""), thingsOnly())
	if w.walk(t, "$orderby=c", func() { mustExec(t, db.DB, "INSERT INTO other VALUES (1)") }) {
		t.Error("sought by counts that may not be read")
	}
}

// TestCountedRowsThatAreHidden holds that policies of the database, which change what a user sees and no row, end what is
// remembered.
func TestCountedRowsThatAreHidden(t *testing.T) {
	db := onLogicalServer(t, "hidden", deepDDL("postgres", 1500)+countedTables)
	countChanges(t, db.DB, "things")
	mustExec(t, db.DB, "CREATE ROLE limited LOGIN; GRANT SELECT ON things TO limited")
	w := walkersOn(t, onServer(t, strings.Replace(db.DSN, "postgres@", "limited@", 1), ""), thingsOnly())
	for _, c := range []struct {
		change string
		sought bool
	}{
		{"INSERT INTO other VALUES (1)", true},
		{"CREATE POLICY seen ON things USING (id > 10)", true},
		{"ALTER TABLE things ENABLE ROW LEVEL SECURITY", false},
		{"ALTER POLICY seen ON things USING (id > 50)", false},
		{"ALTER TABLE things DISABLE ROW LEVEL SECURITY", false},
		{"INSERT INTO other VALUES (1)", true},
	} {
		if got := w.walk(t, "$orderby=c", func() { mustExec(t, db.DB, c.change) }); got != c.sought {
			t.Errorf("after %s: sought %t", c.change, got)
		}
	}
}

// TestCountsThatEnd holds that pages go on while the triggers are dropped below a running host, as the documents ask.
func TestCountsThatEnd(t *testing.T) {
	db := database(t, "postgres", deepDDL("postgres", 1500)+countedTables)
	quiet(t, db.DB)
	countChanges(t, db.DB, "things")
	w := walkersOn(t, db, thingsOnly())
	for _, c := range []struct {
		change string
		sought bool
	}{
		{"INSERT INTO other VALUES (1)", true},
		{"DROP TRIGGER vestibule_changed ON things", false},
		{"INSERT INTO other VALUES (1)", false},
		{"SELECT 1", true},
		{"DROP TRIGGER vestibule_changed_by_replication ON things", false},
		{"INSERT INTO other VALUES (1)", false},
		{"CREATE TRIGGER vestibule_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON things FOR EACH STATEMENT EXECUTE FUNCTION vestibule_changed()", false},
		{"INSERT INTO other VALUES (1)", false},
	} {
		if got := w.walk(t, "$orderby=c", func() { mustExec(t, w.db, c.change) }); got != c.sought {
			t.Errorf("after %s: sought %t", c.change, got)
		}
	}
}

// TestCountedChangesByReplication holds that rows of logical replication are counted, which calls no trigger of a statement.
func TestCountedChangesByReplication(t *testing.T) {
	from := onLogicalServer(t, "publisher", deepDDL("postgres", 1500)+countedTables)
	to := onLogicalServer(t, "subscriber", deepDDL("postgres", 1500)+countedTables)
	countChanges(t, to.DB, "things")
	mustExec(t, from.DB, "CREATE PUBLICATION p FOR TABLE things")
	mustExec(t, from.DB, "SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
	mustExec(t, to.DB, "CREATE SUBSCRIPTION s CONNECTION '"+from.DSN+"' PUBLICATION p WITH (create_slot = false, slot_name = 's', copy_data = false)")
	w := walkersOn(t, to, thingsOnly())
	state := func() (s string) {
		if err := to.DB.Get(&s, "SELECT COALESCE(md5(string_agg(t::text, ',' ORDER BY id)), '') FROM things t"); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, change := range []string{
		"UPDATE things SET c = c + 1 WHERE id = 30", "DELETE FROM things WHERE id = 31", "INSERT INTO things (id, c, e, f) VALUES (6000, -3, 1, 6000)", "TRUNCATE things",
	} {
		if !w.walk(t, "$orderby=c", func() { mustExec(t, from.DB, "INSERT INTO other VALUES (1)") }) {
			t.Errorf("before %s: not sought", change)
		}
		before := state()
		if w.walk(t, "$orderby=c", func() {
			mustExec(t, from.DB, change)
			for end := time.Now().Add(20 * time.Second); state() == before; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%s was not replicated", change)
				}
			}
		}) {
			t.Errorf("after %s: sought", change)
		}
	}
	mustExec(t, to.DB, "ALTER SUBSCRIPTION s DISABLE")
	mustExec(t, to.DB, "ALTER SUBSCRIPTION s SET (slot_name = NONE)")
	mustExec(t, to.DB, "DROP SUBSCRIPTION s")
}

// TestCountedChangesOnAStandby holds that a standby remembers nothing, and does once it is promoted.
func TestCountedChangesOnAStandby(t *testing.T) {
	db := onServer(t, dbtest.Followed(t), deepDDL("postgres", 1500)+countedTables)
	countChanges(t, db.DB, "things")
	standby := onServer(t, dbtest.Standby(t, db.DSN), "")
	w := walkersOn(t, standby, thingsOnly())
	nothing := func() {}
	if w.walk(t, "$orderby=c", nothing) {
		t.Error("sought on a standby")
	}
	mustExec(t, standby.DB, "SELECT pg_promote()")
	if !w.walk(t, "$orderby=c", nothing) {
		t.Error("not sought on what is a primary now")
	}
	if w.walk(t, "$orderby=c", func() { mustExec(t, standby.DB, "UPDATE things SET c = c + 1 WHERE id = 40") }) {
		t.Error("sought after a change")
	}
}

// TestCountsAddUp holds that many writers at once, of which some add up what others have counted, lose none of their
// transactions, wait for nobody and leave few rows.
func TestCountsAddUp(t *testing.T) {
	db := database(t, "postgres", deepDDL("postgres", 500)+countedTables)
	countChanges(t, db.DB, "things")
	const writers, turns = 8, 60
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(9, uint64(n)))
			for turn := range turns {
				level := []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}[r.IntN(4)]
				tx, err := db.DB.BeginTxx(context.Background(), &sql.TxOptions{Isolation: level})
				if err != nil {
					t.Error(err)
					return
				}
				for i := range 1 + r.IntN(3) {
					if _, err := tx.Exec("INSERT INTO things (id, c, e, f) VALUES ($1, 1, 1, $1)", 10000+(n*turns+turn)*10+i); err != nil {
						t.Errorf("%s: %v", level, err)
					}
				}
				if err := tx.Commit(); err != nil {
					t.Errorf("%s: %v", level, err)
				}
			}
		})
	}
	all.Wait()
	var sum, rows int
	if err := db.DB.QueryRow("SELECT sum(n), count(*) FROM vestibule_changes").Scan(&sum, &rows); err != nil {
		t.Fatal(err)
	}
	if sum != writers*turns || rows > 300 {
		t.Errorf("%d transactions counted in %d rows, want %d", sum, rows, writers*turns)
	}
}

// TestCountedPagesUnderWriters holds that under commits to all kinds of tables a page is the one of OFFSET wherever its
// table did not change meanwhile.
func TestCountedPagesUnderWriters(t *testing.T) {
	const rows = 1200
	db := database(t, "postgres", deepDDL("postgres", rows)+countedTables)
	countChanges(t, db.DB, "things")
	w := walkersOn(t, db, thingsOnly())
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for n := range 3 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(1+r.IntN(3)) * time.Millisecond):
				}
				change := "INSERT INTO other VALUES ($1)"
				if r.IntN(25) == 0 {
					change = []string{"UPDATE things SET c = $1 % 3 WHERE id = $1", "DELETE FROM things WHERE id = $1 AND id < 300"}[r.IntN(2)]
				}
				if _, err := db.DB.Exec(change, r.IntN(rows)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(8, 8))
	orders := []string{"c", "a desc", "b,a desc", "d desc,c", "id"}
	compared, sought := 0, 0
	for n := range 250 {
		target := fmt.Sprintf("things?$top=50&$skip=%d&$orderby=%s", 50*(n%20), orders[n/20%len(orders)])
		if r.IntN(3) == 0 {
			target += "&$count=true"
		}
		before := w.plain.get(target)
		w.ran.take()
		got := w.remember.get(target)
		ran := w.ran.take()
		if before != w.plain.get(target) {
			continue
		}
		compared++
		if len(ran) == 1 && !strings.Contains(ran[0], "OFFSET") && strings.Contains(ran[0], "END) = $") {
			sought++
		}
		if got != before {
			t.Fatalf("%s\n got %s\nwant %s\n%s", target, got, before, strings.Join(ran, "\n"))
		}
	}
	close(stop)
	writers.Wait()
	if compared < 60 || sought < 20 {
		t.Errorf("%d pages could be compared, %d of them were sought", compared, sought)
	}
}
