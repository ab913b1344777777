package plan

import (
	"errors"
	"time"

	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/syntax"
)

// Planner binds requests to one model. It is safe for concurrent use.
type Planner struct {
	model    *edm.Model
	policies map[*edm.EntitySet]policy
}

// Options are what a plan depends on besides the request and the model.
type Options struct {
	Limits Limits
	// Prefer is the client's preferred maximal page size; zero or less when there is none.
	Prefer int64
	// Caller is who asks; the zero value is nobody.
	Caller Caller
	// Now is the time of the request, for the function now.
	Now time.Time
}

// Caller is who asks, as far as guards and row policies need to know.
type Caller struct {
	// SignedIn tells that there is a user; Settled that the user's intent loop has ended, too.
	SignedIn, Settled bool
	// User holds the columns of the user's record by name, for @user_COLUMN in row policies: nil, bool, integers,
	// floats, string, []byte, or time.Time. A missing or nil column lets no row pass.
	User map[string]any
}

// Pass tells whether a guard lets the caller in: nil, or an *Error of kind Unauthenticated or Forbidden.
func (c Caller) Pass(g edm.Guard) error {
	switch {
	case g == edm.GuardNone:
		return nil
	case !c.SignedIn:
		return fail(Unauthenticated, -1, "sign in first")
	case g == edm.GuardSettled && !c.Settled:
		return fail(Forbidden, -1, "finish signing in first")
	}
	return nil
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

// Build resolves a request. The fault is always an *Error. System resources that are no data ($batch, $entity,
// $query) are the business of package odata and unknown here.
func (p *Planner) Build(req *syntax.Request, o Options) (*Plan, error) {
	b := newBuilder(p, o)
	b.aliases = [][]syntax.Alias{req.Aliases}
	b.options = req.Options
	if len(req.Segments) == 0 {
		return b.system(ServiceDocument, req)
	}
	if req.Segments[0].Name == "$metadata" && len(req.Segments) == 1 {
		return b.system(Metadata, req)
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
	model   *edm.Model
	Options
	plan *Plan
	// owner is the query whose joins a range may add to.
	owner   map[*Range]*Query
	ranges  int
	nodes   int
	expands int
	aliases [][]syntax.Alias
	// open are the aliases that are being bound, against circles.
	open    map[string]bool
	options []syntax.Option
}

func newBuilder(p *Planner, o Options) *builder {
	if o.Limits.ExpandDepth == 0 {
		o.Limits.ExpandDepth = 4
	}
	if o.Limits.FilterNodes == 0 {
		o.Limits.FilterNodes = 200
	}
	return &builder{
		planner: p, model: p.model, Options: o, plan: &Plan{},
		owner: map[*Range]*Query{}, open: map[string]bool{},
	}
}

// system answers for what is not data; the service's own guard holds there.
func (b *builder) system(k Kind, req *syntax.Request) (*Plan, error) {
	if err := b.Caller.Pass(b.model.Guard); err != nil {
		return nil, err
	}
	if err := b.only(&req.Query, "$format", "$schemaversion"); err != nil {
		return nil, err
	}
	b.plan.Kind, b.plan.Private = k, b.model.Guard != edm.GuardNone
	return b.plan, nil
}

// enter is the one gate of a set: every way in makes its range here, so that guard and policy hold on all of them.
func (b *builder) enter(set *edm.EntitySet, pos int) (*Range, error) {
	if err := b.Caller.Pass(set.Guard); err != nil {
		return nil, err
	}
	if set.Guard != edm.GuardNone {
		b.plan.Private = true
	}
	r := b.newRange(set)
	if err := b.applyPolicy(r); err != nil {
		return nil, err
	}
	return r, nil
}

func (b *builder) newRange(set *edm.EntitySet) *Range {
	r := &Range{ID: b.ranges, Set: set}
	b.ranges++
	return r
}

// query makes a query over a range and remembers that the range's joins belong to it.
func (b *builder) query(r *Range) *Query {
	q := &Query{Range: r}
	b.owner[r] = q
	return q
}
