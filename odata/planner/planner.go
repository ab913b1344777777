package planner

import (
	"errors"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/plan/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Planner binds requests to one model. It is safe for concurrent use.
type Planner struct {
	model    *edm.Model
	policies map[*edm.EntitySet]policy
}

// Options are what a plan depends on besides the request and the model.
type Options struct {
	Limits plan.Limits
	// Prefer is the client's preferred maximal page size; zero or less when there is none.
	Prefer int64
	// Caller is who asks; the zero value is nobody.
	Caller plan.Caller
	// Now is the time of the request, for the function now.
	Now time.Time
}

// New makes a Planner. The model must have passed Model.Check. The error joins a *PolicyError for every row policy
// that does not hold up.
func New(m *edm.Model) (*Planner, error) {
	p := &Planner{model: m, policies: map[*edm.EntitySet]policy{}}
	sets := append([]*edm.EntitySet(nil), m.Sets...)
	for _, s := range m.Singletons {
		sets = append(sets, s.Set)
	}
	var faults []error
	for _, set := range sets {
		if set.Policy == "" {
			continue
		}
		parsed, err := parsePolicy(set)
		if err == nil {
			p.policies[set] = parsed
			err = p.tryPolicy(set)
		}
		if err != nil {
			faults = append(faults, &PolicyError{Set: set, Err: err})
		}
	}
	return p, errors.Join(faults...)
}

// Build resolves a request. The fault is always a *plan.Error or a *syntax.Error. System resources that are no data ($batch, $entity,
// $query) are the business of package odata and unknown here.
func (p *Planner) Build(req *syntax.Request, o Options) (*plan.Plan, error) {
	b := newBuilder(p, o)
	b.bind.Aliases = [][]syntax.Alias{req.Aliases}
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
	if err := b.fits(target, &req.Query); err != nil {
		return nil, err
	}
	return b.answer(target, &req.Query)
}

// builder holds the state of one Build.
type builder struct {
	planner *Planner
	Options
	plan *plan.Plan
	bind *bind.Binder
	// options are those of the request.
	options []syntax.Option
	expands int
}

func newBuilder(p *Planner, o Options) *builder {
	if o.Limits.ExpandDepth == 0 {
		o.Limits.ExpandDepth = 4
	}
	if o.Limits.FilterNodes == 0 {
		o.Limits.FilterNodes = 200
	}
	b := &builder{planner: p, Options: o, plan: &plan.Plan{}}
	b.bind = &bind.Binder{Model: p.model, MaxNodes: o.Limits.FilterNodes, Now: o.Now, Enter: b.enter}
	return b
}

// system answers for what is not data; the service's own guard holds there.
func (b *builder) system(k plan.Kind, req *syntax.Request) (*plan.Plan, error) {
	if err := b.Caller.Pass(b.planner.model.Guard); err != nil {
		return nil, err
	}
	if err := b.only(&req.Query, "$format", "$schemaversion"); err != nil {
		return nil, err
	}
	b.plan.Kind, b.plan.Private = k, b.planner.model.Guard != edm.GuardNone
	return b.plan, nil
}

// enter is the one gate of a set: every way in makes its range here, so that guard and policy hold on all of them.
func (b *builder) enter(set *edm.EntitySet, pos int) (*plan.Range, error) {
	if err := b.Caller.Pass(set.Guard); err != nil {
		return nil, err
	}
	if set.Guard != edm.GuardNone {
		b.plan.Private = true
	}
	r := b.bind.NewRange(set)
	b.applyPolicy(r)
	return r, nil
}
