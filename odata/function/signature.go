package function

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Signature is one way to call a function: the parameters and the kind of the result.
type Signature struct {
	Params []Param
	// Optional is how many of the last Params may be missing.
	Optional int
	// Result is the kind of the result; SameKind for that of the first argument.
	Result edm.Kind
}

// SameKind as Signature.Result is the kind of the first argument.
const SameKind = edm.Invalid

// Param is the kinds that an argument may have; a literal null takes the first of them.
type Param []edm.Kind

// The parameters that functions have in common.
var (
	Boolean  = Param{edm.Boolean}
	String   = Param{edm.String}
	Integer  = Param{edm.Int64, edm.Int32, edm.Int16, edm.Byte, edm.SByte}
	Exact    = Param{edm.Decimal, edm.Int64, edm.Int32, edm.Int16, edm.Byte, edm.SByte}
	Number   = Param{edm.Decimal, edm.Double, edm.Single, edm.Int64, edm.Int32, edm.Int16, edm.Byte, edm.SByte}
	Date     = Param{edm.Date}
	Instant  = Param{edm.DateTimeOffset}
	Clock    = Param{edm.TimeOfDay}
	Duration = Param{edm.Duration}
	// Dated has a date in it, Timed a time of day.
	Dated = Param{edm.DateTimeOffset, edm.Date}
	Timed = Param{edm.DateTimeOffset, edm.TimeOfDay}
)

// Takes tells whether an argument of kind k fits.
func (p Param) Takes(k edm.Kind) bool { return k == edm.Null || slices.Contains(p, k) }

func (s Signature) arity() (least, most int) { return len(s.Params) - s.Optional, len(s.Params) }

func (s Signature) fits(args []edm.Kind) bool {
	if least, most := s.arity(); len(args) < least || len(args) > most {
		return false
	}
	for i, k := range args {
		if !s.Params[i].Takes(k) {
			return false
		}
	}
	return true
}

func (s Signature) result(args []edm.Kind) edm.Kind {
	switch {
	case s.Result != SameKind:
		return s.Result
	case args[0] == edm.Null:
		return s.Params[0][0]
	}
	return args[0]
}

// one is the signature of a function that has no other.
func one(result edm.Kind, params ...Param) []Signature {
	return []Signature{{Params: params, Result: result}}
}
