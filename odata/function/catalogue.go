package function

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Function is a canonical function or an operator. The values of the catalogue are shared; do not change them.
type Function struct {
	// Name is the name in a URL, such as "matchesPattern". plan.Call.Name is the same in lower case.
	Name  string
	Group Group
	// Signatures are what the function works on. The first one that fits the arguments decides on the result.
	Signatures []Signature
	// Null is when the result is null, Range what happens when it does not fit its type.
	Null  NullRule
	Range RangeRule
	// Check, when not nil, refuses calls that the signatures allow, when they are bound. The Pos of its fault is the
	// index of the argument to blame, and "{arg}" in its Message stands for that argument's text.
	Check func(c *plan.Call) *plan.Error
	// Constant, when not nil, is the value of a function without arguments, computed once when a request is bound.
	// It has no Eval and no SQL. Volatile tells that the value depends on now, the time of the request.
	Constant func(now time.Time) plan.Value
	Volatile bool
	// Eval is the reference implementation: see the package comment.
	Eval func(c *plan.Call, args []plan.Value) (plan.Value, error)
	// Prepare, when not nil, stands in place of Eval where constant arguments are worth reading only once.
	Prepare func(c *plan.Call) (Eval, error)
	SQL     SQL
}

// Eval computes a result from arguments.
type Eval func(args []plan.Value) (plan.Value, error)

// Group is the clause of the standard that a function belongs to.
type Group uint8

// The groups. Functions of Comparison to Choice are operators or have a syntax of their own; those of Absent are in the
// standard, known to the parser, and not supported.
const (
	Comparison Group = iota // OData-URL 5.1.1.1
	Logic                   // OData-URL 5.1.1.1
	Arithmetic              // OData-URL 5.1.1.2
	Choice                  // OData-URL 5.1.1.12
	Text                    // OData-URL 5.1.1.5, 5.1.1.7
	Time                    // OData-URL 5.1.1.8
	Rounding                // OData-URL 5.1.1.9
	TypeTest                // OData-URL 5.1.1.10
	Absent                  // OData-URL 5.1.1.6, 5.1.1.11
)

// catalogue is filled by add while the package is initialised, and then only read.
var catalogue = map[string]*Function{}

// add puts a function into the catalogue. A name that exists already is a fault of the program.
func add(f Function) *Function { //nolint:unparam // the result lets an entry be a declaration
	key := strings.ToLower(f.Name)
	if catalogue[key] != nil {
		panic("odata/function: " + f.Name + " is in the catalogue twice")
	}
	catalogue[key] = &f
	return &f
}

// Lookup gives the function of a name in lower case, as in plan.Call.Name; nil when there is none.
func Lookup(name string) *Function { return catalogue[name] }

// All lists the catalogue in the order of groups and names.
func All() []*Function {
	return slices.SortedFunc(maps.Values(catalogue), func(a, b *Function) int {
		if a.Group != b.Group {
			return int(a.Group) - int(b.Group)
		}
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
}

// Arity gives, for a name in lower case, how a function that is called as name(arguments) is spelt and how many
// arguments it takes; canonical is empty for all other names. It is syntax.Options.Functions.
func Arity(name string) (canonical string, least, most int) {
	f := catalogue[name]
	if f == nil || f.Group <= Choice || f.Group == TypeTest {
		return "", 0, 0
	}
	least, most = f.Signatures[0].arity()
	for _, s := range f.Signatures[1:] {
		a, b := s.arity()
		least, most = min(least, a), max(most, b)
	}
	return f.Name, least, most
}

// Nearest returns the function that was probably meant by a name that is none, or "" when none is near.
func Nearest(name string) string {
	var names []string
	for _, f := range All() {
		if _, _, most := Arity(strings.ToLower(f.Name)); most > 0 && f.Group != Absent {
			names = append(names, f.Name)
		}
	}
	return words.Nearest(name, names)
}

// FilterFunctions are the names for $metadata (Capabilities.FilterFunctions).
func FilterFunctions() []string {
	var names []string
	for _, f := range All() {
		if f.Group >= Text && f.Group <= TypeTest {
			names = append(names, f.Name)
		}
	}
	return names
}

// Supports tells whether there is more of the function than its name.
func (f *Function) Supports() bool { return f.Group != Absent }

// Match gives the signature that fits the kinds of arguments, and the kind of the result; ok is false when none does.
// The kind edm.Null fits every parameter.
func (f *Function) Match(args []edm.Kind) (s Signature, result edm.Kind, ok bool) {
	for _, s := range f.Signatures {
		if s.fits(args) {
			return s, s.result(args), true
		}
	}
	return Signature{}, edm.Invalid, false
}

// Takes tells whether one of the signatures has a parameter i for the kind k.
func (f *Function) Takes(i int, k edm.Kind) bool {
	return slices.ContainsFunc(f.Signatures, func(s Signature) bool { return i < len(s.Params) && s.Params[i].Takes(k) })
}

// Gives tells whether the kinds of arguments can have a result of that kind, where the request names it (cast).
func (f *Function) Gives(result edm.Kind, args ...edm.Kind) bool {
	return slices.ContainsFunc(f.Signatures, func(s Signature) bool { return s.fits(args) && s.result(args) == result })
}
