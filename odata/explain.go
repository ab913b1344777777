package odata

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Explanation tells how a request is answered. It shows statements and is meant
// for operators.
type Explanation struct {
	Plan *plan.Plan
	// Parsing and Planning are how long these stages took.
	Parsing, Planning time.Duration
	// Reading is what the source did.
	Reading plan.Explanation
}

// String writes the explanation for a terminal.
func (e Explanation) String() string {
	return fmt.Sprintf("%v\nparse %v, plan %v\n%v", e.Plan, e.Parsing, e.Planning, e.Reading)
}

// ErrNotExplained tells that there is nothing to explain: the target is no
// data, or the source cannot.
var ErrNotExplained = errors.New("there is nothing to explain")

// Explain tells how a GET of the target, "Products?$top=3" below the root or a whole URL or path, is answered to a
// caller whom every guard lets in. It runs the request.
func (s *Service) Explain(ctx context.Context, target string) (Explanation, error) {
	source, ok := s.read.answers.source.(Explainer)
	if !ok {
		return Explanation{}, ErrNotExplained
	}
	q := &request{ctx: ctx, caller: Caller{SignedIn: true, Settled: true}}
	q.timing.start = s.opts.Now()
	path, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") && !strings.Contains(path, "://") {
		target = s.opts.Root + target
	}
	if f := q.locate(s.opts.Root, target); f != nil {
		return Explanation{}, fmt.Errorf("explain %s: %w", target, f)
	}
	p, err := s.read.plans.build(q)
	switch {
	case err != nil:
		return Explanation{}, fmt.Errorf("explain %s: %w", target, err)
	case p.plan.Top == nil:
		return Explanation{}, ErrNotExplained
	}
	e := Explanation{Plan: p.plan, Parsing: q.timing.parsed.Sub(q.timing.start), Planning: s.opts.Now().Sub(q.timing.parsed)}
	if e.Reading, err = source.Explain(ctx, p.plan); err != nil {
		return e, fmt.Errorf("explain %s: %w", target, err)
	}
	return e, nil
}
