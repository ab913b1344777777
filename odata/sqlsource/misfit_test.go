package sqlsource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestOneBadRow reads stored values that their declared type cannot hold: null where the property may be null, else the end
// of the answer, with set, key and column in the log.
func TestOneBadRow(t *testing.T) {
	for dialect, columns := range map[string]map[string]string{ // the column's type and its values, from row 2 on
		"sqlite": {
			"INTEGER": "'many'; 1.5; 'x' || 1", "BOOLEAN": "'perhaps'", "DATE": "'soon'; '12000-01-01'; '-0044-03-15'", "DATETIME": "'soon'; '12000-01-01 00:00:00'",
			"TIME": "'26:00:00'; 'noon'", "UUID": "'none'; X'00'", "DECIMAL(10,2)": "'a lot'", "DOUBLE": "'a lot'",
		},
		"postgres": {
			"date": "'infinity'; '-infinity'; '12000-01-01'; '0044-03-15 BC'", "timestamp": "'infinity'; '12000-01-01 00:00:00'; '0044-03-15 00:00:00 BC'",
			"timestamptz": "'infinity'; '-infinity'; '12000-01-01 00:00:00Z'; '0044-03-15 00:00:00Z BC'", "numeric(10,2)": "'NaN'", "numeric": "'NaN'", "time": "'24:00:00'", "interval": "'1 month'; '1 year -1 day'; '300000000 days'",
		},
		"mysql": {"TIME": "'26:00:00'; '-01:00:00'; '838:59:59'", "BIT(64)": "b'1111111111111111111111111111111111111111111111111111111111111111'", "DATE": "'0000-00-00'; '2024-00-00'", "DATETIME": "'0000-00-00 00:00:00'"},
	} {
		t.Run(dialect, func(t *testing.T) {
			script := ""
			if dialect == "mysql" {
				script = "SET sql_mode = '';\n"
			}
			var sets []sqlsource.EntitySet
			i := 0
			values := map[string]int{}
			for column, list := range columns {
				i++
				for _, null := range []string{"", " NOT NULL"} {
					name := fmt.Sprintf("t%d%d", i, len(null))
					script += fmt.Sprintf("CREATE TABLE %s (id INT PRIMARY KEY, v %s%s);\n", name, column, null)
					for j, v := range strings.Split(list, "; ") {
						script += fmt.Sprintf("INSERT INTO %s VALUES (%d, %s);\n", name, j+1, v)
						values[name] = j + 1
					}
					sets = append(sets, sqlsource.EntitySet{Name: name, Table: name, Description: column})
				}
			}
			s := open(t, database(t, dialect, strings.TrimSuffix(script, ";\n")), sqlsource.Config{Guard: edm.GuardNone, EntitySets: sets})
			for _, set := range sets {
				t.Run(set.Description+set.Name, func(t *testing.T) {
					got := s.get(set.Name)
					want := ""
					for id := range values[set.Name] {
						want += fmt.Sprintf("[%d,null]", id+1)
					}
					if strings.HasSuffix(set.Name, "9") {
						want = set.Name + "(1)/v: the stored value is no Edm."
					}
					if !strings.Contains(got, strings.Replace(want, "Edm.", "", 1)) {
						t.Errorf("got %s\nwant %s", got, want)
					}
					for _, f := range functionsOf(set.Description) {
						if strings.HasSuffix(set.Name, "9") {
							break
						}
						if got := s.get(set.Name + "?$select=id,z&$compute=" + f + " as z"); got != want {
							t.Errorf("%s gives %s, want %s", f, got, want)
						}
						if got := s.get(set.Name + "?$select=id&$filter=" + f + " ne null"); got != "" {
							t.Errorf("%s is not null in %s", f, got)
						}
					}
				})
			}
		})
	}
}

// functionsOf are expressions that compute with a column, which must not fail for what its type cannot hold.
func functionsOf(column string) []string {
	day := []string{"year(v)", "month(v)", "day(v)", "v add duration'-P3650000D'", "v sub duration'P1D'", "v sub 2024-01-01", "cast(v,Edm.String)", "cast(v,Edm.DateTimeOffset)", "case(id gt 0:v)"}
	clock := []string{"hour(v)", "minute(v)", "second(v)", "fractionalseconds(v)", "cast(v,Edm.String)", "v add duration'PT1H'", "v sub 12:00:00", "case(id gt 0:v)"}
	switch strings.ToLower(column) {
	case "date":
		return day
	case "timestamp", "timestamptz", "datetime":
		at := []string{"date(v)", "time(v)", "hour(v)", "second(v)", "fractionalseconds(v)", "totaloffsetminutes(v)", "cast(v,Edm.Date)", "cast(v,Edm.TimeOfDay)", "v sub now()", "cast(v,Edm.String)"}
		return append(at, day[:5]...)
	case "time":
		return clock
	case "interval":
		return []string{"totalseconds(v)", "v mul 2", "v div 2.5", "-v", "v add duration'P1D'", "cast(v,Edm.String)", "2024-01-01 add v", "now() sub v", "case(id gt 0:v)"}
	}
	return nil
}
