package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// form is how the values of a column come from PostgreSQL.
type form uint8

const (
	asSent form = iota // of any type, and the bytes of a bytea
	asBoolean
	asInt16
	asInt32
	asInt64
	asUint32
	asFloat32
	asFloat64
	asNumeric
	asDate
	asInstant
	asTime
	// asUnknown is a binary form that nobody has asked for.
	asUnknown

	// Text is what a connection sends that describes no statements, such as one behind a pooler.
	textBoolean
	textInteger
	textFloat32
	textFloat64
	textDay
	textBytes
)

// formOf is how the values of a type come, by its number: in binary form where that is cheaper to read.
func formOf(oid uint32) form {
	switch oid {
	case pgtype.BoolOID:
		return asBoolean
	case pgtype.Int2OID:
		return asInt16
	case pgtype.Int4OID:
		return asInt32
	case pgtype.Int8OID:
		return asInt64
	case pgtype.OIDOID, pgtype.CIDOID, pgtype.XIDOID:
		return asUint32
	case pgtype.Float4OID:
		return asFloat32
	case pgtype.Float8OID:
		return asFloat64
	case pgtype.NumericOID:
		return asNumeric
	case pgtype.DateOID:
		return asDate
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		return asInstant
	case pgtype.TimeOID:
		return asTime
	}
	return asSent
}

// binaryFormats asks for these types, and for the bytes of bytea, in their binary form.
var binaryFormats = func() pgx.QueryResultFormatsByOID {
	formats := pgx.QueryResultFormatsByOID{pgtype.ByteaOID: pgx.BinaryFormatCode}
	for _, oid := range []uint32{
		pgtype.BoolOID, pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.CIDOID, pgtype.XIDOID,
		pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID, pgtype.DateOID, pgtype.TimestampOID, pgtype.TimestamptzOID, pgtype.TimeOID,
	} {
		formats[oid] = pgx.BinaryFormatCode
	}
	return formats
}()

func formsOf(fields []pgconn.FieldDescription) []form {
	list := make([]form, len(fields))
	for i := range fields {
		switch oid := fields[i].DataTypeOID; {
		case fields[i].Format != pgx.BinaryFormatCode:
			list[i] = textFormOf(oid)
		case binaryFormats[oid] != pgx.BinaryFormatCode:
			list[i] = asUnknown
		default:
			list[i] = formOf(oid)
		}
	}
	return list
}

// textFormOf is formOf for values that come as text.
func textFormOf(oid uint32) form {
	switch formOf(oid) {
	case asBoolean:
		return textBoolean
	case asInt16, asInt32, asInt64, asUint32:
		return textInteger
	case asFloat32:
		return textFloat32
	case asFloat64:
		return textFloat64
	case asDate, asInstant:
		return textDay
	}
	if oid == pgtype.ByteaOID {
		return textBytes
	}
	return asSent
}

// fromText reads a value that came as text; false if the text is no such thing.
func (f form) fromText(c *Cell, raw, arena []byte) ([]byte, bool) {
	var err error
	switch f {
	case textBoolean:
		c.Kind = Int
		if string(raw) == "t" {
			c.Int = 1
		}
	case textInteger:
		c.Kind = Int
		c.Int, err = strconv.ParseInt(string(raw), 10, 64)
	case textFloat32, textFloat64:
		size := 64
		if f == textFloat32 {
			size = 32
		}
		c.Kind = Float
		c.Float, err = strconv.ParseFloat(string(raw), size)
	case textDay:
		c.Kind, c.Bytes = Text, raw
		return arena, isISO(raw)
	case textBytes:
		from := len(arena)
		arena, err = appendBytea(arena, raw)
		c.Kind, c.Bytes = Text, arena[from:len(arena):len(arena)]
	}
	return arena, err == nil
}

// isISO reports whether a day has the form of the DateStyle ISO. The decoder does not know the others, and would take them
// for values that the type cannot hold.
func isISO(text []byte) bool {
	year, _, found := bytes.Cut(text, []byte("-"))
	return found && len(year) >= 4 && digits(year) || bytes.HasSuffix(text, []byte("infinity"))
}

func digits(text []byte) bool {
	return !bytes.ContainsFunc(text, func(c rune) bool { return c < '0' || c > '9' })
}

// appendBytea decodes the text of a bytea in the format hex or, by bytea_output, escape: there a backslash begins three
// octal digits or another backslash.
func appendBytea(dst, text []byte) ([]byte, error) {
	if encoded, ok := bytes.CutPrefix(text, []byte(`\x`)); ok {
		return hex.AppendDecode(dst, encoded)
	}
	for len(text) > 0 {
		switch {
		case text[0] != '\\':
			dst, text = append(dst, text[0]), text[1:]
		case len(text) > 1 && text[1] == '\\':
			dst, text = append(dst, '\\'), text[2:]
		case len(text) < 4:
			return dst, errors.New("a backslash without three digits")
		default:
			n, err := strconv.ParseUint(string(text[1:4]), 8, 8)
			if err != nil {
				return dst, err
			}
			dst, text = append(dst, byte(n)), text[4:]
		}
	}
	return dst, nil
}

// sizes are the lengths of the binary forms; 0 for any, -1 for none.
var sizes = [...]int{asBoolean: 1, asInt16: 2, asInt32: 4, asInt64: 8, asUint32: 4, asFloat32: 4, asFloat64: 8, asDate: 4, asInstant: 8, asTime: 8, asUnknown: -1}

// cell reads a value. What it has to write goes to the arena, which it gives back; false where the value is no such thing.
func (f form) cell(c *Cell, raw, arena []byte) ([]byte, bool) {
	if f == asSent {
		c.Kind, c.Bytes = Text, raw
		return arena, true
	}
	if f >= textBoolean {
		return f.fromText(c, raw, arena)
	}
	if f != asNumeric && len(raw) != sizes[f] {
		return arena, false
	}
	c.Kind = Int
	switch f {
	case asBoolean:
		c.Int = int64(raw[0])
	case asInt16:
		c.Int = int64(int16(binary.BigEndian.Uint16(raw)))
	case asInt32:
		c.Int = int64(int32(binary.BigEndian.Uint32(raw)))
	case asInt64:
		c.Int = int64(binary.BigEndian.Uint64(raw))
	case asUint32:
		c.Int = int64(binary.BigEndian.Uint32(raw))
	case asFloat32:
		c.Kind, c.Float = Float, float64(math.Float32frombits(binary.BigEndian.Uint32(raw)))
	case asFloat64:
		c.Kind, c.Float = Float, math.Float64frombits(binary.BigEndian.Uint64(raw))
	default:
		return f.text(c, raw, arena)
	}
	return arena, true
}

// text writes a number or a time as text.
func (f form) text(c *Cell, raw, arena []byte) ([]byte, bool) {
	from, ok := len(arena), true
	switch f {
	case asNumeric:
		arena, ok = appendNumeric(arena, raw)
	case asDate:
		arena, c.Plain = appendDay(arena, int32(binary.BigEndian.Uint32(raw)))
	case asTime:
		arena = appendClock(arena, int64(binary.BigEndian.Uint64(raw)))
	default:
		arena, c.Plain = appendMicros(arena, int64(binary.BigEndian.Uint64(raw)))
	}
	c.Kind, c.Bytes = Text, arena[from:len(arena):len(arena)]
	return arena, ok
}

// Signs of a numeric: its sign proper, and what is no number of digits (numeric.c).
const (
	numericNegative = 0x4000
	numericNaN      = 0xC000
	numericInf      = 0xD000
	numericMinusInf = 0xF000
)

// appendNumeric writes a numeric as numeric_out does: groups of four digits, of which the first counts 10000 to the power
// of weight, with scale digits behind the point (numeric_send).
func appendNumeric(dst, raw []byte) ([]byte, bool) {
	if len(raw) < 8 {
		return dst, false
	}
	n, weight := int(binary.BigEndian.Uint16(raw)), int(int16(binary.BigEndian.Uint16(raw[2:])))
	sign, scale := binary.BigEndian.Uint16(raw[4:]), int(binary.BigEndian.Uint16(raw[6:]))
	if raw = raw[8:]; len(raw) != 2*n {
		return dst, false
	}
	switch sign {
	case numericNaN:
		return append(dst, "NaN"...), true
	case numericInf:
		return append(dst, "Infinity"...), true
	case numericMinusInf:
		return append(dst, "-Infinity"...), true
	case numericNegative:
		dst = append(dst, '-')
	}
	group := func(i int) uint16 {
		if i < 0 || i >= n {
			return 0
		}
		return binary.BigEndian.Uint16(raw[2*i:])
	}
	if weight < 0 {
		dst = append(dst, '0')
	} else {
		dst = strconv.AppendUint(dst, uint64(group(0)), 10)
	}
	for i := 1; i <= weight; i++ {
		dst = appendFour(dst, group(i))
	}
	if scale == 0 {
		return dst, true
	}
	dst = append(dst, '.')
	end := len(dst) + scale
	for i := weight + 1; len(dst) < end; i++ {
		dst = appendFour(dst, group(i))
	}
	return dst[:end], true
}

func appendFour(dst []byte, n uint16) []byte {
	return append(dst, byte('0'+n/1000), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
}

// Moments count from the first of January 2000, in days from the first of January of year 1.
const epochDays = 730119

// appendDay writes a date; plain is false for one that has no year of four digits.
func appendDay(dst []byte, day int32) (text []byte, plain bool) {
	switch day {
	case math.MaxInt32:
		return append(dst, "infinity"...), false
	case math.MinInt32:
		return append(dst, "-infinity"...), false
	}
	if dst, plain = appendCivil(dst, int64(day)); plain {
		return dst, true
	}
	return time.Date(2000, 1, 1+int(day), 0, 0, 0, 0, time.UTC).AppendFormat(dst, time.RFC3339Nano), false
}

// appendMicros writes an instant in UTC.
func appendMicros(dst []byte, micros int64) (text []byte, plain bool) {
	switch micros {
	case math.MaxInt64:
		return append(dst, "infinity"...), false
	case math.MinInt64:
		return append(dst, "-infinity"...), false
	}
	const perDay = 24 * 60 * 60 * 1_000_000
	day, rest := micros/perDay, micros%perDay
	if rest < 0 {
		day, rest = day-1, rest+perDay
	}
	if dst, plain = appendCivil(dst, day); !plain {
		return time.Unix(946684800+day*86400+rest/1_000_000, rest%1_000_000*1000).UTC().AppendFormat(dst, time.RFC3339Nano), false
	}
	return append(appendClock(append(dst, 'T'), rest), 'Z'), true
}

// appendClock writes microseconds of a day.
func appendClock(dst []byte, micros int64) []byte {
	seconds, fraction := int(micros/1_000_000), int(micros%1_000_000)
	dst = appendTwo(dst, seconds/3600)
	dst = appendTwo(append(dst, ':'), seconds/60%60)
	dst = appendTwo(append(dst, ':'), seconds%60)
	if fraction > 0 {
		dst = append(dst, '.')
		for unit := 100_000; fraction > 0; unit /= 10 {
			dst = append(dst, byte('0'+fraction/unit))
			fraction %= unit
		}
	}
	return dst
}

// appendCivil writes a day, counted from 2000-01-01, if its year is one of 1 to 9999. Years begin with March here, so that
// the day of a leap year comes last.
func appendCivil(dst []byte, day int64) ([]byte, bool) {
	const first, last = -epochDays, 2921939 // 0001-01-01 and 9999-12-31
	if day < first || day > last {
		return dst, false
	}
	n := int(day) + epochDays + 306 // since 0000-03-01
	era := n / 146097
	n %= 146097
	yearOfEra := (n - n/1460 + n/36524 - n/146096) / 365
	n -= 365*yearOfEra + yearOfEra/4 - yearOfEra/100
	year, month := 400*era+yearOfEra, (5*n+2)/153
	n -= (153*month + 2) / 5
	if month < 10 {
		month += 3
	} else {
		month, year = month-9, year+1
	}
	dst = appendTwo(appendTwo(dst, year/100), year%100)
	dst = appendTwo(append(dst, '-'), month)
	return appendTwo(append(dst, '-'), n+1), true
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }
