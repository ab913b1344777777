package odata

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/header"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// opened are the rows of a plan with what has to be given back after them, or the reason why there are none.
type opened struct {
	ctx context.Context
	// rows are the source's own, which may write themselves; held are the same, and give back their place.
	rows, held plan.Rows
	clock      *workClock
	err        error
	// admitted and at are when it was the caller's turn, and when the first row was there.
	admitted, at time.Time
}

// open waits until it is the caller's turn, and opens the rows of a plan.
func (s *answering) open(q *request, p *plan.Plan, open func(context.Context, *plan.Plan) (plan.Rows, error)) *opened {
	leave, err := s.admit(q)
	if err != nil {
		return &opened{err: err}
	}
	o := &opened{admitted: s.opts.Now()}
	o.ctx, o.clock = q.left.start(q.ctx)
	rows, err := open(o.ctx, p)
	if err != nil {
		leave()
		o.err = faultOf(o.ctx, err)
		o.clock.stop()
		return o
	}
	o.rows, o.at = bounded(p.Top, rows), s.opts.Now()
	o.held = admitted{o.rows, leave}
	return o
}

// ahead is a page that was opened together with the row by which its caller is known, or the refusal to open it, which has
// looked for no row: who waited for it is only presumed.
type ahead struct {
	caller Caller
	found  *planned
	accept header.Accept
	opened *opened // nil once it was taken
}

// ahead opens the page of a request together with the row by which its caller is known, and makes that the request's caller;
// nil where that cannot be done or there is no such row, so that the request is answered as if nobody had tried. Whoever gets
// a refusal asks who it is for.
func (p *pipeline) ahead(q *request, r *http.Request) *ahead {
	source, ok := p.answers.source.(Witnessing)
	if !ok || p.opts.Presume == nil || q.method != http.MethodGet && q.method != http.MethodHead || q.isOpenAPI() {
		return nil
	}
	who := p.opts.Presume(r)
	if who == nil || who.Caller.User != nil || who.Caller.Next != nil || who.Caller.Pass(p.guard) != nil {
		return nil
	}
	q.caller = who.Caller // until another one is told
	found, accept, err := p.plans.plan(q)
	if err != nil || !sharable(found.plan) || found.empty.Load() || !source.Witnesses(found.plan) {
		return nil
	}
	o := p.answers.open(q, found.plan, func(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
		return source.OpenWith(ctx, p, &who.Witness)
	})
	if refused := o.clock == nil; o.err != nil && !refused {
		p.unfound(q, r, who, o)
		return nil
	}
	return &ahead{who.Caller, found, accept, o}
}

// unfound settles the time of an attempt that found no page. A database that was away has been waited for; where it answered,
// such as with a page that is empty, asking anew takes as long once more, and may.
func (p *pipeline) unfound(q *request, r *http.Request, who *Presumed, o *opened) {
	f, ok := errors.AsType[*fault](o.err)
	if ok {
		p.opts.Logger.Debug("no page was found together with its witness", "request_id", q.id, "cause", f.cause)
	}
	switch {
	case !ok || f.status != http.StatusServiceUnavailable:
		q.left = newAllowance(p.opts)
	case f.limit == "":
		who.Waited(r, o.clock.since)
	}
}

// came notes whether a plan had rows. Where it had none, an attempt would find none either, and cost a statement more.
func (p *planned) came(rows bool) {
	if p.empty.Load() == rows {
		p.empty.Store(!rows)
	}
}

// known tells whether the row of the caller was found.
func (a *ahead) known() bool { return a != nil && a.opened.err == nil }

// of gives a refusal to the caller who has turned out to ask; nil where that is not who waited for it.
func (a *ahead) of(c Caller, f *fault) *ahead {
	if a == nil || f != nil || c.User != nil || c.Next != nil {
		return nil
	}
	if was := a.caller; c.SignedIn != was.SignedIn || c.Settled != was.Settled || c.Client != was.Client {
		return nil
	}
	return a
}

// take hands out what was opened, once.
func (a *ahead) take() *opened {
	if a == nil {
		return nil
	}
	o := a.opened
	a.opened = nil
	return o
}

// end gives back what nobody took.
func (a *ahead) end() {
	if o := a.take(); o != nil && o.err == nil {
		o.clock.cancel(nil) // or the driver would read the rest of the rows
		_ = o.held.Close()  // of which nobody wants any
		o.clock.stop()
	}
}
