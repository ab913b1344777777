package odatatest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// sequences makes random values of $apply over the set Values. Doubles are not added up: what comes out depends on the
// order, which no database promises.
type sequences struct {
	expressions
	// groups are paths to group by, numbers what can be added up, sorted what has an order.
	groups, numbers, sorted []string
	names                   int
	entities                bool
}

func newSequences(seed uint64) *sequences {
	return &sequences{
		expressions: expressions{Rand: rand.New(rand.NewPCG(seed, 1))}, entities: true,
		groups:  []string{"n", "m", "d", "f", "s", "t", "b", "day", "at", "clock", "uid", "status", "due", "span", "up/s", "up/n", "up/up/t", "up_id"},
		numbers: []string{"id", "n", "m", "d", "e", "up/d", "n add m", "d mul 2"},
		sorted:  []string{"id", "n", "d", "f", "s", "t", "day", "at", "clock", "span", "due", "up/s"},
	}
}

// after is the same over rows with other names.
func (g *sequences) after(groups, numbers []string) *sequences {
	out := *g
	out.groups, out.numbers, out.entities = groups, numbers, false
	out.sorted = append(slices.Clone(groups), numbers...)
	return &out
}

func (g *sequences) name(prefix string) string {
	g.names++
	return prefix + strconv.Itoa(g.names)
}

// aggregates are items of aggregate, and the names of those that are numbers.
func (g *sequences) aggregates() (text string, numbers []string) {
	var items []string
	for range 1 + g.IntN(3) {
		name := g.name("a")
		numbers = append(numbers, name)
		switch {
		case g.IntN(4) == 0 || len(g.numbers) == 0:
			items = append(items, "$count as "+name)
		case g.IntN(3) == 0:
			items = append(items, g.of(append(slices.Clone(g.groups), g.numbers...)...)+" with countdistinct as "+name)
		case g.IntN(3) == 0 && len(g.sorted) > 0:
			numbers = numbers[:len(numbers)-1]
			items = append(items, g.of(g.sorted...)+" with "+g.of("min", "max")+" as "+name)
		default:
			items = append(items, g.of(g.numbers...)+" with "+g.of("sum", "sum", "average", "min", "max")+" as "+name)
		}
	}
	return strings.Join(items, ","), numbers
}

// paths are some to group by.
func (g *sequences) paths() []string {
	var out []string
	for range 1 + g.IntN(2) {
		if p := g.of(g.groups...); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// sequence is transformations, and what their rows are called.
func (g *sequences) sequence(depth int) (string, *sequences) {
	var steps []string
	at := g
	for range 1 + g.IntN(3) {
		var step string
		step, at = at.step(depth)
		steps = append(steps, step)
		if len(at.sorted) == 0 {
			break
		}
	}
	return strings.Join(steps, "/"), at
}

func (g *sequences) step(depth int) (string, *sequences) {
	switch n := g.IntN(12); {
	case n < 3 && len(g.groups) > 0:
		return g.grouping(depth)
	case n == 3:
		text, numbers := g.aggregates()
		return "aggregate(" + text + ")", g.after(nil, numbers)
	case n == 4 && depth > 0:
		first, after := g.sequence(depth - 1)
		second, _ := g.sequence(depth - 1)
		return "concat(" + first + "," + second + ")", after.after(nil, nil)
	case n == 5 && g.entities:
		return "filter(" + g.condition(2) + ")", g
	case n == 6 && g.entities:
		name := g.name("z")
		out := *g
		out.numbers = append(slices.Clone(g.numbers), name)
		return "compute(" + g.value(g.kind(), 2) + " as " + name + ")", &out
	case n == 7:
		return "orderby(" + g.of(g.sorted...) + g.of("", " desc") + ")/" + g.of("top", "skip") + "(" + g.of("0", "1", "3") + ")", g
	case n == 8 && len(g.numbers) > 0:
		return g.of("top", "bottom") + g.of("count", "sum", "percent") + "(" + g.of("1", "2", "50") + "," + g.of(g.numbers...) + ")", g
	case n == 9 && len(g.numbers) > 0:
		return "filter(" + g.of(g.numbers...) + g.of(" gt ", " le ") + "$these/aggregate(" + g.of(g.numbers...) + " with " + g.of("average", "max", "sum") + "))", g
	case n == 10 && g.entities:
		return "search(" + g.of("a", "b OR ä", "NOT a") + ")", g
	}
	return "identity", g
}

func (g *sequences) kind() edm.Kind { return []edm.Kind{edm.Int64, edm.Decimal}[g.IntN(2)] }

func (g *sequences) grouping(depth int) (string, *sequences) {
	paths := g.paths()
	list := strings.Join(paths, ",")
	if len(paths) > 1 && g.IntN(3) == 0 {
		list = "rollup(" + list + ")"
	}
	switch {
	case g.IntN(4) == 0:
		return "groupby((" + list + "))", g.after(paths, nil)
	case g.IntN(3) == 0 && depth > 0 && g.entities:
		inner, after := g.sequence(depth - 1)
		if after.entities {
			return "groupby((" + list + ")," + inner + ")", g
		}
		return "groupby((" + list + ")," + inner + ")", g.after(paths, nil)
	}
	text, numbers := g.aggregates()
	return "groupby((" + list + "),aggregate(" + text + "))", g.after(paths, numbers)
}

// target is a random request.
func (g *sequences) target() string {
	text, after := g.sequence(2)
	options := []string{"$apply=" + text}
	if after.entities {
		options = append(options, "$select=id")
	}
	if len(after.sorted) > 0 && g.IntN(3) == 0 {
		options = append(options, "$orderby="+g.of(after.sorted...)+g.of("", " desc"))
	}
	if len(after.numbers) > 0 && g.IntN(4) == 0 {
		options = append(options, "$filter="+g.of(after.numbers...)+" "+g.of("gt", "ne", "le")+" "+g.of("0", "1", "null"))
	}
	if g.IntN(5) == 0 {
		options = append(options, fmt.Sprintf("$skip=%d", g.IntN(3)), "$count=true")
	}
	return "Values?" + strings.Join(options, "&")
}

// TestFourEnginesAgreeOnApply is TestFourEnginesAgree for $apply.
func TestFourEnginesAgreeOnApply(t *testing.T) {
	t.Parallel()
	all := engines(t)
	first, seeds, end := seedsOf(t, 60, 20)
	var tally tally
	for seed := first; (seed < first+seeds || time.Now().Before(end)) && tally.different <= 20; seed++ {
		g := newSequences(seed)
		compare(t, all, seed, g.target(), &tally)
	}
	t.Logf("%d requests, %d refused", tally.asked, tally.refused)
	if tally.refused > tally.asked/4 {
		t.Errorf("%d of %d requests are no requests at all", tally.refused, tally.asked)
	}
}
