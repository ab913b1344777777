package sqlsource_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// Beginnings of scripts for PostgreSQL that make columns take spellings in other letters for equal.
const (
	anycase = "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n"
	citext  = "CREATE EXTENSION IF NOT EXISTS citext;\n"
)

// TestColumnsOfSeveralCollations holds that no answer depends on the collations that columns have. PostgreSQL and MariaDB take
// no two of them in one comparison, and PostgreSQL looks into no text by one that calls different texts equal.
func TestColumnsOfSeveralCollations(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ dialect, before, a, b string }{
		"the database's":   {"postgres", "", "text", "text"},
		"one of its own":   {"postgres", "", "text", `varchar(80) COLLATE "und-x-icu"`},
		"code points":      {"postgres", "", `text COLLATE "C"`, "text"},
		"two":              {"postgres", "", `text COLLATE "C"`, `text COLLATE "und-x-icu"`},
		"one by two names": {"postgres", "", `text COLLATE "C"`, `text COLLATE "POSIX"`},
		"any case beside":  {"postgres", anycase, "text COLLATE anycase", `text COLLATE "und-x-icu"`},
		"any case":         {"postgres", anycase, "text COLLATE anycase", "text COLLATE anycase"},
		"MariaDB":          {"mysql", "", "VARCHAR(80) COLLATE utf8mb4_general_ci", "VARCHAR(80) COLLATE utf8mb4_unicode_ci"},
		"MariaDB's sets":   {"mysql", "", "VARCHAR(80) CHARACTER SET latin1", "VARCHAR(80) COLLATE utf8mb4_bin"},
		"NOCASE":           {"sqlite", "", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, of.dialect, of.before+"CREATE TABLE words (id BIGINT PRIMARY KEY, a "+of.a+", b "+of.b+");\n"+
				"INSERT INTO words VALUES (1, 'Äpfel', 'Äp'), (2, 'straße', 'STRASSE'), (3, 'abc', 'ABC'), (4, 'a', 'a'), (5, NULL, 'b'), (6, 'Zug', 'abc')"), wordsConfig())
			for filter, want := range map[string]string{
				"contains(a,b)":                              "[1][4]",
				"contains(a,'bc')":                           "[3]",
				"not contains(a,b)":                          "[2][3][6]",
				"startswith(a,b)":                            "[1][4]",
				"startswith(a,'Ä')":                          "[1]",
				"endswith(a,b)":                              "[4]",
				"endswith(b,'C')":                            "[3]",
				"indexof(a,b) eq 0":                          "[1][4]",
				"a eq b":                                     "[4]",
				"a ne b":                                     "[1][2][3][5][6]",
				"a gt b":                                     "[1][2][3]",
				"a eq 'ABC'":                                 "",
				"concat(a,b) eq 'aa'":                        "[4]",
				"concat(a,b) ne concat(b,a)":                 "[1][2][3][6]",
				"substring(concat(a,b),1) eq b":              "[4]",
				"tolower(a) eq tolower(b)":                   "[3][4]",
				"toupper(a) eq 'ÄPFEL'":                      "[1]",
				"toupper(a) eq 'STRASSE'":                    "",
				"tolower(b) eq 'äp'":                         "[1]",
				"contains(tolower(a),tolower(b))":            "[1][3][4]",
				"tolower(concat(a,b)) eq 'äpfeläp'":          "[1]",
				"length(concat(a,b)) eq 2":                   "[4]",
				"case(id lt 4:a,true:b) eq 'abc'":            "[3][6]",
				"tolower(case(id lt 4:a,true:b)) eq 'äpfel'": "[1]",
				"matchesPattern(a,'^[a-z]*$')":               "[3][4]",
				"matchesPattern(concat(a,b),'^[a-z]*$')":     "[4]",
				"substring(a,1) eq substring(b,1)":           "[4]",
				"trim(a) eq trim(b)":                         "[4]",
			} {
				if got := s.get("Words?$select=id&$filter=" + filter); got != want {
					t.Errorf("%s: got %s, want %s", filter, got, want)
				}
			}
			for target, want := range map[string]string{
				"Words?$select=id&$orderby=a,b":                                        "[5][6][4][3][2][1]",
				"Words?$select=id&$orderby=concat(a,b)":                                "[5][6][4][3][2][1]",
				"Words?$select=id&$orderby=tolower(b) desc,id":                         "[1][2][5][3][6][4]",
				"Words?$select=id&$search=abc":                                         "[3][6]",
				"Words?$select=id,x&$compute=concat(a,b) as x&$filter=x eq 'aa'":       "[4,aa]",
				"Words?$select=id&$compute=concat(a,b) as x&$filter=x ne b":            "[1][2][3][4][5][6]",
				"Words?$select=id,x&$compute=tolower(a) as x&$orderby=x desc,b&$top=1": "[1,äpfel]",
				"Words?$apply=groupby((b),aggregate($count as n))&$orderby=b":          "[ABC,1][STRASSE,1][a,1][abc,1][b,1][Äp,1]",
				"Words?$apply=aggregate(a with max as m,b with min as n)":              "[Äpfel,ABC]",
				"Words?$apply=aggregate(b with countdistinct as m)":                    "[6]",
			} {
				if got := s.get(target); got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
			for target, want := range map[string]string{
				"Words?$select=id&$filter=likes/any(l:l/id eq 6)":                               "[3]",
				"Words?$select=id&$filter=likes/$count eq 1":                                    "[3][4]",
				"Words?$select=id&$filter=id eq 3&$expand=likes($select=id;$orderby=a)":         "[3 {[6]}]",
				"Words?$select=id&$filter=id gt 2&$expand=likes($top=1;$select=id;$count=true)": "[3 {[6]#1}][4 {[4]#1}][5 {#0}][6 {#0}]",
				"Words(3)/likes?$select=id":                                                     "[6]",
			} {
				if got := s.get(target); got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
		})
	}
}

// TestLinksBetweenCollations follows links through a table in between whose columns have other collations than the keys.
func TestLinksBetweenCollations(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ dialect, before, key, link string }{
		"two":      {"postgres", "", `text COLLATE "C"`, `text COLLATE "und-x-icu"`},
		"any case": {"postgres", anycase, "text", "text COLLATE anycase"},
		"citext":   {"postgres", citext, "citext", "citext"},
		"MariaDB":  {"mysql", "", "VARCHAR(40) COLLATE utf8mb4_general_ci", "VARCHAR(40) COLLATE utf8mb4_unicode_ci"},
		"NOCASE":   {"sqlite", "", "TEXT", "TEXT COLLATE NOCASE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, of.dialect, of.before+"CREATE TABLE tags (code "+of.key+" PRIMARY KEY);\nCREATE TABLE near (one "+of.link+", other "+of.link+");\n"+
				"INSERT INTO tags VALUES ('a'), ('b'), ('c');\nINSERT INTO near VALUES ('a', 'b'), ('a', 'c'), ('a', 'B'), ('b', 'c')"), sqlsource.Config{
				Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Tags", Table: "tags", Navigations: []sqlsource.Navigation{
					{Name: "near", To: "Tags", Many: true, Via: "near", FromKey: "one", ToKey: "other"},
				}}},
			})
			for target, want := range map[string]string{
				"Tags?$expand=near":                           "[a {[b][c]}][b {[c]}][c {}]",
				"Tags?$expand=near($top=1;$count=true)":       "[a {[b]#2}][b {[c]#1}][c {#0}]",
				"Tags('a')/near":                              "[b][c]",
				"Tags?$filter=near/any(n:n/code eq 'c')":      "[a][b]",
				"Tags?$filter=near/$count eq 0":               "[c]",
				"Tags?$orderby=near/$count desc&$top=2":       "[a][b]",
				"Tags('a')/near?$filter=near/any()":           "[b]",
				"Tags?$expand=near($filter=code ne 'c')":      "[a {[b]}][b {}][c {}]",
				"Tags('a')/near/$count":                       "2",
				"Tags?$filter=near/all(n:n/near/$count eq 0)": "[b][c]",
			} {
				if got := s.get(target); got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
		})
	}
}

// TestChildrenOfKeysInTwoSpellings reads the children of parents whose keys the children's column takes for equal: few of
// them, which are counted here, and so many that the database numbers them.
func TestChildrenOfKeysInTwoSpellings(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ dialect, before, key, link string }{
		"NOCASE":    {"sqlite", "", "TEXT", "TEXT COLLATE NOCASE"},
		"any case":  {"postgres", anycase, "text", "text COLLATE anycase"},
		"citext":    {"postgres", citext, "citext COLLATE \"C\"", "citext"},
		"one of it": {"postgres", citext, "text", "citext"},
		"MariaDB":   {"mysql", "", "VARCHAR(40) COLLATE utf8mb4_bin", "VARCHAR(40) COLLATE utf8mb4_general_ci"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			digits := "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
			s := open(t, database(t, of.dialect, of.before+"CREATE TABLE parents (id BIGINT PRIMARY KEY, code "+of.key+");\n"+
				"CREATE TABLE children (id BIGINT PRIMARY KEY, parent "+of.link+");\n"+
				"INSERT INTO parents VALUES (1, 'a'), (2, 'A'), (3, 'b');\n"+
				"INSERT INTO children SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d, CASE WHEN a.d < 3 THEN 'A' ELSE 'a' END FROM "+
				digits+" a, "+digits+" b, "+digits+" c, "+digits+" e WHERE e.d < 4"), sqlsource.Config{
				Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
					{Name: "Parents", Table: "parents", Navigations: []sqlsource.Navigation{
						{Name: "all", To: "Children", Many: true, On: map[string]string{"code": "parent"}},
					}},
					{Name: "Children", Table: "children"},
				},
			})
			for target, want := range map[string]string{
				"Parents?$select=id&$expand=all($top=2;$select=id)":                          "[1 {[3][4]}][2 {[0][1]}][3 {}]",
				"Parents?$select=id&$expand=all($top=2;$select=id;$count=true)":              "[1 {[3][4]#2800}][2 {[0][1]#1200}][3 {#0}]",
				"Parents?$select=id&$expand=all($skip=1198;$top=3;$select=id)":               "[1 {[1714][1715][1716]}][2 {[3991][3992]}][3 {}]",
				"Parents?$select=id&$filter=all/$count eq 1200":                              "[2]",
				"Parents?$select=id&$filter=all/any(c:c/id eq 3)":                            "[1]",
				"Parents?$select=id&$filter=all/all(c:c/id mod 10 lt 3)":                     "[2][3]",
				"Parents?$select=id&$orderby=all/$count desc":                                "[1][2][3]",
				"Parents(2)/all/$count":                                                      "1200",
				"Parents(2)/all?$select=id&$top=2&$orderby=id desc":                          "[3992][3991]",
				"Parents?$select=id&$filter=id gt 1&$expand=all($filter=id lt 5;$select=id)": "[2 {[0][1][2]}][3 {}]",
			} {
				if got := s.get(target); got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
		})
	}
}

// TestLetterCaseOfColumns maps letters by the collation of the database, where that maps each to one, and not by those of
// columns, of which C knows no letters beyond ASCII and those of ICU make two of one.
func TestLetterCaseOfColumns(t *testing.T) {
	t.Parallel()
	dsn := libcDatabase(t)
	db, err := sqlx.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.MustExec(`CREATE TABLE words (id bigint PRIMARY KEY, a text COLLATE "C", b text COLLATE "und-x-icu")`)
	db.MustExec("INSERT INTO words VALUES (1, 'Äpfel', 'Äp'), (2, 'straße', 'straße')")
	s := open(t, sqlsource.Database{Dialect: "postgres", DB: db, DSN: dsn}, wordsConfig())
	for options, want := range map[string]string{
		"$filter=tolower(a) eq 'äpfel'":                      "[1]",
		"$filter=toupper(b) eq 'STRASSE'":                    "",
		"$filter=contains(tolower(a),tolower(b))":            "[1][2]",
		"$filter=tolower(concat(a,b)) eq 'äpfeläp'":          "[1]",
		"$filter=tolower(case(id eq 1:a,true:b)) eq 'äpfel'": "[1]",
		"$search=ÄP":                          "[1]",
		"$orderby=toupper(a) desc,tolower(b)": "[1][2]",
		"$filter=toupper(a) eq toupper(b)&$orderby=tolower(b),id": "[2]",
	} {
		if got := s.get("Words?$select=id&" + options); got != want {
			t.Errorf("%s: got %s, want %s", options, got, want)
		}
	}
}

// libcDatabase is a database of PostgreSQL whose letters are those of the C library.
func libcDatabase(t *testing.T) string {
	t.Helper()
	dsn, err := url.Parse(dbtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlx.Open("pgx", dsn.String())
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(dsn.Path, "/") + "_libc"
	db.MustExec("CREATE DATABASE " + name + " LOCALE_PROVIDER libc LOCALE 'C.UTF-8' TEMPLATE template0")
	t.Cleanup(func() {
		db.MustExec("DROP DATABASE " + name + " WITH (FORCE)")
		_ = db.Close()
	})
	dsn.Path = "/" + name
	return dsn.String()
}

func wordsConfig() sqlsource.Config {
	return sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
		Name: "Words", Table: "words", Search: []string{"a", "b"}, Navigations: []sqlsource.Navigation{
			{Name: "likes", To: "Words", Many: true, On: map[string]string{"a": "b"}},
		},
	}}}
}
