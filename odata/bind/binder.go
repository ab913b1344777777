package bind

import (
	"errors"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Binder binds requests to one model. It is safe for concurrent use.
type Binder struct {
	model    *edm.Model
	policies map[*edm.EntitySet]policy
}

// Options are what a plan depends on besides the request and the model.
type Options struct {
	Limits plan.Limits
	// Prefer is the client's preferred maximal page size; zero or less when there is none.
	Prefer int64
	// Caller is who asks; the zero value is a guest.
	Caller plan.Caller
	// Now is the time of the request, for the function now.
	Now time.Time
}

// New makes a Binder. The model must have passed Model.Check. The error joins a *PolicyError for every row policy
// that cannot be parsed or bound.
func New(m *edm.Model) (*Binder, error) {
	b := &Binder{model: m, policies: map[*edm.EntitySet]policy{}}
	var faults []error
	for _, set := range m.All() {
		if set.Policy == "" {
			continue
		}
		parsed, err := parsePolicy(set)
		if err == nil {
			b.policies[set] = parsed
			err = b.tryPolicy(set)
		}
		if err != nil {
			faults = append(faults, &PolicyError{Set: set, Err: err})
		}
	}
	return b, errors.Join(faults...)
}

// Plan resolves a request. The fault is always a *plan.Error or a *syntax.Error. System resources that are no data ($batch, $entity,
// $query) are the business of package odata and unknown here.
func (binder *Binder) Plan(req *syntax.Request, o Options) (*plan.Plan, error) {
	b := newBinding(binder, o)
	b.aliases = [][]syntax.Alias{req.Aliases}
	b.options = req.Options
	if len(req.Segments) == 0 {
		return b.system(plan.ServiceDocument, req)
	}
	if req.Segments[0].Name == "$metadata" && len(req.Segments) == 1 {
		return b.system(plan.Metadata, req)
	}
	target, err := b.path(req.Segments)
	if err != nil {
		return nil, err
	}
	if err := b.applicable(target, &req.Query); err != nil {
		return nil, err
	}
	if len(req.Apply) > 0 {
		return b.applied(target, &req.Query)
	}
	return b.resource(target, &req.Query)
}
