package sqlsource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestPoints holds that nothing but what is stored is shown of points: as text where the database has an exact one, and not at
// all, with a warning, where it has bytes of its own.
func TestPoints(t *testing.T) {
	t.Parallel()
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		db := database(t, "mysql", `CREATE TABLE places (id BIGINT PRIMARY KEY, at POINT NOT NULL, way LINESTRING, name VARCHAR(9), SPATIAL INDEX (at));
INSERT INTO places VALUES (1, POINT(1, 2), NULL, 'here')`)
		s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
		check(t, s, [][2]string{{"places", "[1,here]"}, {"places?$select=at", "400"}, {"places?$filter=at eq null", "400"}})
		want := []sqlsource.LeftOut{{Set: "places", Column: "at", Type: "point"}, {Set: "places", Column: "way", Type: "linestring"}}
		if diff := cmp.Diff(want, s.LeftOut()); diff != "" {
			t.Error(diff)
		}
		_, err := sqlsource.New(t.Context(), db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
			{Name: "places", Table: "places", Properties: []sqlsource.Property{{Column: "at", Name: "where"}}},
		}})
		if err == nil || !strings.Contains(err.Error(), `the column "at" is of type point, whose values cannot be shown`) {
			t.Errorf("a block that names the column gives %v", err)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := open(t, database(t, "postgres", `CREATE TABLE places (id bigint PRIMARY KEY, at point, area box, name text);
INSERT INTO places VALUES (1, point(1, 0.1), box(point(0,0), point(1,1)), 'here')`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
		check(t, s, [][2]string{
			{"places", "[1,(1,0.1),(1,1),(0,0),here]"},
			{"places?$filter=at eq '(1,0.1)'&$select=id", "[1]"},
			{"places?$filter=contains(at,'0.1')&$orderby=at&$select=id", "[1]"},
			{"places?$apply=groupby((at))", "[(1,0.1)]"},
		})
		if left := s.LeftOut(); len(left) > 0 {
			t.Errorf("%v", left)
		}
	})
}

// TestTimesWithOffsets holds that a time of day with an offset keeps it. OData has no such type, so it is text.
func TestTimesWithOffsets(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "postgres", `CREATE TABLE clocks (id bigint PRIMARY KEY, at timetz, fine timetz(3));
INSERT INTO clocks VALUES (1, '10:00:00+02', '10:00:00.1234+05:30'), (2, '10:00:00+00', NULL), (3, '24:00:00-08', '00:00+00')`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
	check(t, s, [][2]string{
		{"clocks", "[1,10:00:00+02,10:00:00.123+05:30][2,10:00:00+00,null][3,24:00:00-08,00:00:00+00]"},
		{"clocks?$filter=at eq '10:00:00+02'&$select=id", "[1]"},
		{"clocks?$filter=at eq 10:00:00", "400"},
		{"clocks?$orderby=at&$select=id", "[2][1][3]"},
		{"clocks?$apply=groupby((at))&$orderby=at desc&$top=1", "[24:00:00-08]"},
	})
}
