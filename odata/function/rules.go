package function

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// NullRule is when a result is null.
type NullRule uint8

// The rules. Those but IfAny and OrUndefined leave nulls to the function itself.
const (
	// IfAny: when an argument is null, INF or NaN, and only then.
	IfAny NullRule = iota
	// OrUndefined: when an argument is null, INF or NaN, and when there is no result (division by zero).
	OrUndefined
	// Never: comparisons are true or false, also of null. OData-URL 5.1.1.1
	Never
	// Threefold: three-valued logic; never null without a null argument. OData-URL 5.1.1.1.7 to 5.1.1.1.9
	Threefold
	// Chosen: when no condition of case is true, or the chosen result is null. OData-URL 5.1.1.12
	Chosen
)

// Nullable tells whether a result can be null; argument tells whether one of the arguments can be.
func (n NullRule) Nullable(argument func() bool) bool {
	switch n {
	case Never:
		return false
	case OrUndefined, Chosen:
		return true
	}
	return argument()
}

// RangeRule is what happens when a result does not fit its type: an integer beyond 64 bits, an infinite double, a year after 9999.
type RangeRule uint8

// The rules.
const (
	// Fits: it always fits.
	Fits RangeRule = iota
	// Fails: where all is constant, the request is refused as malformed, "the result is out of range"; within a row the
	// result is null. See MayLeave.
	Fails
	// ToNull: the result is null, as that of a cast. OData-URL 5.1.1.10.1
	ToNull
)

// ErrRange tells that a result does not fit its type. A caller of Compile's result answers with a fault of the client.
var ErrRange = errors.New("the result is out of range")

// Undefined is the result of a function that has none for its arguments.
func Undefined() (plan.Value, error) { return plan.Value{Null: true}, nil }

func finite(f float64) bool { return f-f == 0 }

// Compile makes a call ready to be computed: its result takes one value for each argument of c, applies the null rule
// and the range rule, and fails with ErrRange where the rule is Fails. It may be used by several goroutines. Compile
// itself fails for functions without an implementation.
func (f *Function) Compile(c *plan.Call) (Eval, error) {
	eval := func(args []plan.Value) (plan.Value, error) { return f.Eval(c, args) }
	switch {
	case f.Prepare != nil:
		var err error
		if eval, err = f.Prepare(c); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", f.Name, err)
		}
	case f.Eval == nil:
		return nil, fmt.Errorf("the function %s has no implementation in Go", f.Name)
	}
	skipNull := f.Null == IfAny || f.Null == OrUndefined
	floats := make([]bool, len(c.Args))
	for i := range c.Args {
		floats[i] = kind(c, i).Floating()
	}
	return func(args []plan.Value) (plan.Value, error) {
		if skipNull {
			for i := range args {
				if args[i].Null || floats[i] && !finite(args[i].Float) {
					return plan.Value{Null: true}, nil
				}
			}
		}
		v, err := eval(args)
		if err == nil && c.T.Kind.Floating() && !finite(v.Float) {
			err = ErrRange
		}
		if f.Range == ToNull && errors.Is(err, ErrRange) {
			return plan.Value{Null: true}, nil
		}
		return v, err
	}, nil
}

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

// Takes reports whether an argument of kind k fits.
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
