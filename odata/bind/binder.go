package bind

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Binder binds requests to one model. It is safe for concurrent use.
type Binder struct {
	model    *edm.Model
	policies map[*edm.EntitySet]policy
	// filters are those of write blocks.
	filters map[*edm.EntitySet]policy
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
	// KeyLinks makes next links carry $skiptoken.
	KeyLinks bool
	// Row is the change that makes the entity at the begin of the path, which then names its set alone; nil where the path
	// names an entity by its key.
	Row *Writing
}

// New makes a Binder. The model must have passed Model.Check. The error joins a *PolicyError for every row policy, and
// every filter of a write block, that cannot be parsed or bound.
func New(m *edm.Model) (*Binder, error) {
	b := &Binder{model: m, policies: map[*edm.EntitySet]policy{}, filters: map[*edm.EntitySet]policy{}}
	var faults []error
	for _, set := range m.All() {
		if err := b.learn(b.policies, set, set.Policy, set.Guard); err != nil {
			faults = append(faults, &PolicyError{Set: set, Err: err})
		}
		if set.Write == nil {
			continue
		}
		// Whoever writes has signed in, whatever the guard.
		if err := b.learnFilter(set); err != nil {
			faults = append(faults, &PolicyError{Set: set, Write: true, Err: err})
		}
		for _, g := range slices.Concat(set.Write.Set, set.Write.Touch) {
			if err := tryGiven(g); err != nil {
				faults = append(faults, &PolicyError{Set: set, Write: true, Err: err})
			}
		}
	}
	return b, errors.Join(faults...)
}

// learn parses and tries a policy, and keeps it.
func (binder *Binder) learn(in map[*edm.EntitySet]policy, set *edm.EntitySet, text string, guard edm.Guard) error {
	if text == "" {
		return nil
	}
	p, err := parsePolicy(text, guard)
	if err != nil {
		return err
	}
	in[set] = p
	return binder.tryPolicy(set, p)
}

// Plan resolves a request. The fault is always a *plan.Error or a *syntax.Error. System resources that are no data ($batch, $entity,
// $query) are the business of package odata and unknown here.
func (binder *Binder) Plan(req *syntax.Request, o Options) (*plan.Plan, error) {
	b := newBinding(binder, o)
	b.aliases = [][]syntax.Alias{req.Aliases}
	b.options, b.rawPath = req.Options, req.RawPath
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

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// count counts a node of an expression each time that it is bound, so that the value of a parameter alias counts as
// often as it is put in.
func (b *binding) count(pos int) error {
	if b.nodes++; b.nodes > b.Limits.FilterNodes {
		return plan.Exceeded(pos, "filter_nodes", int64(b.Limits.FilterNodes),
			"the expressions have more parts than they may: literals, paths, operators and calls, those of parameter aliases wherever they stand")
	}
	return nil
}

// partsPerWord is the number of parts that a further word to search for counts: it is looked for in all texts of every row.
const partsPerWord = 50

// countSearch counts the words and operators of a $search expression.
func (b *binding) countSearch(s *syntax.Search) error {
	if s.Op == "" && b.searched {
		b.nodes += partsPerWord - 1
	}
	b.searched = b.searched || s.Op == ""
	if err := b.count(s.Pos); err != nil {
		return plan.Exceeded(s.Pos, "filter_nodes", int64(b.Limits.FilterNodes), "each word of $search behind the first counts as "+strconv.Itoa(partsPerWord)+
			" parts of an expression, since all texts of every row are looked into for it: search for fewer words, or for a phrase in quotation marks")
	}
	for _, a := range s.Args {
		if err := b.countSearch(a); err != nil {
			return err
		}
	}
	return nil
}

// maxSteps bounds the to-one navigation properties that the expressions of one query go through, maxPath those of a
// resource path: databases join about 60 tables, and SQLite nests about 30 queries.
const (
	maxSteps = 32
	maxPath  = 16
)

func tooManySteps(pos, limit int) error {
	return plan.Errorf(plan.TooLarge, pos, "a path, or the expressions of one level, go through more than %d navigation properties; this limit is fixed", limit)
}

// noArgs refuses a segment that has a key or arguments.
func noArgs(seg syntax.Segment) error {
	if seg.Args != nil || seg.Key != nil {
		return plan.Errorf(plan.NotFound, seg.Pos, "%q takes no key and no arguments", seg.Name)
	}
	return nil
}

// isType reports whether a segment is a cast to the very type, qualified or not.
func (b *binding) isType(name string, t *edm.EntityType) bool {
	return name == b.binder.model.Namespace+"."+t.Name
}

// isComplex tells the same of a complex type.
func (b *binding) isComplex(name string, t *edm.ComplexType) bool {
	return name == b.binder.model.Namespace+"."+t.Name
}

// search returns a $search expression in the form of a plan. OData-URL 5.1.8
func search(in *syntax.Search) *plan.Search {
	out := &plan.Search{Op: "term", Term: in.Text, Phrase: in.Phrase}
	switch in.Op {
	case "AND":
		out = &plan.Search{Op: "and"}
	case "OR":
		out = &plan.Search{Op: "or"}
	case "NOT":
		out = &plan.Search{Op: "not"}
	}
	for _, a := range in.Args {
		out.Args = append(out.Args, search(a))
	}
	return out
}
