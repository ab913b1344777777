package sqlsource_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// partsSQLite is a table with an index of parts; what stands in braces is put in its place by the cases of tests.
const partsSQLite = `CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT, "a b" VARCHAR(80), other TEXT, n INTEGER{columns});
CREATE VIRTUAL TABLE "notes parts" USING fts5(name, "a b", content='notes', content_rowid='id', tokenize='trigram'{options});
CREATE TRIGGER notes_ai AFTER INSERT ON notes BEGIN INSERT INTO "notes parts" (rowid, name, "a b") VALUES (new.id, new.name, new."a b"); END;
CREATE TRIGGER IF NOT EXISTS main.notes_ad /* here */ AFTER DELETE ON "notes" FOR EACH ROW BEGIN
	INSERT INTO [notes parts] ("notes parts", rowid, name, "a b") -- gone
	VALUES ('delete', old.rowid, old.name, old."a b"); END;
CREATE TRIGGER notes_au after update{of} ON notes BEGIN
	insert into "notes parts"("notes parts", rowid, name, "a b") VALUES('delete', old.id, old.name, old."a b"); INSERT INTO "notes parts" (rowid, name, "a b") VALUES (new.id, {new}, new."a b"); END;
{more}INSERT INTO notes (id, name, "a b", other, n) WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {rows})
	SELECT n, 'Äpfel 100% ' || n || '_x"', CASE n % 2 WHEN 1 THEN 'odd ' || n END, 'x ' || n, n FROM s`

// sqliteParts makes that database; changes are pairs of what stands in braces and what takes its place.
func sqliteParts(t *testing.T, changes ...string) sqlsource.Database {
	t.Helper()
	defaults := []string{"{columns}", "", "{options}", "", "{of}", "", "{new}", "new.name", "{more}", "", "{rows}", "5000"}
	script := partsSQLite
	for i := 0; i < len(changes); i += 2 {
		script = strings.Replace(script, changes[i], changes[i+1], 1)
	}
	return database(t, "sqlite", strings.NewReplacer(defaults...).Replace(script))
}

func openParts(t *testing.T, db sqlsource.Database) *shop {
	t.Helper()
	return open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "notes", Search: []string{"name", "a b"}}}})
}

// TestPartsOnSQLite holds which conditions ask a table of trigrams, and that no row is lost.
func TestPartsOnSQLite(t *testing.T) {
	s := openParts(t, sqliteParts(t))
	for _, c := range []struct {
		query string
		asks  bool
		want  string
	}{
		{"$filter=contains(name,'100% 77_')", true, "[77]"},
		{"$filter=contains(name,'7_x\"')&$top=2", true, "[7][17]"},
		{"$filter=contains(name,'7_')&$top=2", false, "[7][17]"},
		{"$filter=contains(name,'pfel')&$top=2", false, "[1][2]"}, // in every row
		{"$filter=contains(name,'pfel') and contains(name,'4999')", true, "[4999]"},
		{"$filter=contains(name,'4999') or contains(a_b,'4997')", true, "[4997][4999]"},
		{"$filter=contains(name,'4999') or contains(other,'4997')", false, "[4997][4999]"},
		{"$filter=contains(name,'4999') or n eq 7", false, "[7][4999]"},
		{"$filter=contains(name,'4999') and n eq 7", true, ""},
		{"$filter=not contains(name,'pfel')", false, ""},
		{"$filter=endswith(name,'4999_x\"')", true, "[4999]"},
		{"$filter=startswith(name,'Äpfel 100% 4999')", true, "[4999]"},
		{"$filter=matchesPattern(name,'4999.x')", true, "[4999]"},
		{"$filter=contains(tolower(name),'äpfel 100% 77_')", true, "[77]"},
		{"$filter=contains(tolower(name),'ÄPFEL 100% 77_')", false, ""},
		{"$filter=contains(name,'nobody')", true, ""},
		{"$filter=contains(name,'4999')&$count=true", true, "[4999]#1"},
		{"$filter=contains(name,'999_')&$orderby=n desc", true, "[4999][3999][2999][1999][999]"},
		{"$filter=contains(name,'999_')&$orderby=n desc&$skip=1&$top=2", true, "[3999][2999]"},
		{"$search=4999", true, "[4999]"},
		{"$search=ÄPFEL AND \"odd 4997\"", true, "[4997]"},
		{"$search=4999 NOT odd", true, ""},
		{"$search=4999 OR x", false, ""},
	} {
		target := "Notes?$select=id&" + c.query
		if c.want == "" && strings.Contains(c.query, " OR x") {
			c.want = s.get("Notes?$select=id&$top=200&$search=x") + "+"
		}
		if got := s.get(target); got != c.want && got+"+" != c.want {
			t.Errorf("%s: %.200s, want %.200s", c.query, got, c.want)
		}
		plan, notes, _ := s.explained(t, target)
		if asks := strings.Contains(plan, "LIST SUBQUERY"); asks != c.asks {
			t.Errorf("%s asks the index: %v\n%s\n%s", c.query, asks, plan, notes)
		}
		if frequent := strings.HasPrefix(c.query, "$filter=contains(name,'pfel')&"); frequent != strings.Contains(notes, "preferred another way") && (frequent || c.asks) {
			t.Errorf("%s: %s", c.query, notes)
		}
	}
	for target, want := range map[string]string{"Notes/$count?$filter=contains(name,'4999')": "1", "Notes/$count?$filter=contains(name,'pfel')": "5000"} {
		if got := s.get(target); got != want {
			t.Errorf("%s: %s", target, got)
		}
	}
}

// TestPartsInOneCase holds that a table of trigrams that tells cases apart is not asked for texts in any case.
func TestPartsInOneCase(t *testing.T) {
	s := openParts(t, sqliteParts(t, "tokenize='trigram'", "tokenize='trigram case_sensitive 1'", "{rows}", "50"))
	for _, target := range []string{"Notes?$select=id&$filter=contains(tolower(name),'äpfel 100% 7_')", "Notes?$select=id&$filter=contains(name,'Äpfel 100% 7_')"} {
		if got := s.get(target); got != "[7]" {
			t.Errorf("%s: %s", target, got)
		}
	}
	if plan, _, _ := s.explained(t, "Notes?$select=id&$filter=contains(name,'Äpfel 100% 7_')"); !strings.Contains(plan, "LIST SUBQUERY") {
		t.Errorf("it is not asked for texts in their case: %s", plan)
	}
}

// TestPartsThatMayMissRows holds that a table of trigrams is asked only where triggers keep it in step, and that
// `vestibule odata explain` says what is wrong.
func TestPartsThatMayMissRows(t *testing.T) {
	const other = `CREATE TRIGGER zz AFTER UPDATE ON notes BEGIN UPDATE owners SET name = 'x'; END;
`
	for name, c := range map[string]struct {
		change []string
		why    string
	}{
		"right":                   {nil, ""},
		"case":                    {[]string{"{options}", ", tokenize='trigram case_sensitive 1'", ", tokenize='trigram'", ""}, ""},
		"by a reference":          {[]string{"{columns}", ", owner INTEGER REFERENCES owners (id) ON UPDATE CASCADE"}, ""},
		"to itself":               {[]string{"{columns}", ", up INTEGER REFERENCES notes (id) ON DELETE CASCADE"}, ""},
		"to itself, on update":    {[]string{"{columns}", ", up INTEGER REFERENCES notes (id) ON UPDATE CASCADE"}, "refers to itself"},
		"no accents":              {[]string{"{options}", "", "tokenize='trigram'", "tokenize='trigram remove_diacritics 1'"}, "remove_diacritics"},
		"no positions":            {[]string{"{options}", ", detail=none"}, "detail"},
		"no sizes":                {[]string{"{options}", ", columnsize=0"}, "columnsize"},
		"an own column":           {[]string{"{options}", ", more UNINDEXED"}, "UNINDEXED"},
		"some updates":            {[]string{"{of}", " OF name"}, "notes_au"},
		"some rows":               {[]string{"ON notes BEGIN\n\tinsert", "ON notes WHEN new.n > 7 BEGIN\n\tinsert"}, "notes_au"},
		"another text":            {[]string{"{new}", "upper(new.name)"}, "notes_au"},
		"another column":          {[]string{"{new}", "new.other"}, "notes_au"},
		"too early":               {[]string{"AFTER DELETE", "BEFORE DELETE"}, "notes_ad"},
		"a trigger is missing":    {[]string{"CREATE TRIGGER notes_ai AFTER INSERT ON notes", "CREATE TRIGGER notes_ai AFTER INSERT ON owners", "(new.id, new.name, new.\"a b\"); END", "(new.id, new.name, 'x'); END"}, "lacks triggers"},
		"another trigger":         {[]string{"{more}", other}, "zz"},
		"a trigger behind a key":  {[]string{"{more}", "CREATE TABLE lines (note INTEGER REFERENCES notes (id) ON DELETE SET NULL);\nCREATE TRIGGER zz AFTER UPDATE ON lines BEGIN UPDATE notes SET name = 'x'; END;\n"}, "zz"},
		"another rowid":           {[]string{"content_rowid='id'", "content_rowid='n'"}, "content_rowid"},
		"no rowid":                {[]string{"n INTEGER{columns})", "n INTEGER) WITHOUT ROWID", "old.rowid", "old.id"}, "INTEGER PRIMARY KEY"},
		"no number":               {[]string{"notes (id INTEGER PRIMARY KEY", "notes (id INT PRIMARY KEY"}, "INTEGER PRIMARY KEY"},
		"a number, not a text":    {[]string{"\"a b\" VARCHAR(80), other", "\"a b\" INTEGER, other"}, "no column of texts"},
		"names that look like it": {[]string{"{new}", "new.\"name , new . name\"", ", n INTEGER", ", n INTEGER, \"name , new . name\" TEXT"}, "notes_au"},
	} {
		t.Run(name, func(t *testing.T) {
			db := sqliteParts(t, append(c.change, "{rows}", "50")...)
			_, notes, advice := openParts(t, db).explained(t, "Notes?$filter=contains(name,'4999')")
			if c.why == "" && !strings.Contains(notes, "asks the full-text table") || !strings.Contains(notes, c.why) || advice != "" {
				t.Errorf("%q, %q, want %q", notes, advice, c.why)
			}
		})
	}
	t.Run("rows from before", func(t *testing.T) {
		db := sqliteParts(t, "{rows}", "50")
		db.DB.MustExec(`INSERT INTO "notes parts" ("notes parts") VALUES ('delete-all')`)
		_, notes, _ := openParts(t, db).explained(t, "Notes?$filter=contains(name,'4999')")
		if !strings.Contains(notes, "is not relied on: rows of notes are not in it") {
			t.Error(notes)
		}
		db.DB.MustExec(`INSERT INTO "notes parts" ("notes parts") VALUES ('rebuild')`)
		if _, notes, _ = openParts(t, db).explained(t, "Notes?$filter=contains(name,'4999')"); !strings.Contains(notes, "asks the full-text") {
			t.Error(notes)
		}
	})
}

// TestPartsFollowTheSchema holds that an index whose triggers are dropped below a running source is not asked any more.
func TestPartsFollowTheSchema(t *testing.T) {
	db := sqliteParts(t, "{rows}", "50")
	s := openParts(t, db)
	for _, statement := range []string{
		`UPDATE notes SET name = 'needle' WHERE id = 1`,
		`INSERT OR REPLACE INTO notes (id, name) VALUES (2, 'needle')`,
		`INSERT INTO notes (id, name) VALUES (3, 'other') ON CONFLICT (id) DO UPDATE SET name = 'needle'`,
		`DELETE FROM notes WHERE id = 4`, `INSERT INTO notes (id, name) VALUES (4, 'needle')`,
		`UPDATE OR REPLACE notes SET id = 6 WHERE id = 3`,
		`UPDATE notes SET id = 9000 + id WHERE id > 3 AND id < 10`,
	} {
		db.DB.MustExec(statement)
	}
	const target = "Notes?$select=id&$filter=contains(name,'needle')"
	if got := s.get(target); got != "[1][2][9004][9006]" {
		t.Error(got)
	}
	db.DB.MustExec(`DROP TRIGGER notes_au`)
	db.DB.MustExec(`UPDATE notes SET name = 'needle' WHERE id = 10`)
	if got := s.get(target); got != "[1][2][10][9004][9006]" {
		t.Errorf("without the trigger: %s", got)
	}
}

// TestPartsOfAnotherFile holds that nothing is taken to be in the index of a file that was renamed over the database, though its
// schema has the same number.
func TestPartsOfAnotherFile(t *testing.T) {
	db, other := sqliteParts(t, "{rows}", "50"), sqliteParts(t, "{rows}", "50")
	s := openParts(t, db)
	const target = "Notes?$select=id&$filter=contains(name,'needle')"
	if got := s.get(target); got != "" {
		t.Fatal(got)
	}
	other.DB.MustExec(`UPDATE notes SET name = 'needle' WHERE id = 7`)
	other.DB.MustExec(`INSERT INTO "notes parts" ("notes parts") VALUES ('delete-all')`)
	if err := errors.Join(db.DB.Close(), other.DB.Close(), os.Rename(other.DSN, db.DSN)); err != nil {
		t.Fatal(err)
	}
	if got := s.get(target); got != "[7]" {
		t.Errorf("of the other file: %q", got)
	}
}

// TestAdvisedParts holds that what `vestibule odata explain` prints makes an index that is asked.
func TestAdvisedParts(t *testing.T) {
	db := database(t, "sqlite", `CREATE TABLE "my notes" (id INTEGER PRIMARY KEY, "the name" TEXT, "a$1" TEXT);
INSERT INTO "my notes" VALUES (1, 'needle', NULL), (2, 'other', NULL), (4, NULL, 'needles')`)
	cfg := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "my notes"}}}
	const target = "Notes?$select=id&$filter=contains(the_name,'need') or contains(a_1,'need') or startswith(a_1,'need')"
	_, _, advice := open(t, db, cfg).explained(t, target)
	db.DB.MustExec(advice)
	s := open(t, db, cfg)
	plan, notes, _ := s.explained(t, target)
	if !strings.Contains(plan, "LIST SUBQUERY") || strings.Count(notes, "asks the full-text table") != 2 {
		t.Errorf("%s\n%s\n%s", advice, notes, plan)
	}
	db.DB.MustExec(`INSERT INTO "my notes" VALUES (3, 'needles', 'x')`)
	if got := s.get(target); got != "[1][3][4]" {
		t.Error(got)
	}
}

// TestPartsInAnyCase holds for every letter with a small one that tolower finds it by the index, too: the trigrams follow
// another version of Unicode.
func TestPartsInAnyCase(t *testing.T) {
	db := sqliteParts(t, "{rows}", "3")
	tx := db.DB.MustBegin()
	of := map[rune]string{}
	for r := range rune(0x1ffff) {
		small := unicode.ToLower(r)
		if small == r || !utf8.ValidRune(r) {
			continue
		}
		for i, letter := range []rune{small, r} {
			if i == 0 && of[small] != "" {
				continue
			}
			id := 2*int64(r) + int64(i)
			tx.MustExec(`INSERT INTO notes (id, name) VALUES (?, ?)`, id, "xy"+string(letter)+"z")
			of[small] += fmt.Sprintf("[%d]", id)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	s := openParts(t, db)
	for small, want := range of {
		if got := s.get("Notes?$select=id&$filter=contains(tolower(name),'xy" + string(small) + "z')"); got != want {
			t.Errorf("%c (%U): %s, want %s", small, small, got, want)
		}
	}
}
