package sqlsource

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// retypes tells whether a database converts every value of a column to another type, without loss and without a fault that
// would end a whole page. SQLite has types of values and not of columns; there what does not fit is told row by row.
func retypes(dialect string, c *introspect.Column, found edm.Type, declared edm.Kind) bool {
	k, mysql := found.Kind, dialect == "mysql"
	if dialect == "sqlite" || k == declared || reads(k, declared) {
		return true
	}
	switch declared {
	case edm.String:
		return k != edm.Binary
	case edm.Boolean, edm.DateTimeOffset, edm.Decimal: // an instant is seconds since 1970
		return k.Integer()
	case edm.Duration: // seconds
		return k.Integer() || k == edm.Decimal || k.Floating() || mysql && k == edm.TimeOfDay
	case edm.Guid:
		return mysql && k == edm.Binary && c.Length == 16
	case edm.Single, edm.Double:
		return k.Floating() || k.Integer() && k != edm.Int64
	}
	exact := k == edm.Decimal && found.Scale == 0 && strings.Contains(c.Type, "int") // as bigint unsigned
	return (declared.Integer() || declared == edm.Enum) && (k.Integer() || exact || mysql && k == edm.Boolean)
}

// reads tells whether a column of texts can be declared to hold those of another type: each is then read by one rule on
// every database.
func reads(found, declared edm.Kind) bool {
	return found == edm.String && sqltext.ReadsText(declared)
}
