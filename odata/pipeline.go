package odata

import (
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// pipeline answers one request, an HTTP request or a part of a batch: plan,
// answer, response. One that writes goes to writing instead.
type pipeline struct {
	// guard is that of the service.
	guard   edm.Guard
	opts    *Options
	plans   planning
	answers answering
	// writes is nil where nothing can be written.
	writes *writing
	report reporter
}

func (p *pipeline) serve(w http.ResponseWriter, q *request) {
	err := p.answer(w, q)
	if p.opts.Observe != nil {
		q.timing.observe(p.opts.Observe, p.opts.Now())
	}
	p.report.report(w, q, err)
}

// answer gives a *fault for what can still be answered with a status, any
// other error once bytes are out. The guard of the service comes before any name
// is looked up, so that all names are the same to those whom it keeps out.
func (p *pipeline) answer(w http.ResponseWriter, q *request) error {
	if err := q.caller.Pass(p.guard); err != nil {
		return faultOf(q.ctx, err)
	}
	if p.writes != nil && p.writes.takes(q) {
		return p.writes.answer(w, q)
	}
	if err := q.asRead(); err != nil {
		return err
	}
	if q.isOpenAPI() {
		return p.answers.openAPI(w, q)
	}
	found, accept, err := p.plans.plan(q)
	if err != nil {
		return err
	}
	return p.answers.answer(w, q, found, accept)
}
