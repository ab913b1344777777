package sqlsource_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// triggers of a table things: they write texts in capitals, note each change in a table of their own, which has its own counter, and refuse
// some values: with an error, with one of their own code, by passing over the row, and by a duplicate among the notes.
func triggers(dialect string) string {
	switch dialect {
	case "sqlite":
		return `CREATE TRIGGER a BEFORE INSERT ON things BEGIN SELECT RAISE(ABORT, 'secret') WHERE NEW.v = 'refuse'; SELECT RAISE(FAIL, 'secret') WHERE NEW.v = 'own'; SELECT RAISE(IGNORE) WHERE NEW.v = 'pass'; END;
CREATE TRIGGER b BEFORE UPDATE ON things BEGIN SELECT RAISE(ABORT, 'secret') WHERE NEW.v = 'refuse'; SELECT RAISE(ROLLBACK, 'secret') WHERE NEW.v = 'own'; SELECT RAISE(IGNORE) WHERE NEW.v = 'pass'; END;
CREATE TRIGGER c BEFORE DELETE ON things BEGIN SELECT RAISE(ABORT, 'secret') WHERE OLD.v = 'KEEP'; SELECT RAISE(IGNORE) WHERE OLD.v = 'STAY'; INSERT INTO log (v, k) SELECT 'x', 1 WHERE OLD.v = 'AGAIN'; END;
CREATE TRIGGER d AFTER INSERT ON things BEGIN INSERT INTO log (v, k) VALUES (NEW.v, CASE WHEN upper(NEW.v) = 'TWICE' THEN 1 END); UPDATE things SET v = upper(v) WHERE id = NEW.id; END;
CREATE TRIGGER e AFTER UPDATE ON things WHEN NEW.v <> upper(NEW.v) BEGIN INSERT INTO log (v, k) VALUES (NEW.v, CASE WHEN upper(NEW.v) = 'TWICE' THEN 1 END); UPDATE things SET v = upper(v) WHERE id = NEW.id; END`
	case "postgres":
		return `CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
	IF TG_OP = ''DELETE'' THEN IF OLD.v = ''KEEP'' THEN RAISE EXCEPTION ''secret''; ELSIF OLD.v = ''STAY'' THEN RETURN NULL; ELSIF OLD.v = ''AGAIN'' THEN INSERT INTO log (v, k) VALUES (''x'', 1); END IF; RETURN OLD; END IF;
	IF NEW.v = ''refuse'' THEN RAISE EXCEPTION ''secret''; ELSIF NEW.v = ''own'' THEN RAISE EXCEPTION ''secret'' USING ERRCODE = ''VS001''; ELSIF NEW.v = ''pass'' THEN RETURN NULL; END IF;
	INSERT INTO log (v, k) VALUES (NEW.v, CASE WHEN upper(NEW.v) = ''TWICE'' THEN 1 END); NEW.v = upper(NEW.v); RETURN NEW; END';
CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON things FOR EACH ROW EXECUTE FUNCTION changed()`
	}
	return `CREATE TRIGGER a BEFORE INSERT ON things FOR EACH ROW BEGIN
	IF NEW.v = 'refuse' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; ELSEIF NEW.v = 'own' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret', MYSQL_ERRNO = 31001; END IF; SET NEW.v = UPPER(NEW.v); END;
CREATE TRIGGER b BEFORE UPDATE ON things FOR EACH ROW BEGIN
	IF NEW.v = 'refuse' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; ELSEIF NEW.v = 'own' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret', MYSQL_ERRNO = 31001; END IF; SET NEW.v = UPPER(NEW.v); INSERT INTO log (v, k) VALUES (NEW.v, CASE WHEN upper(NEW.v) = 'TWICE' THEN 1 END); END;
CREATE TRIGGER c BEFORE DELETE ON things FOR EACH ROW BEGIN IF OLD.v = 'KEEP' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; ELSEIF OLD.v = 'AGAIN' THEN INSERT INTO log (v, k) VALUES ('x', 1); END IF; END;
CREATE TRIGGER d AFTER INSERT ON things FOR EACH ROW INSERT INTO log (v, k) VALUES (NEW.v, CASE WHEN upper(NEW.v) = 'TWICE' THEN 1 END)`
}

// The answer is the row as triggers have left it, and what a trigger refuses is 422 without a word of its own.
func TestTriggers(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			counted := map[string]string{"sqlite": "INTEGER PRIMARY KEY", "postgres": "bigserial PRIMARY KEY", "mysql": "BIGINT PRIMARY KEY AUTO_INCREMENT"}[dialect]
			db := database(t, dialect, "CREATE TABLE things (id "+counted+", v VARCHAR(40), w VARCHAR(40) UNIQUE);\nCREATE TABLE log (id "+counted+", v VARCHAR(40), k INTEGER UNIQUE);\n"+
				"INSERT INTO log (id, v, k) VALUES (1000, 'x', 1)")
			for _, statement := range strings.Split(triggers(dialect), ";\nCREATE") {
				if !strings.HasPrefix(statement, "CREATE") {
					statement = "CREATE" + statement
				}
				db.DB.MustExec(statement)
			}
			if dialect == "postgres" {
				db.DB.MustExec("SELECT setval('log_id_seq', 2000)")
			}
			s := serviceOf(t, open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Things", Table: "things", Write: &sqlsource.Write{Create: true, Update: true, Delete: true}}, {Name: "Log", Table: "log"},
			}}))
			for _, step := range []struct {
				request, body string
				status        int
				has           string
				passes        bool
			}{
				{"POST Things", `{"v":"one","w":"w1"}`, 201, `"id":1,"v":"ONE","w":"w1"}`, false},
				{"POST Things?$select=v", `{"v":"two","w":"w2"}`, 201, `"v":"TWO"}`, false},
				{"GET Things(2)", "", 200, `"id":2,"v":"TWO","w":"w2"}`, false},
				{"PATCH Things(2)", `{"v":"new"}`, 200, `"id":2,"v":"NEW","w":"w2"}`, false},
				{"PATCH Things(2)", `{"v":"NEW","w":"w2"}`, 200, `"id":2,"v":"NEW","w":"w2"}`, false},
				{"POST Things", `{"v":"refuse"}`, 422, `"code":"invalid_value"`, false},
				{"POST Things", `{"v":"own"}`, 422, `"code":"invalid_value"`, false},
				{"POST Things", `{"v":"pass"}`, 422, `"code":"invalid_value"`, true},
				{"POST Things", `{"v":"twice","w":"w3"}`, 422, `"code":"invalid_value"`, false},
				{"POST Things", `{"v":"three","w":"w1"}`, 409, `"target":"w"`, false},
				{"PATCH Things(2)", `{"v":"refuse"}`, 422, `"code":"invalid_value"`, false},
				{"PATCH Things(2)", `{"v":"own"}`, 422, `"code":"invalid_value"`, false},
				{"PATCH Things(2)", `{"v":"pass"}`, 422, `"code":"invalid_value"`, true},
				{"PATCH Things(2)", `{"v":"twice"}`, 422, `"code":"invalid_value"`, false},
				{"PATCH Things(2)", `{"w":"w1"}`, 409, `"target":"w"`, false},
				{"GET Things/$count?$filter=v%20in%20('ONE','NEW')", "", 200, "2", false},
				{"GET Things/$count", "", 200, "2", false},
				{"GET Log/$count?$filter=id%20gt%201000", "", 200, map[string]string{"sqlite": "3"}[dialect], false}, // whose trigger notes real changes alone
				{"PATCH Things(1)", `{"v":"keep"}`, 200, `"v":"KEEP"`, false},
				{"DELETE Things(1)", "", 422, `"code":"invalid_value"`, false},
				{"PATCH Things(1)", `{"v":"again"}`, 200, `"v":"AGAIN"`, false},
				{"DELETE Things(1)", "", 422, `"code":"invalid_value"`, false},
				{"PATCH Things(1)", `{"v":"stay"}`, 200, `"v":"STAY"`, true},
				{"DELETE Things(1)", "", 422, `"code":"invalid_value"`, true},
				{"DELETE Things(2)", "", 204, "", false},
				{"GET Things/$count", "", 200, "1", false},
			} {
				if dialect == "mysql" && step.passes { // over no row
					continue
				}
				w := send(s, step.request, step.body)
				if w.Code != step.status || !strings.Contains(w.Body.String(), step.has) || strings.Contains(w.Body.String(), "secret") ||
					step.status == 422 && strings.Contains(w.Body.String(), "target") {
					t.Errorf("%s %s: %d %s", step.request, step.body, w.Code, w.Body)
				}
			}
		})
	}
}
