package memory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Source has the rows of a model. It is safe for concurrent use.
type Source struct {
	model *edm.Model
	sets  []*set
	bySet map[*edm.EntitySet]*set
	links map[*edm.Navigation]*link

	// turn has a token while nobody writes.
	turn  chan struct{}
	state atomic.Pointer[state]
	// requests are those that are remembered, by ID. Who has the token may touch them.
	requests map[string]remembered
}

// state is the rows of all sets at one moment. It does not change.
type state struct {
	version string
	tables  []*table
	between []*between
}

// New makes a model of the struct types in a Config and copies the rows. Its errors, one for each fault, name the
// set, the property and the remedy.
func New(cfg Config) (*Source, error) {
	b, err := build(cfg)
	if err != nil {
		return nil, err
	}
	s := &Source{model: b.model, sets: b.sets, links: b.links, bySet: map[*edm.EntitySet]*set{}, turn: make(chan struct{}, 1), requests: map[string]remembered{}}
	s.turn <- struct{}{}
	first := &state{version: rand.Text()[:12] + ".0", between: b.between}
	var faults []error
	for _, set := range b.sets {
		s.bySet[set.edm] = set
		t, err := set.table(set.cfg.Rows)
		if err != nil {
			faults = append(faults, fmt.Errorf("set %q: %w", set.cfg.Name, err))
		}
		first.tables = append(first.tables, t)
	}
	s.state.Store(first)
	return s, errors.Join(faults...)
}

// Model is the model of the sets.
func (s *Source) Model() *edm.Model { return s.model }

// Aggregates tells that $apply is computed. See odata.Aggregator.
func (s *Source) Aggregates() bool { return true }

// Replace copies new rows into a set or singleton, in place of all that it had; rows is a slice of the same struct type
// as before, or of pointers to it. Requests see either the old rows or the new ones, and one that is under way goes on
// with the old ones. After an error nothing has changed.
func (s *Source) Replace(set string, rows any) error {
	for _, known := range s.sets {
		if known.edm.Name != set {
			continue
		}
		if goes, err := rowType(rows); err != nil || goes != known.goes {
			return fmt.Errorf("replace set %q: %T is no slice of %v", set, rows, known.goes)
		}
		t, err := known.table(rows)
		if err != nil {
			return fmt.Errorf("replace set %q: %w", set, err)
		}
		s.swap(known.at, t)
		return nil
	}
	return fmt.Errorf("replace: there is no set %q", set)
}

// swap puts a table in its place, beside the newest of all others.
func (s *Source) swap(at int, t *table) {
	<-s.turn
	next := s.state.Load().next()
	next.tables[at] = t
	s.state.Store(next)
	s.turn <- struct{}{}
}

// next is a copy of the state with the version behind it.
func (s *state) next() *state {
	n, _ := strconv.ParseUint(s.version[13:], 36, 64)
	return &state{version: s.version[:13] + strconv.FormatUint(n+1, 36), tables: slices.Clone(s.tables), between: slices.Clone(s.between)}
}

// Version names the state of the rows: it changes with every Replace, and from run to run. See odata.Versioned.
func (s *Source) Version(context.Context) string { return s.state.Load().version }

// Open finds the rows of a plan; see plan.Rows. Faults are *plan.Error: NotFound when an entity that the path goes
// through is not there, Unavailable when ctx ended first, Malformed when a constant is out of the range of its type.
func (s *Source) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	r, err := s.open(ctx, s.state.Load(), p)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// open finds the rows of a plan in a state.
func (s *Source) open(ctx context.Context, in *state, p *plan.Plan) (*rows, error) {
	if p.Top == nil {
		return nil, errors.New("the plan has no rows")
	}
	c := &compiler{source: s, home: map[*plan.Computed]int{}, computed: map[*plan.Computed]value{}, results: map[*plan.Aggregate]*plan.Value{}}
	top := c.node(p.Top)
	if c.err != nil {
		return nil, c.err
	}
	e := &env{ctx: ctx, state: in, rows: make([]row, c.ranges), turns: make([]int, c.ranges), slots: make([]slot, len(c.computed)), derived: map[*derived][]row{}}
	r := &rows{env: e, node: top}
	if err := r.open(p.Kind == plan.RawCount); err != nil {
		return nil, err
	}
	return r, nil
}
