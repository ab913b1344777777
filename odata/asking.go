package odata

import (
	"errors"
	"net/http"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// maxAsked is how often rules are asked about requests whose rows change before they are locked.
const maxAsked = 3

// asking asks rules about the changes of one request, or of a group of them, outside of a transaction.
type asking struct {
	*writing
	c *changes
	// round is how often rules are asked about the same requests, this time included.
	round int
	// by is the request that is foreseen.
	by    *writer
	found map[*plan.Plan][]plan.Value
	// steps are the changes that are judged, proposals how rules see them.
	steps     []*step
	proposals []Proposal
	// changed counts the changes, judged or not, named the rows whose keys are not known yet.
	changed, named int
	// of holds the rows of the changes, at those whose keys are known by set and key.
	of map[*write.Change]*foreseen
	at map[string]*foreseen
	// touched are the sets that the changes write, nameless those of new rows whose keys are not known yet. blind reports that a request
	// could not be foreseen, which may write any.
	touched, nameless map[*edm.EntitySet]bool
	blind             bool
	// depends reports that the request has read rows which earlier changes may turn into others.
	depends bool
}

// step is a change that rules judge.
type step struct {
	*seen
	by  *writer
	w   *bind.Writing
	row *foreseen
}

func newAsking(c *changes, round int) *asking {
	return &asking{
		writing: c.stage, c: c, round: round, found: map[*plan.Plan][]plan.Value{},
		of: map[*write.Change]*foreseen{}, at: map[string]*foreseen{}, touched: map[*edm.EntitySet]bool{}, nameless: map[*edm.EntitySet]bool{},
	}
}

// judge asks the rules of the sets about the changes of a request, before its transaction begins. Changes that the transaction is
// certain to refuse are nobody's to judge: it runs, and is not committed.
func (r *writer) judge(c *changes) error {
	if !slices.ContainsFunc(r.seq.Steps, (*bind.Writing).Judged) {
		return nil
	}
	if known, err := c.known(r.q); known || err != nil {
		return err
	}
	for round := 1; ; round++ {
		a := newAsking(c, round)
		switch err := a.foresee(r); {
		case errors.Is(err, errCertain):
			c.unasked = true
			return nil
		case errors.Is(err, bind.ErrUnforeseen):
			r.unforeseen, c.unasked = true, true
			return nil
		case err != nil:
			return err
		}
		again, err := a.ask()
		if err == nil && r.against != nil {
			return r.against
		}
		if err != nil || !again {
			return err
		}
	}
}

// known ends the transaction, and reports whether it had its effect before.
func (c *changes) known(q *request) (bool, error) {
	if c.once != nil {
		if err := c.begin(q); err != nil {
			return false, err
		}
	}
	known := c.once != nil && c.once.known
	if !known {
		c.close()
	}
	return known, nil
}

// errCertain ends the look ahead at changes that the transaction is certain to refuse.
var errCertain = errors.New("the transaction will refuse a change")

// unforeseen is the fault of a change that rules cannot judge before its group begins.
func unforeseen() *fault {
	return &fault{
		status: http.StatusNotImplemented, code: "not_implemented", pos: -1,
		message: "rules judge all changes of a group before it begins, and an earlier request of the group decides which row this one is about: " +
			"name the row by its key, or send the request by itself",
	}
}

// Made implements bind.Known: nothing is made yet.
func (a *asking) Made(*write.Change) []plan.Value { return nil }

// Found implements bind.Known. The error is bind.ErrUnforeseen where only an earlier change can have made the row of the plan.
func (a *asking) Found(p *plan.Plan) ([]plan.Value, error) {
	row, known := a.found[p]
	if known {
		return row, nil
	}
	q, stale := p.Top.Query, false
	if key := bind.KeyIn(q); key != nil {
		before := a.row(q.Range.Set, key)
		if before != nil && before.gone {
			return nil, nil
		}
		stale = before != nil || a.nameless[q.Range.Set]
	} else {
		stale = a.stale(q)
	}
	row, err := a.look(a.by.q, p)
	if err == nil && row == nil && stale {
		return nil, bind.ErrUnforeseen
	}
	a.found[p], a.depends = row, a.depends || stale
	return row, err
}

// stale reports whether a change may have written a row that a query reads.
func (a *asking) stale(q *plan.Query) bool {
	for ; q != nil; q = q.From {
		if a.blind || a.touched[q.Range.Set] || slices.ContainsFunc(q.Joins, func(r *plan.Range) bool { return a.touched[r.Set] }) {
			return true
		}
	}
	return false
}

// look reads the row of a plan outside of the transaction; nil where there is none.
func (s *writing) look(q *request, p *plan.Plan) ([]plan.Value, error) {
	own := *q
	own.changes = nil
	o, err := s.answers.open(&own, p)
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
