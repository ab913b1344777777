package bind

import (
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// count counts a node of an expression each time that it is bound, so that the value of a parameter alias counts as
// often as it is put in.
func (b *binding) count(pos int) error {
	if b.nodes++; b.nodes > b.Limits.FilterNodes {
		return plan.Exceeded(pos, "filter_nodes", int64(b.Limits.FilterNodes),
			"the expressions have more parts than they may: literals, paths, operators and calls, those of parameter aliases wherever they stand")
	}
	return nil
}

// countSearch counts the words and operators of a $search expression.
func (b *binding) countSearch(s *syntax.Search) error {
	if err := b.count(s.Pos); err != nil {
		return err
	}
	for _, a := range s.Args {
		if err := b.countSearch(a); err != nil {
			return err
		}
	}
	return nil
}

// maxSteps bounds the to-one navigation properties that the expressions of one query go through, maxPath those of a
// resource path: databases join about 60 tables, and SQLite nests about 30 queries.
const (
	maxSteps = 32
	maxPath  = 16
)

func tooManySteps(pos, limit int) error {
	return plan.Errorf(plan.TooLarge, pos, "a path, or the expressions of one level, go through more than %d navigation properties; this limit is fixed", limit)
}
