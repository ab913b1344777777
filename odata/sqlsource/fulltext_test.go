package sqlsource_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestFullText holds that $search uses the full-text index that a table has, and no other column of it.
func TestFullText(t *testing.T) {
	rows := `;
INSERT INTO notes (id, title, body, secret) VALUES (1, 'Hammer time', 'A heavy tool', 'alpha'), (2, 'Saw', 'hammered flat', 'beta'),
	(3, 'Nails', 'for the hammer, of course', 'alpha'), (4, 'Go', 'ab', 'gamma')`
	scripts := map[string]string{
		"sqlite": `CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT, secret TEXT)` + rows + `;
CREATE VIRTUAL TABLE notes_fts USING fts5(title, body, secret, content='notes', content_rowid='id');
INSERT INTO notes_fts (notes_fts) VALUES ('rebuild')`,
		"postgres": `CREATE TABLE notes (id bigint PRIMARY KEY, title text, body text, secret text,
	words tsvector GENERATED ALWAYS AS (to_tsvector('english', title || ' ' || body)) STORED)` + rows,
		"mysql": `CREATE TABLE notes (id BIGINT PRIMARY KEY, title VARCHAR(80), body TEXT, secret TEXT, FULLTEXT (title, body))` + rows,
	}
	uses := map[string]string{"sqlite": "MATCH", "postgres": "@@", "mysql": "AGAINST"}
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			search := []string{"title", "body"}
			if d == "postgres" {
				search = []string{"words"}
			}
			s := open(t, database(t, d, scripts[d]), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Notes", Table: "notes", Hide: []string{"secret"}, Search: search},
			}})
			check(t, s, [][2]string{
				{"Notes?$select=id&$search=hammer", "[1][2][3]"},
				{"Notes?$select=id&$search=HAM", "[1][2][3]"},
				{"Notes?$select=id&$search=hammer AND NOT heavy", "[2][3]"},
				{"Notes?$select=id&$search=NOT hammer", "[4]"},
				{"Notes?$select=id&$search=saw OR nails", "[2][3]"},
				{"Notes?$select=id&$search=\"heavy tool\"", "[1]"},
				{"Notes?$select=id&$search=alpha", ""},
				{"Notes?$select=id&$search=ab", "[4]"},
				{"Notes?$select=id&$search=it's*\"", "400"},
				{"Notes/$count?$search=hammer flat", "1"},
			})
			if sql := s.explain(t, "Notes?$search=hammer").Statements[0].SQL; !strings.Contains(sql, uses[d]) {
				t.Errorf("the index is not used: %s", sql)
			}
		})
	}
}

// TestFullTextOfOddColumns holds that a "$" in the name of a searched column reaches FTS5 as it is.
func TestFullTextOfOddColumns(t *testing.T) {
	db := database(t, "sqlite", `CREATE TABLE notes (id INTEGER PRIMARY KEY, "a$1" TEXT);
INSERT INTO notes VALUES (1, 'Hammer time'), (2, 'Saw');
CREATE VIRTUAL TABLE notes_fts USING fts5("a$1", content='notes', content_rowid='id');
INSERT INTO notes_fts (notes_fts) VALUES ('rebuild')`)
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "notes", Search: []string{"a$1"}}}})
	check(t, s, [][2]string{{"Notes?$select=id&$search=hammer", "[1]"}})
}
