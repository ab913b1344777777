package sqlsource_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// columnTypes are the types of columns that are found, by dialect.
func columnTypes(dialect string) []string {
	switch dialect {
	case "sqlite":
		return []string{
			"INTEGER", "INT", "SMALLINT", "BIGINT", "BOOLEAN", "REAL", "DOUBLE PRECISION", "FLOAT", "DECIMAL(5,2)", "DECIMAL(10,5)", "NUMERIC", "MONEY", "TEXT", "CHAR(5)",
			"VARCHAR(5)", "JSON", "CLOB", "BLOB", "BINARY(5)", "DATE", "TIME", "DATETIME", "TIMESTAMP", "UUID", "STRING", "ENUM", "",
		}
	case "postgres":
		return []string{
			"boolean", "smallint", "integer", "bigint", "oid", "real", "double precision", "numeric", "numeric(5,2)", "numeric(5,0)", "numeric(3,5)", "numeric(5,-2)", "money",
			"text", "varchar", "varchar(5)", "char(5)", "char", "bpchar", `"char"`, "name", "json", "jsonb", "xml", "uuid", "date", "time", "time(0)", "time(3)", "timetz",
			"timestamp", "timestamp(0)", "timestamp(3)", "timestamptz", "timestamptz(0)", "interval", "interval(0)", "interval day", "interval year to month", "bytea",
			"bit", "bit(5)", "bit varying(5)", "bit varying", "inet", "cidr", "macaddr", "macaddr8", "point", "int4range", "tsvector", "tsquery", "int[]", "text[]", "varchar(1)[]",
			"color", "positive", "short", "pair", "pg_lsn", "jsonpath",
		}
	}
	return []string{
		"BOOLEAN", "TINYINT", "TINYINT UNSIGNED", "SMALLINT", "SMALLINT UNSIGNED", "MEDIUMINT", "MEDIUMINT UNSIGNED", "INT", "INT UNSIGNED", "INT(5) ZEROFILL", "BIGINT", "BIGINT UNSIGNED",
		"BIT(1)", "BIT(8)", "BIT(63)", "BIT(64)", "YEAR", "FLOAT", "FLOAT(7,3)", "FLOAT UNSIGNED", "DOUBLE", "DOUBLE(10,2)", "DOUBLE UNSIGNED", "DECIMAL(5,2)", "DECIMAL(5,0)", "DECIMAL(5,2) UNSIGNED", "DECIMAL(30,10)",
		"CHAR(5)", "CHAR", "CHAR(5) COLLATE utf8mb4_bin", "VARCHAR(5)", "VARCHAR(5) CHARACTER SET latin1", "VARCHAR(5) CHARACTER SET ascii", "VARCHAR(5) CHARACTER SET utf8mb3", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "TEXT CHARACTER SET latin1",
		"JSON", "ENUM('red','Green','a','')", "ENUM('a ','b''c')", "SET('a','b','Red')", "UUID", "INET4", "INET6", "DATE", "TIME", "TIME(3)", "TIME(6)", "DATETIME", "DATETIME(3)", "DATETIME(6)", "TIMESTAMP", "TIMESTAMP(3)", "TIMESTAMP(6)",
		"BINARY(5)", "VARBINARY(5)", "TINYBLOB", "BLOB",
	}
}

// sentValues are JSON values for a type of the model, among them many that some columns cannot hold.
func sentValues(k edm.Kind) []string {
	texts := func(list ...string) []string {
		for i := range list {
			list[i] = strconv.Quote(list[i])
		}
		return list
	}
	switch {
	case k == edm.Boolean:
		return []string{"true", "false"}
	case k.Integer():
		return strings.Fields(`0 1 -1 2 5 7 70 99 100 127 128 -128 255 256 1900 1901 2024 2155 2156 32767 32768 -32768 65535 65536 8388607 8388608 16777215 16777216 2147483647 2147483648
			4294967295 4294967296 9007199254740993 -9007199254740993 9223372036854775807 -9223372036854775808`)
	case k == edm.Decimal:
		return strings.Fields(`0 1 -1 0.5 1.5 1.25 0.001 0.00999 0.01 12345 99999 123.45 999.99 1000 100 1200 1234 1e2 18446744073709551615 18446744073709551616 0.123456789012345678
			12345678901234567890.5 92233720368547758.07 9007199254740993 9007199254740993.5 -0.00001`)
	case k.Floating():
		return append(strings.Fields(`0 1 -1 1.5 0.1 16777216 16777217 123456789 1e20 3.4e38 1e39 1e-50 1e308 1.005 12345.678 -5e-324`), texts("INF", "-INF", "NaN")...)
	case k == edm.Date:
		return texts("0001-01-01", "1000-01-01", "2024-02-29", "9999-12-31")
	case k == edm.TimeOfDay:
		return texts("00:00:00", "07:05", "23:59:59", "23:59:59.5", "12:00:00.123", "12:00:00.123456")
	case k == edm.DateTimeOffset:
		return texts("0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.5Z", "2024-02-29T23:59:59.1234Z",
			"2024-02-29T23:59:59.123456Z", "2024-03-31T01:30:00+01:00", "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z", "2038-01-19T03:14:07Z", "2038-01-19T03:14:07.5Z", "2038-01-19T03:14:08Z", "9999-12-31T23:59:59.999999Z")
	case k == edm.Duration:
		return texts("PT0S", "PT1S", "PT1.5S", "P1D", "P1DT1H", "-P1D", "PT36H", "PT0.000001S", "P400D", "PT838H", "PT839H", "P10000D")
	case k == edm.Guid:
		return texts("0a0b0c0d-0000-0000-0000-000000000001", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")
	case k == edm.Binary:
		return texts("", "AA", "AAA", "AAAA", "AAECAwQ", "AAECAwA", "AAECAwQF")
	}
	return texts("", "a", "A", "red", "Red", "RED", "green", "Green", "red ", "a ", " a", "a  ", "abc", "abcde", "abcde ", "abcdefgh", "ä", "äöüßé", "я", "€", "𝄞", "1", "01", "1.0", "1e2", "-0", "true", "t", "b'c", "é", "e\u0301",
		`{"b":1,"a":2}`, `{"a": 2, "b": 1}`, `{"a":1.50,"a":2}`, `[1,2]`, `[1, 2]`, `{1,2}`, `{a,b}`, `{ a , b }`, `{ab}`, `<a/>`, `<?xml version="1.0" encoding="UTF-8"?><a/>`, "101", "10101", "101010", "0", "00000",
		"10.0.0.1", "10.0.0.1/32", "10.0.0.0/8", "10.1.0.0/8", "::0001", "::1", "08-00-2b-01-02-03", "08:00:2b:01:02:03", "08:00:2b:ff:fe:01:02:03", "(1,2)", "( 1, 2 )", "[1,5)", "[1,4]", "12:00:00+02", "12:00+02:00",
		"a b", "'a' 'b'", "'b' 'a'", "'a' & 'b'", "a,b", "b,a", "a,a", "a,Red", "2024-02-29", "1 day", "2 years 3 mons", "16/B374D848", "016/B374D848", "$.a", `$."a"`, "a\nb", "\ttab", "0a0b0c0d-0000-0000-0000-000000000001",
		strings.Repeat("x", 300), strings.Repeat("ä", 200), strings.Repeat("x", 250)+strings.Repeat(" ", 5), strings.Repeat("ä", 127)+"   ")
}

// sameValue reports whether two JSON values are one of a type.
func sameValue(t *testing.T, k edm.Kind, sent, read string) bool {
	t.Helper()
	unquote := func(s string) string {
		var out string
		if json.Unmarshal([]byte(s), &out) != nil {
			return s
		}
		return out
	}
	a, b := unquote(sent), unquote(read)
	switch {
	case k == edm.Decimal || k.Integer():
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		return okX && okY && x.Cmp(y) == 0
	case k.Floating() && sent[0] != '"':
		bits := map[edm.Kind]int{edm.Single: 32, edm.Double: 64}[k]
		x, errX := strconv.ParseFloat(a, bits)
		y, errY := strconv.ParseFloat(b, bits)
		return errX == nil && errY == nil && x == y
	case k == edm.Guid:
		return strings.EqualFold(a, b)
	case k == edm.DateTimeOffset:
		x, errX := time.Parse(time.RFC3339Nano, a)
		y, errY := time.Parse(time.RFC3339Nano, b)
		return errX == nil && errY == nil && x.Equal(y)
	case k == edm.Duration:
		x, okX := scalar.Micros(a)
		y, okY := scalar.Micros(b)
		return okX && okY && x == y
	case k == edm.TimeOfDay && len(a) == len("07:05"):
		return a+":00" == b
	}
	return a == b
}

// A column of any type returns each value as it was sent, or the answer is 400 with the property: nothing is altered on the way.
func TestColumnsKeepWhatIsSent(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			script := ""
			if dialect == "postgres" {
				script = `CREATE TYPE color AS ENUM ('red', 'Green', 'a');
CREATE DOMAIN positive AS numeric(5,2) CHECK (value > 0);
CREATE DOMAIN short AS varchar(5);
CREATE TYPE pair AS (a int, b text);
`
			}
			cfg := sqlsource.Config{Guard: edm.GuardNone}
			types := columnTypes(dialect)
			for i, typ := range types {
				script += fmt.Sprintf("CREATE TABLE t%d (id BIGINT NOT NULL PRIMARY KEY, v %s NULL);\n", i, typ)
				cfg.EntitySets = append(cfg.EntitySets, sqlsource.EntitySet{Name: fmt.Sprint("T", i), Table: fmt.Sprint("t", i), Write: &sqlsource.Write{Create: true, Update: true}})
			}
			source := open(t, database(t, dialect, script), cfg)
			s := serviceOf(t, source)
			for i, typ := range types {
				set := fmt.Sprint("T", i)
				k := source.Model().Set(set).Type.Property("v").Type.Kind
				kept := 0
				for n, sent := range sentValues(k) {
					if keepsSent(t, s, set, typ+" "+k.String(), n, k, sent) {
						kept++
					}
				}
				if kept == 0 {
					t.Errorf("%s (%s) has kept no value", typ, k)
				}
			}
		})
	}
}

// keepsSent reports whether a value was taken; it must then be the one that is read.
func keepsSent(t *testing.T, s http.Handler, set, typ string, id int, k edm.Kind, sent string) bool {
	t.Helper()
	w := send(s, "POST "+set, fmt.Sprintf(`{"id":%d,"v":%s}`, id, sent))
	switch {
	case w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), `"target":"v"`):
		return false
	case w.Code == http.StatusUnprocessableEntity && strings.HasPrefix(typ, "positive "): // whose check the database names no column of
		return false
	case w.Code == http.StatusUnprocessableEntity && strings.HasPrefix(typ, "JSON ") && strings.Contains(w.Body.String(), `"target":"v"`): // the check of MariaDB
		return false
	case w.Code != http.StatusCreated:
		t.Errorf("%s: %s gives %d %s", typ, sent, w.Code, w.Body)
		return false
	}
	for _, answer := range []string{w.Body.String(), send(s, fmt.Sprintf("GET %s(%d)", set, id), "").Body.String()} {
		var row struct {
			V json.RawMessage `json:"v"`
		}
		if err := json.Unmarshal([]byte(answer), &row); err != nil || !sameValue(t, k, sent, string(row.V)) {
			t.Errorf("%s: %s was taken, and %s is read (%v)", typ, sent, row.V, err)
			return slices.Contains([]string{"null"}, string(row.V))
		}
	}
	return true
}
