package odata

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// maxAsked is how often rules are asked about a request whose rows change before they are locked.
const maxAsked = 3

// seen is a change as rules have seen it.
type seen struct {
	change *write.Change
	// match is the precondition that the row is still the one that rules have seen; nil for a create.
	match *write.Match
	// row is the row as the change would leave it.
	row []plan.Value
}

// asking asks rules about the changes of one request, outside of a transaction.
type asking struct {
	*writer
	found map[*plan.Plan][]plan.Value
	// steps are the changes that are judged, seen what is known of them, proposals how rules see them.
	steps     []*bind.Writing
	seen      []*seen
	proposals []Proposal
	// names are the texts for keys that are not known yet.
	names map[*write.Change]string
}

// Made implements bind.Known: nothing is made yet.
func (a *asking) Made(*write.Change) []plan.Value { return nil }

// Found implements bind.Known.
func (a *asking) Found(p *plan.Plan) ([]plan.Value, error) {
	row, known := a.found[p]
	if known {
		return row, nil
	}
	row, err := a.look(p)
	a.found[p] = row
	return row, err
}

// look reads the row of a plan outside of the transaction; nil where there is none.
func (r *writer) look(p *plan.Plan) ([]plan.Value, error) {
	own := *r.q
	own.changes = nil
	o, err := r.answers.open(&own, p)
	if f, ok := errors.AsType[*fault](err); ok && f.status == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = o.held.Close() // nothing was written that could be lost
		o.clock.stop()
	}()
	row, err := firstOf(o.rows)
	if err != nil {
		return nil, faultOf(o.ctx, err)
	}
	return row, nil
}

// judge asks the rules of the sets about the changes, before the transaction begins, and returns the changes with what rules have
// amended. Changes that the transaction is certain to refuse are nobody's to judge: it runs, and is not committed.
func (r *writer) judge(c *changes, seq *bind.Sequence) (*bind.Sequence, error) {
	if !slices.ContainsFunc(seq.Steps, (*bind.Writing).Judged) {
		return seq, nil
	}
	if c.judged != nil && c.judged != r || len(c.written) > 0 {
		return nil, &fault{
			status: http.StatusNotImplemented, code: "not_implemented", pos: -1,
			message: "rules judge one request of a group, the first that writes: send each change of a set with a validator by itself",
		}
	}
	c.judged, c.unasked = r, false
	if c.once != nil {
		if err := c.begin(r.q); err != nil || c.once.known {
			return seq, err
		}
	}
	c.close()
	a := &asking{writer: r, found: map[*plan.Plan][]plan.Value{}, names: map[*write.Change]string{}}
	ok, err := a.foresee(seq)
	if err != nil {
		return nil, err
	}
	if !ok {
		c.unasked = true
		return seq, nil
	}
	verdict, err := a.ask()
	if err != nil {
		return nil, err
	}
	if len(verdict.Amended) > 0 {
		if seq, err = a.amend(c, seq, verdict.Amended); err != nil {
			return nil, err
		}
	}
	r.seen = map[*bind.Writing]*seen{}
	for _, w := range seq.Steps {
		if w.Judged() {
			r.seen[w] = a.seen[len(r.seen)]
		}
	}
	return seq, nil
}

// foresee makes the proposals. It reports false if the transaction is certain to refuse a change.
func (a *asking) foresee(seq *bind.Sequence) (bool, error) {
	var key []plan.Value
	named := []*bind.Resource{a.linked}
	if kind := a.resource.Kind; kind == bind.OfRelated || kind == bind.OfReference {
		named = append(named, a.resource.Own)
	}
	main := seq.Main
	if main != nil && main.Change.Kind != write.Create && main.Change.Key == nil {
		named = append(named, a.resource)
	}
	for _, of := range named {
		if of == nil {
			continue
		}
		row, err := a.Found(of.Find)
		if row == nil || err != nil {
			return false, err
		}
		if of == a.resource {
			key = of.Find.Top.KeyOf(row)
		}
	}
	for _, w := range seq.Steps {
		ch, err := w.Ready(a)
		if bad, ok := errors.AsType[*plan.Error](err); ok && bad.Kind == plan.Malformed {
			return false, nil
		}
		if err != nil {
			return false, faultOf(a.q.ctx, err)
		}
		if ch == nil {
			return false, nil
		}
		if ch.Kind == write.Create && bind.KeyOf(ch) == nil {
			a.names[w.Change] = "$" + strconv.Itoa(len(a.names)+1)
		}
		if !w.Judged() {
			continue
		}
		if w == main && key != nil {
			with := *ch
			with.Key, ch = key, &with
		}
		if ok, err := a.propose(w, ch); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// propose adds the proposal of a change. It reports false if the transaction is certain to refuse it.
func (a *asking) propose(w *bind.Writing, ch *write.Change) (bool, error) {
	var old []plan.Value
	var err error
	s := &seen{change: ch}
	if ch.Kind != write.Create {
		if before := a.before(ch); before != nil { // which is locked then, and as an earlier change leaves it
			old, s.match = before.row, &write.Match{Any: true}
		} else if old, err = a.look(w.Rules.Plan.At(ch.Key)); err != nil {
			return false, err
		}
	}
	judged := *ch
	judged.Before = w.Rules
	if refusal := judged.Judge(old); refusal != nil {
		if refusal.Kind == write.RowNotFound && a.upserts() && !a.creates && w.Path == "" && w.Reference == "" {
			return false, errUpsert
		}
		return false, nil
	}
	n := w.Rules.Plan.Top
	p := Proposal{Set: ch.Set.Name, Kind: ch.Kind.String(), Key: a.names[w.Change]}
	if p.Key == "" {
		p.Key = strings.TrimSuffix(strings.TrimPrefix(a.encoder().Key(ch.Set, bind.KeyOf(ch)), "("), ")")
	}
	if old != nil {
		p.Old = payload.AppendObject(nil, n.Fields, old)
		if s.match == nil {
			s.match = &write.Match{Tags: []string{string(n.AppendTag(nil, old))}}
		}
	}
	if ch.Kind != write.Delete {
		row, texts := w.Proposed(ch, old, func(c *write.Change) string { return a.names[c] })
		s.row = row
		p.New = payload.AppendObject(nil, bind.AsTexts(n.Fields, texts), row)
	}
	a.steps, a.seen, a.proposals = append(a.steps, w), append(a.seen, s), append(a.proposals, p)
	return true, nil
}

// before returns an earlier change of the same row; nil for none.
func (a *asking) before(ch *write.Change) *seen {
	for _, s := range slices.Backward(a.seen) {
		if s.change.Set == ch.Set && s.row != nil && sameKey(bind.KeyOf(s.change), ch) {
			return s
		}
	}
	return nil
}

// sameKey reports whether values are the key of a change.
func sameKey(key []plan.Value, ch *write.Change) bool {
	for i, p := range ch.Set.Type.Key {
		if key == nil || !plan.Same(&plan.Literal{T: p.Type, Value: key[i]}, &plan.Literal{T: p.Type, Value: ch.Key[i]}) {
			return false
		}
	}
	return true
}

// still returns the change of the transaction, with the precondition that its row is the one that rules have seen; nil if the change
// has become another one.
func (s *seen) still(ch *write.Change) *write.Change {
	if ch.Kind != write.Create && !sameKey(s.change.Key, ch) {
		return nil
	}
	for i := range s.change.Values {
		if a := &s.change.Values[i]; a.Of == nil && !sameValue(a, &ch.Values[i]) {
			return nil
		}
	}
	out := *ch
	out.Match = s.match
	return &out
}

// alike reports whether a change has the values that rules have seen, but for those that rules have amended.
func (s *seen) alike(ch *write.Change, amended []write.Assignment) bool {
	for _, v := range ch.Values {
		at := func(list []write.Assignment) int {
			return slices.IndexFunc(list, func(a write.Assignment) bool { return slices.Equal(a.Path, v.Path) })
		}
		if at(amended) >= 0 || v.Of != nil {
			continue
		}
		i := at(s.change.Values)
		if i < 0 || !sameValue(&s.change.Values[i], &v) {
			return false
		}
	}
	return true
}

func sameValue(a, b *write.Assignment) bool {
	t := a.Type()
	return plan.Same(&plan.Literal{T: t, Value: a.Value}, &plan.Literal{T: t, Value: b.Value})
}

// moved ends a transaction whose rows are not those that rules have seen. Rules are asked again, maxAsked times in all.
func (c *changes) moved() error {
	if c.moves++; c.moves < maxAsked && c.judged.q.ctx.Err() == nil {
		c.undone = true
		return errAgain
	}
	if r := c.judged; r.match != nil && !r.match.Any {
		return refusalFault(&write.Refusal{Kind: write.PreconditionFailed})
	}
	return &fault{
		status: http.StatusConflict, code: "conflict", pos: -1, message: "others change the same data faster than rules can judge it; try again",
	}
}
