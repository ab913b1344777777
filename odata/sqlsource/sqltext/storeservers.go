package sqltext

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

func (d postgres) store(c *Column, t edm.Type, v plan.Value) (frag, bool) {
	s, whole := string(v.Bytes), isWhole(c.Type)
	as := func(cast string, v any) frag { return frag{cast, []any{v}} }
	switch k := t.Kind; {
	case k == edm.Boolean && c.Type == "boolean":
		return as(mark+"::boolean", v.Int != 0), true
	case k == edm.Boolean || k.Integer() || k == edm.Enum:
		return as(mark+"::bigint", v.Int), c.Type != "oid" || v.Int >= 0 && v.Int <= math.MaxUint32
	case k == edm.Decimal && c.Type == "money":
		return as(mark+"::numeric::money", s), fractionOf(s) <= 2
	case k == edm.Decimal:
		return as(mark+"::numeric", s), c.within(s) && !(whole && fractionOf(s) > 0)
	case k.Floating():
		return as(mark+"::double precision", v.Float), (c.Type != "real" || single(v.Float)) && !(whole && v.Float != math.Trunc(v.Float))
	case k == edm.Guid:
		return as(mark+"::uuid", s), true
	case k == edm.Date:
		return as(mark+"::date", s), plainYear(s)
	case k == edm.DateTimeOffset:
		return d.storeInstant(c, s)
	case k == edm.TimeOfDay:
		return as(mark+"::time", s), c.seconds(s, 6)
	case k == edm.Duration:
		return d.storeDuration(c, s)
	case k == edm.Binary:
		return as(mark+"::bytea", append([]byte{}, v.Bytes...)), true
	case c.Type == "text" || c.Type == "character varying":
		return as(mark+"::text", s), true
	}
	return as(mark+"::text::"+c.Cast, s), otherText(c, s)
}

// otherText reports whether a column that is no plain text shows a text as it was written, as far as that is certain.
func otherText(c *Column, s string) bool {
	switch {
	case strings.HasPrefix(c.Type, "character"), c.Type == "bpchar":
		return !strings.HasSuffix(s, " ")
	case c.Type == "name":
		return len(s) <= 63
	case c.Type == `"char"`:
		return len(s) <= 1
	case c.Type == "boolean":
		return s == "true" || s == "false"
	case isWhole(c.Type):
		n, err := strconv.ParseInt(s, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == s
	case c.Type == "uuid":
		_, ok := guidBytes(s)
		return ok && len(s) == 36 && strings.ToLower(s) == s
	}
	return true
}

// isWhole reports whether columns of a type of PostgreSQL hold integers.
func isWhole(declared string) bool {
	switch declared {
	case "smallint", "integer", "bigint", "oid":
		return true
	}
	return false
}

// plainYear reports whether a date or an instant has a year from 1 to 9999.
func plainYear(s string) bool { return len(s) > 4 && s[4] == '-' && s[:4] >= "0001" }

func (postgres) storeInstant(c *Column, s string) (frag, bool) {
	switch {
	case isWhole(c.Type):
		n, ok := wholeSeconds(s)
		return fill("$1::bigint", param(n)), ok
	case c.Type == "timestamp without time zone":
		return fill("($1::timestamptz AT TIME ZONE 'UTC')", param(s)), plainYear(s) && c.seconds(s, 6)
	}
	return fill("$1::timestamptz", param(s)), plainYear(s) && c.seconds(s, 6)
}

func (postgres) storeDuration(c *Column, s string) (frag, bool) {
	n, ok := wholeMicros(s)
	switch {
	case !ok:
		return frag{}, false
	case c.Type == "interval":
		return fill("($1::bigint * interval '1 microsecond')", param(n)), c.seconds(decimalSeconds(n), 6)
	case isWhole(c.Type):
		return fill("$1::bigint", param(n/1_000_000)), n%1_000_000 == 0
	case c.Type == "numeric":
		return fill("$1::numeric", param(decimalSeconds(n))), c.within(decimalSeconds(n))
	}
	f, ok := realSeconds(n)
	return fill("$1::double precision", f), ok && c.Type != "real"
}

// decimalSeconds writes microseconds as seconds.
func decimalSeconds(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%s%d.%06d", sign, n/1_000_000, n%1_000_000), "0"), ".")
}

func (d mysql) store(c *Column, t edm.Type, v plan.Value) (frag, bool) {
	s, whole := string(v.Bytes), mysqlWhole(c.Type)
	switch k := t.Kind; {
	case c.Type == "bit" && v.Int < 0: // of 64 bits, which have no sign
		return frag{}, false
	case c.Type == "year":
		return param(v.Int), v.Int == 0 || v.Int > 1900 && v.Int < 2156
	case k == edm.Boolean || k.Integer() || k == edm.Enum:
		return param(v.Int), true
	case k == edm.Decimal:
		return param(s), !(whole && fractionOf(s) > 0) && (whole || c.within(s))
	case k.Floating():
		return param(v.Float), d.keepsFloat(c, v.Float) && !(whole && v.Float != math.Trunc(v.Float))
	case k == edm.Guid && strings.Contains(c.Type, "binary"):
		b, ok := guidBytes(s)
		return param(b), ok
	case k == edm.Date:
		return param(s), plainYear(s)
	case k == edm.DateTimeOffset:
		return d.storeInstant(c, s)
	case k == edm.TimeOfDay:
		return param(s), c.seconds(s, 0)
	case k == edm.Duration:
		return d.storeDuration(c, s)
	case k == edm.Binary:
		return param(append([]byte{}, v.Bytes...)), c.Type != "binary" || len(v.Bytes) == c.Length
	case c.Type == "char":
		return param(s), !strings.HasSuffix(s, " ")
	case c.Members != nil:
		return param(s), c.isMember(s)
	case strings.HasSuffix(c.Type, "text"): // the server drops blanks that are too many without a word
		return param(s), len(s) <= c.Length || !strings.HasSuffix(s, " ")
	case whole:
		n, err := strconv.ParseInt(s, 10, 64)
		return param(s), err == nil && strconv.FormatInt(n, 10) == s
	}
	return param(s), true
}

// isMember reports whether a text is one of an ENUM, or some of a SET in their order. The server takes others as well: in another case,
// without accents, and numbers.
func (c *Column) isMember(s string) bool {
	if c.Type == "enum" {
		return slices.Contains(c.Members, s)
	}
	last := -1
	for part := range strings.SplitSeq(s, ",") {
		i := slices.Index(c.Members, part)
		if i <= last {
			return s == ""
		}
		last = i
	}
	return true
}

// mysqlWhole reports whether columns of a type of MariaDB hold integers.
func mysqlWhole(declared string) bool {
	return strings.Contains(declared, "int") && declared != "point" || declared == "boolean" || declared == "bit"
}

// keepsFloat reports whether a column keeps a number: MariaDB has no infinities, and some columns round.
func (mysql) keepsFloat(c *Column, f float64) bool {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return false
	}
	if strings.HasPrefix(c.Type, "float") && !single(f) {
		return false
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', max(c.Scale, 0), 64), 64)
	return c.Scale < 0 || c.Precision <= 0 || mysqlWhole(c.Type) || err == nil && rounded == f
}

// storeInstant knows that a TIMESTAMP reaches from 1970 to 2038.
func (mysql) storeInstant(c *Column, s string) (frag, bool) {
	t := instant(s)
	written := param(t.Format("2006-01-02 15:04:05.999999"))
	switch {
	case c.Type == "datetime":
		return written, t.Year() >= 1 && t.Year() <= 9999 && c.seconds(s, 0)
	case c.Type == "timestamp":
		return fill("CONVERT_TZ(CAST($1 AS DATETIME(6)), '+00:00', @@session.time_zone)", written), t.Unix() > 0 && t.Unix() <= math.MaxInt32 && c.seconds(s, 0)
	}
	n, ok := wholeSeconds(s)
	return param(n), ok
}

func (mysql) storeDuration(c *Column, s string) (frag, bool) {
	n, ok := wholeMicros(s)
	const mostHours = 839
	switch {
	case !ok:
		return frag{}, false
	case c.Type == "time":
		sign, abs := "", n
		if n < 0 {
			sign, abs = "-", -n
		}
		seconds := abs / 1_000_000
		clock := fmt.Sprintf("%s%02d:%02d:%02d.%06d", sign, seconds/3600, seconds/60%60, seconds%60, abs%1_000_000)
		return param(clock), abs >= 0 && seconds < mostHours*3600 && c.seconds(decimalSeconds(n), 0)
	case mysqlWhole(c.Type):
		return param(n / 1_000_000), n%1_000_000 == 0
	case strings.HasPrefix(c.Type, "decimal"):
		return param(decimalSeconds(n)), c.within(decimalSeconds(n))
	}
	f, ok := realSeconds(n)
	return f, ok && !strings.HasPrefix(c.Type, "float")
}
