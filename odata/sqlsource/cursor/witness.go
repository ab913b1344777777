package cursor

import (
	"context"
	"errors"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// errUnseen is the fault of rows that tell nothing about a witness, because there are none.
var errUnseen = errors.New("there is no row, or no witness")

// Witnesses tells whether OpenWith can be asked for a plan.
func (o *Reader) Witnesses(p *plan.Plan) bool {
	if p.Top == nil || p.Kind == plan.RawCount || p.Top.Many && p.Top.Page.Read == 0 || p.Top.Query.Range.Derived != nil {
		return false
	}
	return o.Gen.Probe(p.Top) == nil && o.page(p).TakesWitness()
}

// OpenWith is like Open for rows that are there together with a witness, in the state that the first statement of rows sees. It
// fails where that has no row.
func (o *Reader) OpenWith(ctx context.Context, p *plan.Plan, w *sqltext.Witness) (plan.Rows, error) {
	page := o.page(p)
	r, err := o.openPage(ctx, p, page.With(w))
	switch {
	case err != nil:
		return nil, err
	case !r.ahead:
		return nil, errors.Join(errUnseen, r.Close())
	}
	r.page = page // what else is read was not asked of the witness
	return r, nil
}
