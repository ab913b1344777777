package sqlsource

import (
	"strings"

	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/introspect"
)

// edmType is the type of a column as declared.
func edmType(_ string, c *introspect.Column) edm.Type {
	return sqliteType(c)
}

// sqliteType reads a declared type with the tolerance of SQLite, where every integer has 64 bits and the rest are
// conventions.
func sqliteType(c *introspect.Column) edm.Type {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(c.Type, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("bool"):
		return edm.Of(edm.Boolean)
	case has("datetime", "timestamp"):
		return edm.Of(edm.DateTimeOffset)
	case c.Type == "date":
		return edm.Of(edm.Date)
	case c.Type == "time":
		return edm.Of(edm.TimeOfDay)
	case has("uuid", "guid", "uniqueidentifier"):
		return edm.Of(edm.Guid)
	case has("decimal", "numeric", "money"):
		return decimal(c)
	case has("char", "clob", "text", "string", "json", "xml"):
		t := edm.Of(edm.String)
		t.MaxLength = max(c.Length, 0)
		return t
	case has("int"):
		return edm.Of(edm.Int64)
	case has("real", "floa", "doub"):
		return edm.Of(edm.Double)
	case has("blob", "binary"):
		return edm.Of(edm.Binary)
	}
	return edm.Of(edm.String)
}

func decimal(c *introspect.Column) edm.Type {
	t := edm.Of(edm.Decimal)
	if c.Precision > 0 {
		t.Precision, t.Scale = c.Precision, max(c.Scale, 0)
	}
	return t
}
