package scalar

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. Text that is not UTF-8 gets
// replacement characters, as a document must be valid (RFC 8259, 8.1).
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := len(dst)
	dst = append(dst, s...)
	if i := clean(dst[from:]); i < len(s) {
		dst = appendEscaped(dst[:from+i], s[i:])
	}
	return append(dst, '"')
}

// clean gives the length of the prefix that needs no escaping: printable ASCII
// without quote and backslash. It reads eight bytes at a time.
func clean(s []byte) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if m := unclean(binary.LittleEndian.Uint64(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	if last := len(s) - 8; last >= 0 && i < len(s) { // some of these bytes are looked at again
		if m := unclean(binary.LittleEndian.Uint64(s[last:])); m != 0 {
			return last + bits.TrailingZeros64(m)/8
		}
		return len(s)
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// unclean flags bytes that need escaping. The lowest flagged byte is right; a borrow can only flag those above it.
func unclean(x uint64) uint64 {
	const low, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^low*'"', x^low*'\\'
	return ((x - low*0x20) | (quote - low) | (slash - low) | x) & high
}

func appendEscaped[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := decode(s, i)
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
			start = i + 1
		}
		i += size
	}
	return append(dst, s[start:]...)
}

func decode[T string | []byte](s T, i int) (rune, int) {
	var b [utf8.UTFMax]byte
	n := copy(b[:], s[i:])
	return utf8.DecodeRune(b[:n])
}

// AppendNumber appends a floating-point number of bitSize bits as JSON has it. NaN and the
// infinities, which JSON has no number for, are words (OData-JSON 7.1).
func AppendNumber(dst []byte, f float64, bitSize int) []byte {
	switch {
	case f == 0: // without a sign, which not every database keeps
		return append(dst, '0')
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "INF"...)
	case math.IsInf(f, -1):
		return append(dst, "-INF"...)
	}
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		return strconv.AppendFloat(dst, f, 'e', -1, bitSize)
	}
	if bitSize == 64 {
		return AppendFloat(dst, f)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bitSize)
}
