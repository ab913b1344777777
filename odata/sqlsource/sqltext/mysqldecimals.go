package sqltext

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A decimal of MariaDB has 65 digits, of which as many are behind the point as the type of the column says. What is larger
// becomes the largest number, 65 nines, and nobody is told.

// full adds more than an integer holds to the length of such a number, or of one that is about to become one, which is an
// error, ER_DATA_OUT_OF_RANGE.
func (mysql) full(name frag) frag {
	return fill("CASE WHEN REPLACE(REPLACE($1, '.', ''), '-', '') REGEXP '^(9{65}|[1-9][0-9]{65,})$' THEN LENGTH($1) + 18446744073709551615 ELSE 1 END", name)
}

// safeWhole is how many digits before the point a column has, whatever the digits behind it: those are 38 at most. Fewer than
// 10 to the power of countDigits rows are added up.
const (
	safeWhole   = 65 - 38
	countDigits = 12
)

// fullSums is the condition that the sums of a part were not cut; empty where they cannot be.
func (g *Generator) fullSums(p *plan.Part) frag {
	return g.fullColumns(len(p.Values), func(column int) bool {
		e := p.Values[column]
		sums := slices.ContainsFunc(plan.Aggregates(e), func(a *plan.Aggregate) bool { return a.Op == "sum" })
		return sums && p.Grouped && e.Type().Kind == edm.Decimal && wholeOf(e) > safeWhole
	})
}

// fullRows is the condition that the columns of several parts have held the values of each of them.
func (g *Generator) fullRows(d *plan.Derived) frag {
	return g.fullColumns(len(d.Columns), func(column int) bool {
		return len(d.Parts) > 1 && d.Columns[column].T.Kind == edm.Decimal && wholeOfColumn(d, column) > safeWhole
	})
}

func (g *Generator) fullColumns(columns int, may func(column int) bool) frag {
	var list []frag
	for i := range columns {
		if full := g.d.full(text(g.cellName(i))); full.sql != "" && may(i) {
			list = append(list, full)
		}
	}
	return join(" AND ", list...)
}

// wholeOf is how many digits before the point a number has at most.
func wholeOf(e plan.Expr) int {
	switch e := e.(type) {
	case *plan.Cell:
		return wholeOfColumn(e.Range.Derived, e.Column)
	case *plan.Aggregate:
		switch e.Op {
		case "sum":
			return wholeOf(e.Arg) + countDigits
		case "min", "max":
			return wholeOf(e.Arg)
		}
		return countDigits
	}
	return function.WholeDigits(e)
}

func wholeOfColumn(d *plan.Derived, column int) int {
	most := 0
	for _, p := range d.Parts {
		most = max(most, wholeOf(p.Values[column]))
	}
	return most
}
