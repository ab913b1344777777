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
			"timestamptz": "'infinity'; '-infinity'; '12000-01-01 00:00:00Z'; '0044-03-15 00:00:00Z BC'", "numeric(10,2)": "'NaN'", "numeric": "'NaN'", "time": "'24:00:00'",
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
				})
			}
		})
	}
}
