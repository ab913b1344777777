package scalar

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Misfit says why the facets of a type do not allow a value, whose text or bytes are given; empty where they do. NUL is in no text
// that databases keep.
func Misfit(b []byte, t *edm.Type) string {
	switch t.Kind {
	case edm.String:
		switch {
		case bytes.IndexByte(b, 0) >= 0:
			return "has the character NUL, which texts cannot have"
		case t.MaxLength > 0 && utf8.RuneCount(b) > t.MaxLength:
			return fmt.Sprintf("has more than %d characters", t.MaxLength)
		}
	case edm.Binary:
		if t.MaxLength > 0 && len(b) > t.MaxLength {
			return fmt.Sprintf("has more than %d bytes", t.MaxLength)
		}
	case edm.Decimal:
		return misfitDecimal(b, t)
	case edm.DateTimeOffset, edm.TimeOfDay, edm.Duration:
		_, fraction, _ := bytes.Cut(b, []byte{'.'})
		if n := len(bytes.TrimRight(fraction, "ZS")); n > t.Precision {
			return fmt.Sprintf("has more than %d digits of a second", t.Precision)
		}
	}
	return ""
}

func misfitDecimal(b []byte, t *edm.Type) string {
	whole, fraction, _ := bytes.Cut(bytes.TrimPrefix(b, []byte{'-'}), []byte{'.'})
	if len(whole) == 1 && whole[0] == '0' {
		whole = nil
	}
	switch {
	case t.Scale != edm.VariableScale && len(fraction) > t.Scale:
		return fmt.Sprintf("has more than %d digits behind the point", t.Scale)
	case t.Precision > 0 && t.Scale != edm.VariableScale && len(whole) > t.Precision-t.Scale:
		return fmt.Sprintf("has more than %d digits before the point", t.Precision-t.Scale)
	case t.Precision > 0 && len(whole)+len(fraction) > t.Precision:
		return fmt.Sprintf("has more than %d digits", t.Precision)
	}
	return ""
}
