package function_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// callOf makes a call with null arguments of the first kinds of a signature.
func callOf(f *function.Function, s function.Signature, n int) *plan.Call {
	c := &plan.Call{Name: strings.ToLower(f.Name), T: edm.Of(s.Result)}
	for _, p := range s.Params[:n] {
		c.Args = append(c.Args, &plan.Literal{T: edm.Of(p[0]), Value: plan.Value{Null: true}})
	}
	if s.Result == function.SameKind {
		c.T = c.Args[0].Type()
	}
	return c
}

func TestEveryFunctionHasSQL(t *testing.T) {
	own := []string{"eq", "ne", "gt", "ge", "lt", "le", "in", "and", "or", "not", "case", "isof"} // written by sqltext, or gone when bound
	for _, f := range function.All() {
		if f.Group == function.Absent || f.Constant != nil || slices.Contains(own, f.Name) {
			continue
		}
		for _, s := range f.Signatures {
			for n := len(s.Params) - s.Optional; n <= len(s.Params); n++ {
				c := callOf(f, s, n)
				for database, template := range map[string]function.Template{
					"sqlite": f.SQL.SQLite, "postgres": f.SQL.Postgres, "mysql": f.SQL.MySQL,
				} {
					if template == nil {
						t.Errorf("%s has no SQL for %s", f.Name, database)
						continue
					}
					text := template(c, function.Database{})
					for i := range c.Args {
						if place := "$" + string(rune('1'+i)); !strings.Contains(text, place) {
							t.Errorf("%s%v for %s does not use %s: %s", f.Name, s.Params, database, place, text)
						}
					}
				}
			}
		}
	}
}

// TestTemplatesAreOneOperand holds that the text of a call may stand beside any operator: an operator of its own that is
// not in parentheses would bind to what another template puts behind it, such as a cast.
func TestTemplatesAreOneOperand(t *testing.T) {
	for _, f := range function.All() {
		for _, s := range f.Signatures {
			for n := len(s.Params) - s.Optional; n <= len(s.Params); n++ {
				for _, c := range callsOf(f, s, n) {
					for database, template := range map[string]function.Template{
						"sqlite": f.SQL.SQLite, "postgres": f.SQL.Postgres, "mysql": f.SQL.MySQL,
					} {
						if template == nil {
							continue
						}
						if text := template(c, function.Database{}); !operand(text) {
							t.Errorf("%s of %s to %s for %s: %s", f.Name, c.Args[0].Type().Kind, c.T.Kind, database, text)
						}
					}
				}
			}
		}
	}
}

// callsOf makes a call of a signature for each kind that its first parameter takes.
func callsOf(f *function.Function, s function.Signature, n int) []*plan.Call {
	if n == 0 {
		return nil
	}
	var all []*plan.Call
	for _, k := range s.Params[0] {
		c := callOf(f, s, n)
		c.Args[0] = &plan.Literal{T: edm.Of(k), Value: plan.Value{Null: true}}
		if s.Result == function.SameKind {
			c.T = edm.Of(k)
		}
		all = append(all, c)
	}
	return all
}

// operand tells whether a text is a name, a number, a parameter, a call, a CASE, or something in parentheses, cast or not.
func operand(text string) bool {
	text = regexp.MustCompile(`'[^']*'`).ReplaceAllString(strings.ReplaceAll(text, "CAST(", "cast("), "x")
	within := regexp.MustCompile(`\([^()]*\)`)
	for within.MatchString(text) {
		text = within.ReplaceAllString(text, "\x00")
	}
	cases := regexp.MustCompile(`\bCASE\b([^C]|C[^A])*?\bEND\b`)
	text = cases.ReplaceAllString(strings.ReplaceAll(text, "\x00", "()"), "x")
	return regexp.MustCompile(`^([\w$.]*(\(\))?)(::(double precision|\w+)(\(\))?)*$`).MatchString(text)
}

func TestArity(t *testing.T) {
	cases := map[string]struct {
		canonical   string
		least, most int
	}{
		"now": {"now", 0, 0}, "length": {"length", 1, 1}, "concat": {"concat", 2, 2}, "substring": {"substring", 2, 3},
		"matchespattern": {"matchesPattern", 2, 2}, "geo.length": {"geo.length", 1, 1}, "hassubset": {"hassubset", 2, 2},
		"matchesPattern": {}, "cast": {}, "isof": {}, "case": {}, "eq": {}, "negate": {}, "substringof": {},
	}
	for name, want := range cases {
		canonical, least, most := function.Arity(name)
		if canonical != want.canonical || least != want.least || most != want.most {
			t.Errorf("%s: got %q %d %d, want %v", name, canonical, least, most, want)
		}
	}
}

// TestFilterFunctions holds the names that $metadata lists.
func TestFilterFunctions(t *testing.T) {
	want := "concat contains endswith indexof length matchesPattern startswith substring tolower toupper trim " +
		"date day fractionalseconds hour maxdatetime mindatetime minute month now second time totaloffsetminutes totalseconds year " +
		"ceiling floor round cast isof"
	if got := strings.Join(function.FilterFunctions(), " "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestMatch(t *testing.T) {
	cases := []struct {
		name string
		args []edm.Kind
		want edm.Kind
		ok   bool
	}{
		{"add", []edm.Kind{edm.Byte, edm.Int32}, edm.Int64, true},
		{"add", []edm.Kind{edm.Decimal, edm.Int32}, edm.Decimal, true},
		{"add", []edm.Kind{edm.Single, edm.Int32}, edm.Double, true},
		{"divby", []edm.Kind{edm.Int64, edm.Int64}, edm.Decimal, true},
		{"add", []edm.Kind{edm.Duration, edm.Date}, edm.Date, true},
		{"sub", []edm.Kind{edm.Date, edm.Date}, edm.Duration, true},
		{"sub", []edm.Kind{edm.Duration, edm.Date}, 0, false},
		{"mod", []edm.Kind{edm.Duration, edm.Int64}, 0, false},
		{"round", []edm.Kind{edm.Single}, edm.Single, true},
		{"round", []edm.Kind{edm.Null}, edm.Decimal, true},
		{"length", []edm.Kind{edm.Guid}, 0, false},
		{"length", []edm.Kind{edm.String, edm.String}, 0, false},
		{"substring", []edm.Kind{edm.String, edm.Byte}, edm.String, true},
		{"gt", []edm.Kind{edm.Binary, edm.Binary}, 0, false},
	}
	for _, c := range cases {
		_, got, ok := function.Lookup(c.name).Match(c.args)
		if got != c.want || ok != c.ok {
			t.Errorf("%s%v: got %v %v, want %v %v", c.name, c.args, got, ok, c.want, c.ok)
		}
	}
}

func TestCompileAppliesTheRules(t *testing.T) {
	null, number := plan.Value{Null: true}, plan.Value{Int: 7}
	fail := func(*plan.Call, []plan.Value) (plan.Value, error) { return plan.Value{}, function.ErrRange }
	count := func(_ *plan.Call, args []plan.Value) (plan.Value, error) {
		return plan.Value{Int: int64(len(args))}, nil
	}
	cases := []struct {
		name string
		f    function.Function
		arg  plan.Value
		want plan.Value
		err  error
	}{
		{"null in, null out", function.Function{Eval: count}, null, null, nil},
		{"a value", function.Function{Eval: count}, number, plan.Value{Int: 1}, nil},
		{"comparisons see null", function.Function{Eval: count, Null: function.Never}, null, plan.Value{Int: 1}, nil},
		{"out of range", function.Function{Eval: fail, Range: function.Fails}, number, plan.Value{}, function.ErrRange},
		{"out of range is null", function.Function{Eval: fail, Range: function.ToNull}, number, null, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eval, err := c.f.Compile(&plan.Call{Args: []plan.Expr{&plan.Literal{T: edm.Of(edm.Int64)}}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := eval([]plan.Value{c.arg})
			if got.Null != c.want.Null || got.Int != c.want.Int || !errors.Is(err, c.err) {
				t.Errorf("got %v %v, want %v %v", got, err, c.want, c.err)
			}
		})
	}
	if _, err := (&function.Function{Name: "f"}).Compile(&plan.Call{}); err == nil {
		t.Error("a function without an implementation compiles")
	}
}
