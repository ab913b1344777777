package odata

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// opened holds the rows of a plan, and what has to be given back after them.
type opened struct {
	ctx context.Context
	// rows are the source's own, which may write themselves; held are the same rows, and Close gives back their slot.
	rows, held plan.Rows
	clock      *workClock
}

// open waits for the caller's turn and opens the rows of a plan.
func (s *answering) open(q *request, p *plan.Plan) (*opened, error) {
	leave, err := s.admit(q)
	if err != nil {
		return nil, err
	}
	q.timing.admitted = s.opts.Now()
	o := &opened{}
	o.ctx, o.clock = q.left.start(q.ctx)
	rows, err := s.source.Open(o.ctx, p)
	if err != nil {
		leave()
		err = faultOf(o.ctx, err)
		o.clock.stop()
		return nil, err
	}
	o.rows = bounded(p.Top, rows)
	o.held = admitted{o.rows, leave}
	q.timing.opened = s.opts.Now()
	return o, nil
}
