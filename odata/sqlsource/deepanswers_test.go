package sqlsource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// deepAnswersDDL has a parent with rows of several sorts: those of kids are as they were written, loose has rows that name no parent,
// fired has a trigger. The keys of the
// last four come from the client.
const deepAnswersDDL = `CREATE TABLE parents (id {COUNT}, v VARCHAR(40));
CREATE TABLE kids (id {COUNT}, parent_id BIGINT NOT NULL REFERENCES parents(id), v VARCHAR(40) DEFAULT 'std', n DECIMAL(10,4));
CREATE TABLE loose (id {COUNT}, parent_id BIGINT NOT NULL, v VARCHAR(40));
CREATE TABLE fired (id {COUNT}, parent_id BIGINT NOT NULL REFERENCES parents(id), v VARCHAR(40));
CREATE TABLE named (id VARCHAR(40) NOT NULL PRIMARY KEY, parent_id BIGINT NOT NULL REFERENCES parents(id));
CREATE TABLE numbered (id BIGINT NOT NULL PRIMARY KEY, parent_id BIGINT NOT NULL REFERENCES parents(id), v VARCHAR(40));
CREATE TABLE own (id BIGINT NOT NULL PRIMARY KEY, v VARCHAR(40));
CREATE TABLE owned (id BIGINT NOT NULL PRIMARY KEY, own_id BIGINT NOT NULL REFERENCES own(id));
INSERT INTO loose (id, parent_id, v) VALUES (1, 1, 'before'), (2, 2, 'before'), (3, 3, 'before'), (4, 4, 'before'), (5, 5, 'before'), (6, 6, 'before')`

// firing is a trigger that changes a parent for each row of fired.
func firing(dialect string) []string {
	const update = "UPDATE parents SET v = 'changed' WHERE id = NEW.parent_id"
	if dialect == "postgres" {
		return []string{
			"CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN " + strings.ReplaceAll(update, "'", "''") + "; RETURN NEW; END'",
			"CREATE TRIGGER fire AFTER INSERT ON fired FOR EACH ROW EXECUTE FUNCTION fire()", "SELECT setval('loose_id_seq', 100)",
		}
	}
	return []string{"CREATE TRIGGER fire AFTER INSERT ON fired FOR EACH ROW BEGIN " + update + "; END"}
}

// The answer to an entity with others in its body is the one that a request for the entity has behind it.
func TestDeepAnswers(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			counted := map[string]string{"sqlite": "INTEGER PRIMARY KEY", "postgres": "bigserial PRIMARY KEY", "mysql": "BIGINT PRIMARY KEY AUTO_INCREMENT"}[dialect]
			db := database(t, dialect, strings.ReplaceAll(deepAnswersDDL, "{COUNT}", counted))
			for _, statement := range firing(dialect) {
				db.DB.MustExec(statement)
			}
			set := func(name string, navs ...sqlsource.Navigation) sqlsource.EntitySet {
				return sqlsource.EntitySet{Name: name, Table: strings.ToLower(name), Navigations: navs, Write: &sqlsource.Write{Create: true, Update: true}}
			}
			below := func(name, column string) sqlsource.Navigation {
				return sqlsource.Navigation{Name: strings.ToLower(name), To: name, Many: true, On: map[string]string{"id": column}}
			}
			s := serviceOf(t, open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				set("Parents", below("Kids", "parent_id"), below("Loose", "parent_id"), below("Fired", "parent_id"), below("Named", "parent_id"), below("Numbered", "parent_id")),
				set("Kids"), set("Loose"), set("Fired"), set("Named"), set("Numbered"), set("Own", below("Owned", "own_id")), set("Owned"),
			}}))
			for _, c := range []struct{ set, nav, body, has string }{
				{"Parents", "kids", `{"v":"a","kids":[{"v":"x","n":1.5},{},{"v":null}]}`, `"v":"std"`},
				{"Parents", "numbered", `{"numbered":[{"id":905,"v":"x"},{"id":903,"v":"y"},{"id":904}]}`, `"id":903,"parent_id":2`},
				{"Parents", "kids", `{"v":"\u00e4\"","kids":[` + strings.Repeat(`{"v":"many"},`, 249) + `{"v":"last"}]}`, `"kids@odata.nextLink"`},
				{"Parents", "loose", `{"loose":[{"v":"x"}]}`, `"v":"before"`},
				{"Parents", "fired", `{"v":"a","fired":[{"v":"x"},{"v":"y"}]}`, `"v":"changed"`},
				{"Parents", "named", `{"named":[{"id":"b"},{"id":"a"}]}`, `"named":[{`},
				{"Own", "owned", `{"id":5,"v":"o","owned":[{"id":2},{"id":1}]}`, `"owned":[{`},
			} {
				w := send(s, "POST "+c.set, c.body)
				made := w.Body.String()
				_, id, _ := strings.Cut(made, `"id":`)
				id, _, _ = strings.Cut(id, ",")
				got := send(s, fmt.Sprintf("GET %s(%s)?$expand=%s", c.set, id, c.nav), "").Body.String()
				if w.Code != 201 || entityIn(made) != entityIn(got) || !strings.Contains(made, c.has) {
					t.Errorf("%.60s: %d\n%.600s\n%.600s", c.body, w.Code, made, got)
				}
			}
		})
	}
}

// entityIn is an answer without its context.
func entityIn(answer string) string {
	_, entity, _ := strings.Cut(answer, ",")
	return entity
}
