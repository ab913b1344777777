package bind

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// logical binds a chain of and, or one of or, as a balanced tree with the same meaning: databases limit how deep expressions
// nest, and the value help of a client may send hundreds of conditions. OData-URL 5.1.1.1.7, 5.1.1.1.8
func (s *scope) logical(e *syntax.Binary) (plan.Expr, error) {
	chain := []syntax.Expr{e.Y}
	first := e.X
	for {
		left, ok := first.(*syntax.Binary)
		if !ok || left.Op != e.Op {
			break
		}
		if s.user == nil {
			if err := s.b.count(left.Pos()); err != nil {
				return nil, err
			}
		}
		chain, first = append(chain, left.Y), left.X
	}
	chain = append(chain, first)
	slices.Reverse(chain)
	operands := make([]plan.Expr, len(chain))
	for i, x := range chain {
		var err error
		if operands[i], err = s.condition(x); err != nil {
			return nil, err
		}
	}
	return plan.Join(e.Op, operands...), nil
}
