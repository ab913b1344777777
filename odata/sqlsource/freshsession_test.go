package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestFreshSessions holds that the first statement of a session of MariaDB, which has no variables yet, computes as all
// others do.
func TestFreshSessions(t *testing.T) {
	t.Parallel()
	db := database(t, "mysql", "CREATE TABLE things (id BIGINT PRIMARY KEY, m BIGINT, f DOUBLE);\n"+
		"INSERT INTO things VALUES (1, 5, 1e300), (2, -1, 2.5), (3, 0, 0), (4, 7, 1e-7), (5, NULL, 1)")
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
	db.DB.SetMaxIdleConns(-1) // none is used again
	for computed, want := range map[string]string{
		"round(ceiling(cast(m,Edm.Int32))) div (round(cast(f,Edm.Single)) mod (1.10 divby f))": "[null][-2.7777777777777803][null][null][null]",
		"m div (f mod (1.10 divby (f mul 1e0)))":                                               "[1.2922336703867702e+302][-3.3333333333333366][null][7e+07][null]",
	} {
		if got := s.get("things?$select=z&$compute=" + computed + " as z&$orderby=id"); got != want {
			t.Errorf("%s: got %s, want %s", computed, got, want)
		}
	}
}
