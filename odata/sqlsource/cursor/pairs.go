package cursor

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// maxPairs is how many pairs of rows the conditions of a request may compare: a second of work.
const maxPairs = 10_000_000

// affordable returns an error if the conditions of a plan compare too many pairs of rows. It counts rows, and takes each
// collection for as large as the others.
func (o *Reader) affordable(ctx context.Context, p *plan.Plan) error {
	statements := o.Gen.Pairs(p.Top)
	if len(statements) == 0 {
		return nil
	}
	_, err := o.begin(ctx, p, o.page(p, o.Gen), engine.Need{}, func(r *rows) (bool, error) {
		var pairs float64
		for _, s := range statements {
			err := r.first(s.Statement, 1+2*s.Collections, func(cells []engine.Cell) {
				n := float64(cells[0].Int)
				for i := 1; i < len(cells); i += 2 {
					n *= float64(cells[i].Int) / float64(max(cells[i+1].Int, 1))
				}
				pairs += n
			})
			if err != nil {
				return false, err
			}
		}
		if pairs > maxPairs {
			return false, plan.Errorf(plan.TooLarge, -1, "a condition compares each row with all rows of a collection that it shares with others, about %.0f pairs of rows; more than %d are refused, and this limit is fixed: "+
				"filter by something else first, so that fewer rows are left, compare with a constant, or let the condition of any be one comparison by gt, ge, lt or le", pairs, maxPairs)
		}
		return false, nil
	})
	return err
}
