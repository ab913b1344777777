package odata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// ErrNotExplained tells that there is nothing to explain: the target is no
// data, or the source cannot.
var ErrNotExplained = errors.New("there is nothing to explain")

// ErrNoUser is the reason why a request is not explained whose row policies name
// columns of the signed-in user, if there are no such columns.
var ErrNoUser = errors.New("the row policy asks for columns of the signed-in user")

// Explain writes how a GET of the target, "Products?$top=3" below the root or a whole URL or path, is answered to a
// caller whom every guard lets in. user has the columns for row policies, as [Caller] has them; without it a request
// that needs them is [ErrNoUser]. Explain runs the request. It writes plan, statements and query plans before the
// statements run, and what it knows when ctx ends early; the error is then that of ctx. The text shows statements and is
// meant for operators.
func (s *Service) Explain(ctx context.Context, out io.Writer, target string, user map[string]any) error {
	source, ok := s.read.answers.source.(Explainer)
	if !ok {
		return ErrNotExplained
	}
	q := &request{ctx: ctx, caller: Caller{SignedIn: true, Settled: true, User: user}}
	q.timing.start = s.opts.Now()
	path, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") && !strings.Contains(path, "://") {
		target = s.opts.Root + target
	}
	if f := q.locate(s.opts.Root, target); f != nil {
		return fmt.Errorf("explain %s: %w", target, f)
	}
	p, err := s.read.plans.build(q)
	if f, ok := errors.AsType[*fault](err); ok {
		err = f.located(q.target)
	}
	switch {
	case err != nil:
		return fmt.Errorf("explain %s: %w", target, err)
	case p.plan.Top == nil:
		return ErrNotExplained
	case p.plan.PerCaller && user == nil:
		return fmt.Errorf("explain %s: %w%s", target, ErrNoUser, userPolicies(p.plan.Top))
	}
	if f, _, err := negotiate(header.ParseFormat(p.format), q, p.plan); p.format != "" && err == nil && f.csv {
		p.plan = p.plan.Whole()
	}
	if p.plan, err = located(ctx, s.read.answers.source.Open, p.plan); err != nil {
		return fmt.Errorf("explain %s: %w", target, err)
	}
	parsing, planning := q.timing.parsed.Sub(q.timing.start), s.opts.Now().Sub(q.timing.parsed)
	if _, err := fmt.Fprintf(out, "%v\nparse %v, plan %v\n", p.plan, parsing, planning); err != nil {
		return err
	}
	e, err := source.Explain(ctx, p.plan, out)
	if err != nil {
		err = fmt.Errorf("explain %s: %w", target, err)
	}
	_, failed := io.WriteString(out, e.String())
	return errors.Join(err, failed)
}

// userPolicies names the row policies of a node, and of those below it, that ask for columns of the user. It is empty if
// only sets that filters and orders go through have such a policy.
func userPolicies(n *plan.Node) string {
	var text string
	if policy := n.Set.Policy; strings.Contains(policy, "@user_") {
		text = fmt.Sprintf("; %s has %s", n.Set.Name, policy)
	}
	for _, x := range n.Expand {
		text += userPolicies(x)
	}
	return text
}
