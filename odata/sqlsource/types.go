package sqlsource

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// edmType is the type of a column as declared.
func edmType(dialect string, c *introspect.Column) edm.Type {
	switch dialect {
	case "postgres":
		return postgresType(c)
	case "mysql":
		return mysqlType(c)
	}
	return sqliteType(c)
}

// sqliteType reads a declared type with the tolerance of SQLite, where every integer has 64 bits and the rest are
// conventions.
func sqliteType(c *introspect.Column) edm.Type {
	has := func(parts ...string) bool { return holds(c.Type, parts...) }
	switch {
	case has("bool"):
		return edm.Of(edm.Boolean)
	case has("datetime", "timestamp"):
		return edm.Type{Kind: edm.DateTimeOffset, Precision: fraction}
	case c.Type == "date":
		return edm.Of(edm.Date)
	case c.Type == "time":
		return edm.Type{Kind: edm.TimeOfDay, Precision: fraction}
	case has("uuid", "guid", "uniqueidentifier"):
		return edm.Of(edm.Guid)
	case has("decimal", "numeric", "money"):
		return decimal(c)
	case has("char", "clob", "text", "string", "json", "xml"):
		return text(c)
	case has("int"):
		return edm.Of(edm.Int64)
	case has("real", "floa", "doub"):
		return edm.Of(edm.Double)
	case has("blob", "binary"):
		return edm.Of(edm.Binary)
	}
	return edm.Of(edm.String)
}

// fraction is how many digits of a second are sent at most.
const fraction = 6

// temporal is a type with as many digits of a second as the column has.
func temporal(k edm.Kind, c *introspect.Column) edm.Type {
	t := edm.Type{Kind: k, Precision: fraction}
	if c.Precision >= 0 {
		t.Precision = min(c.Precision, fraction)
	}
	return t
}

func decimal(c *introspect.Column) edm.Type {
	t := edm.Of(edm.Decimal)
	if c.Precision > 0 {
		scale := c.Scale
		if c.Cast == "" { // another database than PostgreSQL, whose scales may be negative, and greater than the precision
			scale = max(scale, 0)
		}
		t.Precision, t.Scale = max(c.Precision, scale, c.Precision-scale), max(scale, 0)
	}
	return t
}

func text(c *introspect.Column) edm.Type {
	t := edm.Of(edm.String)
	t.MaxLength = max(c.Length, 0)
	return t
}

func postgresType(c *introspect.Column) edm.Type {
	kind := map[string]edm.Kind{
		"boolean": edm.Boolean, "smallint": edm.Int16, "integer": edm.Int32, "bigint": edm.Int64, "oid": edm.Int64,
		"real": edm.Single, "double precision": edm.Double, "uuid": edm.Guid, "date": edm.Date, "bytea": edm.Binary,
	}[c.Type]
	if kind != edm.Invalid {
		return edm.Of(kind)
	}
	switch c.Type {
	case "numeric":
		return decimal(c)
	case "money":
		return edm.Type{Kind: edm.Decimal, Precision: 19, Scale: 2}
	case "timestamp with time zone", "timestamp without time zone":
		return temporal(edm.DateTimeOffset, c)
	case "time without time zone":
		return temporal(edm.TimeOfDay, c)
	case "interval":
		return temporal(edm.Duration, c)
	}
	return text(c) // whatever it is, PostgreSQL can write it as text; a time of day with an offset has no type in OData
}

func mysqlType(c *introspect.Column) edm.Type {
	kind := map[string]edm.Kind{
		"boolean": edm.Boolean, "tinyint": edm.SByte, "tinyint unsigned": edm.Byte, "smallint": edm.Int16, "year": edm.Int16,
		"smallint unsigned": edm.Int32, "mediumint": edm.Int32, "mediumint unsigned": edm.Int32, "int": edm.Int32,
		"int unsigned": edm.Int64, "bigint": edm.Int64, "bit": edm.Int64, "float": edm.Single, "float unsigned": edm.Single,
		"double": edm.Double, "double unsigned": edm.Double, "uuid": edm.Guid, "date": edm.Date, "binary": edm.Binary, "varbinary": edm.Binary,
		"tinyblob": edm.Binary, "blob": edm.Binary, "mediumblob": edm.Binary, "longblob": edm.Binary,
	}[c.Type]
	if kind != edm.Invalid {
		return edm.Of(kind)
	}
	switch c.Type {
	case "bigint unsigned":
		return edm.Type{Kind: edm.Decimal, Precision: 20}
	case "decimal", "decimal unsigned":
		return decimal(c)
	case "datetime", "timestamp":
		return temporal(edm.DateTimeOffset, c)
	case "time":
		return temporal(edm.TimeOfDay, c)
	}
	return text(c)
}

// retypes reports whether a database converts every value of a column to another type, without loss and without a fault that
// would end a whole page. SQLite has types of values and not of columns; there what does not fit is found row by row.
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

// reads reports whether a column of texts can be declared to hold those of another type: each is then read by one rule on
// every database.
func reads(found, declared edm.Kind) bool {
	return found == edm.String && sqltext.ReadsText(declared)
}
