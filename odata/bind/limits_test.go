package bind_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// ask binds a request whatever its number of nodes is.
func ask(t *testing.T, target string, l plan.Limits) error {
	t.Helper()
	req, err := syntax.Parse(escapeQuery(target), syntax.Options{Functions: function.Arity, MaxNodes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	_, err = newBinder(t).Plan(req, bind.Options{Caller: reader(), Limits: l})
	return err
}

// escapeQuery escapes the blanks of a target.
func escapeQuery(target string) string { return strings.ReplaceAll(target, " ", "%20") }

func chain(op, term string, n int) string {
	return strings.TrimSuffix(strings.Repeat(term+op, n), op)
}

// TestRefusalsNameTheLimit holds that what is beyond a limit is refused as such, with the limit, its key and what was asked for.
func TestRefusalsNameTheLimit(t *testing.T) {
	cases := []struct {
		name, target string
		limits       plan.Limits
		say          string // empty: accepted
	}{
		{"select all in a value help", "Books?$filter=" + chain(" or ", "Title eq 'x'", 249), plan.Limits{}, ""},
		{"more parts", "Books?$filter=" + chain(" or ", "Title eq 'x'", 251), plan.Limits{}, "odata.limits.filter_nodes is 1000"},
		{"more parts, no limit", "Books?$filter=" + chain(" or ", "Title eq 'x'", 2000), plan.Limits{FilterNodes: plan.Unlimited}, ""},
		{"items of a list", "Books?$filter=Id in (" + chain(",", "1", 998) + ")", plan.Limits{}, ""},
		{"words to search", "Books?$search=" + chain(" OR ", "a", 1001), plan.Limits{}, "odata.limits.filter_nodes is 1000"},
		{"an alias counts wherever it is put in", "Books?$filter=@a or @a or @a&@a=Id eq 1", plan.Limits{FilterNodes: 13}, "odata.limits.filter_nodes is 13"},
		{"and not more than that", "Books?$filter=@a or @a or @a&@a=Id eq 1", plan.Limits{FilterNodes: 14}, ""},
		{"aliases that double", "Books?$filter=@a and @a&@a=@b and @b&@b=@c and @c&@c=@d and @d&@d=@e and @e&@e=@f and @f&@f=@g and @g&@g=@h and @h&@h=Id eq 1", plan.Limits{}, "filter_nodes is 1000"},
		{"a computed name counts as one", "Books?$compute=Price mul 2 add 1 as X&$filter=X eq 1 or X eq 2 or X eq 3", plan.Limits{FilterNodes: 16}, ""},
		{"and its expression once", "Books?$compute=Price mul 2 add 1 as X&$filter=X eq 1 or X eq 2 or X eq 3", plan.Limits{FilterNodes: 15}, "filter_nodes is 15"},
		{"top", "Books?$top=11", plan.Limits{MaxTop: 10}, "$top is 11; the limit odata.limits.max_top is 10"},
		{"depth", "Books?$expand=Prequel($expand=Prequel)", plan.Limits{ExpandDepth: 1}, "$expand nests 2 levels deep; the limit odata.limits.expand_depth is 1"},
		{"levels", "Books?$expand=Prequel($levels=5)", plan.Limits{}, "$expand nests 5 levels deep; the limit odata.limits.expand_depth is 4"},
		{"levels, no limit", "Books?$expand=Prequel($levels=max)", plan.Limits{ExpandDepth: plan.Unlimited}, ""},
		{"steps of a path", "Books(1)" + strings.Repeat("/Prequel", 17), plan.Limits{}, "16 navigation properties"},
		{"steps of an expression", "Books?$filter=" + strings.Repeat("Prequel/", 33) + "Id eq 1", plan.Limits{}, "32 navigation properties"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := ask(t, c.target, c.limits)
			var fault *plan.Error
			switch {
			case c.say == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.say != "" && (!errors.As(err, &fault) || fault.Kind != plan.TooLarge || !strings.Contains(fault.Message, c.say)):
				t.Errorf("%v, want %q", err, c.say)
			}
		})
	}
}

// TestOrderNamesAnExpressionTwice holds that expressions of every kind are compared, without a panic.
func TestOrderNamesAnExpressionTwice(t *testing.T) {
	for _, x := range []string{
		"concat(Title,'x')", "Title eq 'x'", "case(Id gt 1:'a',true:Title)", "Genre has 'Crime'", "Genre eq null", "Printed add duration'P1D'",
		"cast(Price,Edm.Int32)", "Loans/any(l:l/Id ne null)", "Author/Name", "Size/Width", "null", "1", "Id in (1,2)", "-Price", "$it/Id", "@a",
		"Sequels/$count", "$root/Site/Name", "Author eq null", "isof(Id,Edm.Int64)", "contains(Title,'')", "now()",
	} {
		x = url.PathEscape(x)
		if err := ask(t, "Books?$orderby="+x+","+x+"%20desc&@a=Title", plan.Limits{}); err != nil {
			t.Errorf("%s: %v", x, err)
		}
	}
}
