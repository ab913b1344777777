package scalar

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Read is what a text stands for: Int holds integers and Boolean (0 or 1), Float holds Double and Single, Text all else
// as it stands in JSON.
type Read struct {
	Int   int64
	Float float64
	Text  string
}

// Shown returns the text as answers have it, with a replacement character for each byte that is no UTF-8.
func Shown(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// The parts of texts. Databases and Go read the same regular expressions, so they have neither groups by name, nor
// looks ahead, nor a backslash.
const (
	textYear  = `([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})`
	textLeap  = `([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)`
	textDate  = `(` + textYear + `-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|` + textLeap + `-02-29)`
	textClock = `([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6}0{0,20})?)?`
	textZone  = `([ ]?(Z|z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?))`
	textS     = `[0-9]{1,12}([.][0-9]{1,6}0{0,20})?S`
	textTime  = `T([0-9]{1,8}H([0-9]{1,10}M)?(` + textS + `)?|[0-9]{1,10}M(` + textS + `)?|` + textS + `)`
	textGUID  = `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`
)

// TextPattern is the regular expression of the texts that stand for values of a type; what it matches may still be out
// of range. It has no anchors and no backslash, and means the same to Go, PostgreSQL and PCRE. It is empty for types that no text
// stands for. The forms are those of OData-ABNF 7; instants may have a blank in place of T, and those without an offset are UTC. What no
// database could hold exactly is left out: a fraction of a second behind its sixth digit, decimals of more than 35 digits
// before the point or 30 behind it.
func TextPattern(k edm.Kind) string {
	switch k {
	case edm.Boolean:
		return `([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])`
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64:
		return `[+-]?[0-9]{1,19}`
	case edm.Decimal:
		return `[+-]?([0-9]{1,35}([.][0-9]{1,30})?|[0-9]{1,20}([.][0-9]{1,15})?[eE][+-]?(0?[0-9]|1[0-5]))`
	case edm.Double, edm.Single:
		return `[+-]?[0-9]{1,255}([.][0-9]{1,255})?([eE][+-]?[0-9]{1,3})?`
	case edm.Guid:
		return textGUID
	case edm.Date:
		return textDate
	case edm.TimeOfDay:
		return textClock
	case edm.DateTimeOffset:
		return textDate + `([Tt ]` + textClock + textZone + `?)?`
	case edm.Duration:
		return `[+-]?P([0-9]{1,7}D(` + textTime + `)?|` + textTime + `)`
	}
	return ""
}

// texts are the patterns, made when the first text is read.
var texts = sync.OnceValue(func() map[edm.Kind]*regexp.Regexp {
	made := map[edm.Kind]*regexp.Regexp{}
	for k := edm.Boolean; k < edm.Stream; k++ {
		if p := TextPattern(k); p != "" {
			made[k] = regexp.MustCompile(`^(?:` + p + `)$`)
		}
	}
	return made
})

// FromText reads a text as a value of a type, by one rule wherever a text stands for something else: where a column is
// declared to hold such texts, and where one is cast (OData-URL 5.1.1.10.1). False when the text is no such value.
func FromText(k edm.Kind, text []byte) (Read, bool) {
	switch { // which need no pattern
	case k == edm.Decimal && isPlain(text):
		return Read{Text: string(text)}, true
	case k.Integer() && len(text) < 19:
		n, err := strconv.ParseInt(string(text), 10, 64)
		least, greatest := k.Bounds()
		return Read{Int: n}, err == nil && least <= n && n <= greatest
	}
	pattern := texts()[k]
	if pattern == nil || !pattern.Match(text) {
		return Read{}, false
	}
	s := string(text)
	switch k {
	case edm.Boolean:
		if len(s) == len("true") {
			return Read{Int: 1}, true
		}
		return Read{}, true
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64:
		n, err := strconv.ParseInt(s, 10, 64)
		least, greatest := k.Bounds()
		return Read{Int: n}, err == nil && least <= n && n <= greatest
	case edm.Decimal:
		d, _, err := apd.NewFromString(s)
		if err != nil {
			return Read{}, false
		}
		return Read{Text: Plain(d)}, true
	case edm.Double, edm.Single:
		return readFloat(k, s)
	case edm.Guid:
		return Read{Text: strings.ToLower(s)}, true
	case edm.Duration:
		d, ok := ParseDuration(s)
		return Read{Text: d.String()}, ok
	}
	return readTime(k, s)
}

// TextGreatest is a number that the texts of a type with floating point stay below: none is read as an infinity, which
// databases would not agree on.
func TextGreatest(k edm.Kind) float64 {
	if k == edm.Single {
		return 3.4028235e38
	}
	return math.MaxFloat64
}

// IsSingle reports whether a double has the exact value of a single, or the digits that a single is written with, as 1e30 has.
func IsSingle(f float64) bool {
	single := float64(float32(f))
	shortest, err := strconv.ParseFloat(strconv.FormatFloat(single, 'g', -1, 32), 64)
	return single == f || err == nil && shortest == f
}

func readFloat(k edm.Kind, s string) (Read, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) >= TextGreatest(k) {
		return Read{}, false
	}
	if k == edm.Single {
		f = float64(float32(f))
	}
	return Read{Float: f + 0}, true // the sum takes the sign off a zero
}

// readTime reads what has the pattern of a date, a time of day or an instant; instants are brought to UTC.
func readTime(k edm.Kind, s string) (Read, bool) {
	if k == edm.DateTimeOffset && len(s) > 10 {
		zone := ""
		if i := strings.IndexAny(s[10:], "Zz+-"); i > 0 {
			s, zone = s[:10+i], strings.ToUpper(s[10+i:])
		}
		s = s[:10] + "T" + strings.TrimRight(s[11:], " ") + zone
	}
	out, ok := AppendTime(nil, []byte(s), k)
	if !ok || k != edm.DateTimeOffset {
		return Read{Text: string(out)}, ok
	}
	t, err := time.Parse(time.RFC3339Nano, string(out))
	return Read{Text: string(out)}, err == nil && t.Year() >= 1 && t.Year() <= 9999
}
