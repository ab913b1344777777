package sqlsource_test

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// postgresWith makes a filled database of a locale, whose sessions do not read tables row by row where there is another way.
func postgresWith(t *testing.T, locale, script string) sqlsource.Database {
	t.Helper()
	dsn := dbtest.Postgres(t)
	run := func(dsn, statement string) {
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if locale != "" {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Trim(u.Path, "/") + "_locale"
		run(dsn, "CREATE DATABASE "+name+" TEMPLATE template0 LOCALE_PROVIDER libc LOCALE '"+locale+"'")
		admin := dsn
		t.Cleanup(func() { run(admin, "DROP DATABASE "+name+" WITH (FORCE)") })
		u.Path = "/" + name
		dsn = u.String()
	}
	run(dsn, script)
	dsn += "&enable_seqscan=off&jit=off"
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return sqlsource.Database{Dialect: "postgres", DSN: dsn, DB: sqlx.NewDb(db, "pgx")}
}

// partsPostgres are columns with and without indexes of parts.
const partsPostgres = `CREATE EXTENSION pg_trgm;
CREATE TABLE notes (id bigint PRIMARY KEY, plain text, gin varchar(80), gist text, code_points text, begins text, ordered text, half text, lower text, kind char(40));
INSERT INTO notes SELECT n, t, t, t, t, t, t, t, t, t FROM (SELECT n, 'Äpfel 100% ' || n || '_x' || CASE n WHEN 2999 THEN 'öäü' ELSE '' END AS t FROM generate_series(1, 3000) n) s;
CREATE INDEX gin_parts ON notes USING gin (gin gin_trgm_ops);
CREATE INDEX gist_parts ON notes USING gist (gist gist_trgm_ops);
CREATE INDEX code_points_parts ON notes USING gin (code_points COLLATE "C" gin_trgm_ops);
CREATE INDEX begins_parts ON notes (begins text_pattern_ops);
CREATE INDEX ordered_parts ON notes (ordered COLLATE "C");
CREATE INDEX half_parts ON notes USING gin (half gin_trgm_ops) WHERE id > 7;
CREATE INDEX lower_parts ON notes USING gin (lower(lower) gin_trgm_ops);
ANALYZE notes`

// TestPartsOnPostgreSQL holds which conditions on parts of texts an index finds, by the query plan of the server, what
// `vestibule odata explain` says of them, and that no row is lost.
func TestPartsOnPostgreSQL(t *testing.T) {
	cases := []struct {
		filter, index string // the index of a locale of libc
		ascii         bool   // and whether that of C finds it, too
		advice, note  string
	}{
		{"contains(gin,'l 100% 77_')", "gin_parts", true, "", "asks the index gin_parts"},
		{"contains(gin,'Äpfel 100% 2999_x')", "gin_parts", true, "", ""},
		{"contains(gin,'öäü')", "gin_parts", false, "", ""},
		{"contains(gin,'7_')", "", false, "", "no three letters or digits"},
		{"contains(gin,'%_%')", "", false, "", "no three letters or digits"},
		{"startswith(gin,'Äpfel 100% 29')", "gin_parts", true, "", ""},
		{"endswith(gin,'2998_x')", "gin_parts", true, "", ""},
		{"matchesPattern(gin,'^.pfel 100% [0-9]*77_')", "gin_parts", true, "", ""},
		{"matchesPattern(gin,'[0-9]7_')", "", false, "", ""},
		{"contains(tolower(gin),'äpfel 100% 77_')", "gin_parts", false, "", ""},
		{"contains(tolower(gin),'Äpfel 100% 77_')", "", false, "", ""},
		{"contains(gin,'pfel 100% 77_') or contains(gist,'100% 78_')", "gin_parts", true, "", ""},
		{"contains(gist,'pfel 100% 77_')", "gist_parts", true, "", ""},
		{"contains(code_points,'pfel 100% 77_')", "code_points_parts", true, "", ""},
		{"contains(tolower(code_points),'pfel 100% 77_')", "", false, "", "libc"},
		{"startswith(begins,'Äpfel 100% 77_')", "begins_parts", true, "", "range"},
		{"startswith(ordered,'Äpfel 100% 77_')", "ordered_parts", true, "", "range"},
		{"contains(plain,'pfel 100% 77_')", "", false, `CREATE INDEX ON "notes" USING gin ("plain" gin_trgm_ops)`, "reads every row"},
		{"startswith(plain,'Äpfel 100% 77_')", "", false, `CREATE INDEX ON "notes" ("plain" COLLATE "C")`, "reads every row"},
		{"contains(half,'pfel 100% 77_')", "", false, "gin_trgm_ops", ""},
		{"contains(lower,'pfel 100% 77_')", "", false, "gin_trgm_ops", ""},
		{"contains(kind,'fel')", "", false, "", "the column is character"},
		{"not contains(gin,'pfel 100% 77_')", "", false, "", ""},
	}
	for _, locale := range []string{"", "C.UTF-8"} {
		t.Run("locale "+locale, func(t *testing.T) {
			db := postgresWith(t, locale, partsPostgres)
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "notes", Search: []string{"gin"}}}})
			for _, c := range cases {
				if locale == "" && !c.ascii {
					c.index = ""
				}
				plan, notes, advice := s.explained(t, "Notes?$select=id&$filter="+c.filter)
				if c.index == "" && strings.Contains(plan, "_parts") || !strings.Contains(plan, c.index) {
					t.Errorf("%s: index %q, want %q", c.filter, plan, c.index)
				}
				if !strings.Contains(advice, c.advice) || c.advice == "" && advice != "" {
					t.Errorf("%s: advice %q", c.filter, advice)
				}
				if locale != "" && !strings.Contains(notes, c.note) {
					t.Errorf("%s: %q", c.filter, notes)
				}
			}
			check(t, s, [][2]string{
				{"Notes?$select=id&$filter=contains(gin,'100% 77_')", "[77]"},
				{"Notes?$select=id&$filter=contains(gin,'100% 77%')", ""},
				{"Notes?$select=id&$filter=contains(tolower(gin),'äpfel 100% 77_')", "[77]"},
				{"Notes?$select=id&$filter=startswith(begins,'Äpfel 100% 77_')", "[77]"},
				{"Notes?$select=id&$search=\"ÄPFEL 100% 77_\"", "[77]"},
				{"Notes/$count?$filter=startswith(gin,'Äpf')", "3000"},
				{"Notes/$count?$search=äpf", "3000"},
			})
			if plan, _, _ := s.explained(t, "Notes?$select=id&$search=2999"); strings.Contains(plan, "gin_parts") != (locale != "") {
				t.Errorf("$search: %s", plan)
			}
		})
	}
}

// TestPartsOnMariaDB holds that a beginning is a range of an index, that nothing is promised of FULLTEXT, and that a prefix with a
// wildcard means itself.
func TestPartsOnMariaDB(t *testing.T) {
	script := "CREATE TABLE notes (id BIGINT PRIMARY KEY, name VARCHAR(80), plain VARCHAR(80), INDEX (name), FULLTEXT (name));\n" +
		"INSERT INTO notes SELECT seq, CONCAT('100% ', seq, '_x'), 'x' FROM seq_1_to_3000;\nANALYZE TABLE notes"
	s := open(t, database(t, "mysql", script), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "notes"}}})
	plan, notes, advice := s.explained(t, "Notes?$select=id&$filter=startswith(name,'100% 29')")
	if !strings.Contains(plan, `"access_type": "range"`) || !strings.Contains(notes, "range") || advice != "" {
		t.Errorf("%s\n%s\n%s", plan, notes, advice)
	}
	if _, _, advice := s.explained(t, "Notes?$select=id&$filter=startswith(plain,'100% 29')"); advice != "CREATE INDEX `notes_plain` ON `notes` (`plain`)" {
		t.Error(advice)
	}
	if _, notes, advice := s.explained(t, "Notes?$select=id&$filter=contains(name,'2999')"); !strings.Contains(notes, "FULLTEXT finds words") || advice != "" {
		t.Errorf("%s\n%s", notes, advice)
	}
	check(t, s, [][2]string{{"Notes?$select=id&$filter=startswith(name,'100% 299_')", "[299]"}, {"Notes?$select=id&$filter=startswith(name,'100% 77_')", "[77]"}})
}

// explained are query plan, notes and advice for a target.
func (s *shop) explained(t *testing.T, target string) (queryPlan, notes, advice string) {
	t.Helper()
	e := s.explain(t, target)
	for _, st := range e.Statements {
		queryPlan += strings.Join(st.QueryPlan, "\n")
	}
	return queryPlan, strings.Join(e.Notes, "\n"), strings.Join(e.Advice, "\n")
}
