package odata

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// planning is the stage that makes a plan of a request.
type planning struct {
	// aggregates tells that the source computes $apply.
	aggregates bool
	binder     *bind.Binder
	opts       *Options
	cache      *cache
}

// plan gives the plan of a request, from the cache where one is there, and the
// format that the client asked for.
func (s *planning) plan(q *request) (*planned, header.Accept, error) {
	accept := header.ParseAccept(q.header["Accept"])
	key := planKeyOf(q)
	p := s.cache.plan(key)
	if p == nil {
		var err error
		if p, err = s.make(q, key); err != nil {
			return nil, accept, err
		}
	}
	if q.timing.parsed.IsZero() { // there was nothing to parse
		q.timing.parsed = s.opts.Now()
	}
	q.timing.planned = s.opts.Now()
	if p.format != "" {
		accept = header.ParseFormat(p.format)
	}
	return p, accept, nil
}

// make returns a plan for a target that the cache does not know, and keeps it there.
func (s *planning) make(q *request, key planKey) (*planned, error) {
	l, shaped := shapeOf(key)
	common := key
	common.target, common.shape = l.target, true
	if shaped {
		if known := s.cache.plan(common); known != nil {
			p, err := l.of(known)
			if err != nil {
				return nil, faultOf(q.ctx, err)
			}
			s.cache.addPlan(key, p)
			return p, nil
		}
	}
	p, err := s.build(q)
	if err != nil || !sharable(p.plan) {
		return p, err
	}
	p.plan.Prepared = &[2]atomic.Value{}
	if shaped && l.fits(p.plan) {
		s.cache.addPlan(common, &planned{plan: p.plan, format: p.format})
	}
	s.cache.addPlan(key, p)
	return p, nil
}

// build parses the target of a request and binds it to the model.
func (s *planning) build(q *request) (*planned, error) {
	parsed, err := syntax.Parse(q.target, syntaxOptions(q))
	if err != nil {
		return nil, faultOf(q.ctx, err)
	}
	format := parsed.Format
	byID := len(parsed.Segments) > 0 && parsed.Segments[0].Name == "$entity"
	if byID {
		if parsed, err = s.dereference(q, parsed); err != nil {
			return nil, err
		}
	}
	if len(parsed.Apply) > 0 && !s.aggregates {
		return nil, faultOf(q.ctx, plan.Errorf(plan.NotImplemented, parsed.Options[slices.IndexFunc(parsed.Options, isApply)].Pos, "$apply is not supported"))
	}
	q.timing.parsed = s.opts.Now()
	p, err := s.binder.Plan(parsed, bind.Options{
		Limits: s.opts.Limits, Prefer: q.prefer.MaxPageSize, Caller: q.caller, Now: q.timing.start, KeyLinks: s.opts.KeyLinks,
	})
	if err == nil && parsed.SkipToken != "" {
		p, err = bind.Behind(p, parsed.SkipToken, tokenPos(parsed))
	}
	switch {
	case err != nil:
		f := faultOf(q.ctx, err)
		if byID { // the place is one in the target that $id names
			f.pos = -1
		}
		return nil, f
	case byID && p.Kind != plan.Entity:
		return nil, notFound("$id does not name an entity")
	}
	return &planned{plan: p, format: format}, nil
}

func isApply(o syntax.Option) bool { return o.Name == "$apply" }

// tokenPos returns the position of the option $skiptoken.
func tokenPos(r *syntax.Request) int {
	at := slices.IndexFunc(r.Options, func(o syntax.Option) bool { return o.Name == "$skiptoken" })
	if at < 0 {
		return -1
	}
	return r.Options[at].Pos
}

// syntaxOptions leaves the number of nodes to the binder, which knows the limit of
// configuration; here the length of the target bounds it.
func syntaxOptions(q *request) syntax.Options {
	return syntax.Options{V401: q.v401, Functions: function.Arity, NearestFunction: function.Nearest, MaxNodes: math.MaxInt}
}

// dereference makes the request that $entity?$id=… stands for (OData-URL 4.3.4).
func (s *planning) dereference(q *request, parsed *syntax.Request) (*syntax.Request, error) {
	target, f := q.resolve(s.opts.Root, parsed.ID)
	if f != nil {
		return nil, f
	}
	id := &request{}
	if f := id.locate(s.opts.Root, target); f != nil {
		return nil, f
	}
	below, _, _ := strings.Cut(id.target, "?")
	below += strings.TrimPrefix(parsed.RawPath, "$entity")
	var rest []string
	for _, o := range parsed.Options {
		if o.Name != "$id" {
			rest = append(rest, o.Raw)
		}
	}
	again, err := syntax.Parse(below+"?"+strings.Join(rest, "&"), syntaxOptions(q))
	if err != nil {
		f := faultOf(q.ctx, err)
		f.pos = -1 // as in build
		return nil, f
	}
	return again, nil
}

// planKeyOf is what the plan of a request depends on, as long as it is sharable.
func planKeyOf(q *request) planKey {
	return planKey{target: q.target, prefer: q.prefer.MaxPageSize, v401: q.v401, signedIn: q.caller.SignedIn, settled: q.caller.Settled}
}
