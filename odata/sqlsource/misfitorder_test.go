package sqlsource_test

import (
	"fmt"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestPagesKeepRowsOfNoOrder holds that pages behind a remembered place have the rows whose values are none of their type,
// which SQLite keeps in a column that allows no null. Such a row has no place among the others but the last.
func TestPagesKeepRowsOfNoOrder(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "sqlite", "CREATE TABLE days (id INTEGER PRIMARY KEY, day DATE NOT NULL, clock TIME NOT NULL, price DECIMAL_TEXT(9,2) NOT NULL);\n"+
		"INSERT INTO days VALUES (1, '2024-02-29', '10:00', '1.50'), (2, 'soon', 'noon', 'dear'), (3, '2024-03-01', '11:00', '2.50'), (4, '', '25:00', ''), (5, '2024-01-01', '09:00', '0.50')"),
		sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"days"}})
	for order, want := range map[string]string{
		"day": "[3][1][5][4][2]", "clock": "[3][1][5][4][2]", "price": "[3][1][5][4][2]", "price add 1": "[3][1][5][4][2]", "year(day)": "[5][3][1][4][2]",
	} {
		got := ""
		for skip := range 6 {
			got += s.get(fmt.Sprintf("days?$select=id&$orderby=%s desc,id desc&$top=1&$skip=%d", order, skip))
		}
		if got != want {
			t.Errorf("by %s: got %s, want %s", order, got, want)
		}
	}
}
