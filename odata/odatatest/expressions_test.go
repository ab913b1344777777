package odatatest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
)

// expressions makes random expressions out of the catalogue of functions, over the set Values.
type expressions struct {
	*rand.Rand
	// prefix stands before properties, as in "c/" within a lambda.
	prefix string
	// more are properties beside those of fuzzProperties.
	more map[edm.Kind][]string
	// ways are navigation properties to Parts beside that of fuzzMapping.
	ways []string
}

// properties are those of a kind.
func (g *expressions) properties(k edm.Kind) []string {
	return append(fuzzProperties()[k], g.more[k]...)
}

func (g *expressions) of(list ...string) string { return list[g.IntN(len(list))] }

// leaf is a property or a constant of a kind, or a cast to it where no column has it.
func (g *expressions) leaf(k edm.Kind) string {
	if properties := g.properties(k); len(properties) > 0 && g.IntN(3) > 0 {
		return g.prefix + g.of(properties...)
	}
	if list, ok := fuzzConstants()[k]; ok {
		return g.of(list...)
	}
	if k == edm.Single {
		return "cast(" + g.prefix + g.of("f", "g", "d", "n") + ",Edm.Single)"
	}
	return "cast(" + g.prefix + g.of("n", "m", "d", "g", "status") + ",Edm." + k.String() + ")"
}

// value is an expression of a kind that nests to a depth.
func (g *expressions) value(k edm.Kind, depth int) string {
	if depth <= 0 || g.IntN(5) == 0 {
		return g.leaf(k)
	}
	for range 200 {
		if text := g.call(k, depth-1); text != "" {
			return text
		}
	}
	return g.leaf(k)
}

// call is a call of a function whose result is of a kind; empty when chance does not find one.
func (g *expressions) call(k edm.Kind, depth int) string {
	all := function.All()
	f := all[g.IntN(len(all))]
	if !f.Supports() || len(f.Signatures) == 0 {
		return ""
	}
	if f.Constant != nil {
		if k == edm.DateTimeOffset && f.Name != "now" {
			return f.Name + "()"
		}
		return ""
	}
	s := f.Signatures[g.IntN(len(f.Signatures))]
	if s.Result != k && s.Result != function.SameKind {
		return ""
	}
	n := len(s.Params) - g.IntN(s.Optional+1)
	kinds := make([]edm.Kind, n)
	for i := range kinds {
		if len(s.Params[i]) == 0 {
			return g.typeTest(depth)
		}
		kinds[i] = s.Params[i][g.IntN(len(s.Params[i]))]
	}
	if f.Group == function.Comparison && f.Name != "has" && len(s.Params[0]) == 1 {
		kinds[1] = kinds[0]
	}
	if _, result, ok := f.Match(kinds); !ok || result != k && f.Name != "cast" {
		return ""
	}
	text := make([]string, n)
	for i := range text {
		text[i] = g.value(kinds[i], depth)
	}
	return g.spell(f, k, kinds, text)
}

// spell writes a call as it stands in a URL.
func (g *expressions) spell(f *function.Function, k edm.Kind, kinds []edm.Kind, args []string) string {
	switch f.Name {
	case "not":
		return "not (" + args[0] + ")"
	case "negate":
		return "-(" + args[0] + ")"
	case "in":
		items := []string{g.constant(kinds[0]), g.constant(kinds[0]), "null"}
		return "(" + args[0] + " in (" + strings.Join(items[:1+g.IntN(3)], ",") + "))"
	case "has":
		return "(" + args[0] + " has " + g.of("'New'", "'Sale'", "'New,Sale'", "'None'") + ")"
	case "case":
		return "case(" + args[0] + ":" + args[1] + g.of("", ",true:"+args[1]) + ")"
	case "cast":
		return "cast(" + args[0] + ",Edm." + k.String() + ")"
	case "matchesPattern":
		return "matchesPattern(" + args[0] + "," + g.of("'^a'", "'[A-Z]+'", "'a|b'", "'^.{2}$'", "'e'", `'\d\s*\z'`, "'(?i)[^b-y]Z'", "'(a|)[[:alpha:]]+?.'", `'^.{2,200}$'`, `'[\]\-\\^]'`) + ")"
	}
	if f.Group <= function.Arithmetic {
		return "(" + args[0] + " " + f.Name + " " + args[1] + ")"
	}
	return f.Name + "(" + strings.Join(args, ",") + ")"
}

func (g *expressions) constant(k edm.Kind) string {
	list := fuzzConstants()[k]
	if list == nil {
		return "null"
	}
	return g.of(list...)
}

// typeTest is isof of a property.
func (g *expressions) typeTest(int) string {
	kinds := fuzzKinds()
	k := kinds[g.IntN(len(kinds))]
	return "isof(" + g.prefix + g.of(g.properties(k)...) + ",Edm." + k.String() + ")"
}

// way is a navigation property to Parts.
func (g *expressions) way() string {
	if len(g.ways) > 0 && g.IntN(2) == 0 {
		return g.of(g.ways...)
	}
	return "parts"
}

// condition is a Boolean expression, with lambdas and navigation now and then.
func (g *expressions) condition(depth int) string {
	switch g.IntN(8) {
	case 0:
		inner := &expressions{Rand: g.Rand, prefix: "p/", more: g.more}
		return g.of("", "", "up/", "not up/") + g.way() + "/" + g.of("any", "all") + "(p:" + inner.value(edm.Boolean, depth-1) + ")"
	case 1:
		return g.way() + "/$count " + g.of("eq", "gt") + " " + g.of("0", "1", "2")
	case 2:
		return g.of("up/id", "up/n") + " " + g.of("eq", "ne", "lt") + " " + g.value(edm.Int64, depth-1)
	}
	return g.value(edm.Boolean, depth)
}

// target is a random request.
func (g *expressions) target() string {
	var options []string
	kinds := fuzzKinds()
	if g.IntN(3) > 0 {
		options = append(options, "$filter="+g.condition(3))
	}
	if g.IntN(3) == 0 {
		options = append(options, "$orderby="+g.value(kinds[g.IntN(len(kinds))], 2)+g.of("", " desc"))
	}
	if len(options) == 0 || g.IntN(3) == 0 {
		options = append(options, "$compute="+g.value(kinds[g.IntN(len(kinds))], 3)+" as z", "$select=id,z")
	} else {
		options = append(options, "$select=id")
	}
	if g.IntN(6) == 0 {
		options = append(options, fmt.Sprintf("$skip=%d", g.IntN(4)), "$count=true")
	}
	return "Values?" + strings.Join(options, "&")
}

// fuzzKinds are the kinds that have properties.
func fuzzKinds() []edm.Kind {
	var list []edm.Kind
	for k := range fuzzProperties() {
		if k != edm.Binary && k != edm.Enum {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return append(list, edm.Int64, edm.Decimal, edm.Double, edm.String)
}
