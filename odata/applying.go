package odata

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// maxChanges is how many rows one request, or a group of them, may write.
const maxChanges = 1000

// try makes the changes of the request in a transaction once.
func (r *writer) try(c *changes) (*result, error) {
	if !c.grouped {
		r.seq, r.amended, r.seen, r.unforeseen = nil, nil, nil, false
	}
	if r.seq == nil {
		var err error
		r.seq, err = r.bind(c)
		if errors.Is(err, errAnswered) {
			return c.answered(), nil
		}
		if err != nil {
			return nil, r.behindAbsence(c, err)
		}
	}
	if len(c.written)+len(r.seq.Steps) > maxChanges {
		return nil, tooManyChanges()
	}
	if !c.grouped {
		if err := r.judge(c); err != nil {
			return nil, err
		}
	}
	return r.apply(c, r.seq)
}

// apply makes the changes of the request in the transaction, which begins with the first request of a group.
func (r *writer) apply(c *changes, seq *bind.Sequence) (*result, error) {
	if err := c.begin(r.q); err != nil {
		return nil, err
	}
	if done := c.answered(); done != nil {
		return done, nil
	}
	a := &applying{writer: r, c: c, seq: seq, made: map[*write.Change][]plan.Value{}, found: map[*plan.Plan][]plan.Value{}}
	if err := a.named(); err != nil {
		return nil, err
	}
	if err := certain(seq); err != nil {
		return nil, err
	}
	for i, w := range seq.Steps {
		if err := a.apply(w, seq.Steps[i+1:]); err != nil {
			return nil, err
		}
	}
	if seq.Answer != nil {
		if err := a.answer(); err != nil {
			return nil, err
		}
	}
	if a.done == nil {
		a.done = r.answerOf()
	}
	if c.once != nil {
		c.once.answers = append(c.once.answers, a.done)
	}
	return a.done, nil
}

// errAnswered ends the binding of a request that had its effect before.
var errAnswered = errors.New("the request was answered before")

func tooManyChanges() *fault {
	return &fault{
		status: http.StatusRequestEntityTooLarge, code: "request_too_large", pos: -1, limit: fixedLimit,
		message: fmt.Sprintf("the request, or its group, changes more than %d rows, which is a fixed limit", maxChanges),
	}
}

// named finds the entities that the path names: the one above, and the one that is changed if its key is not known yet. Changes
// that refer to them get what was read here, since others may remove them in between.
func (a *applying) named() error {
	if own := a.resource.Own; own != nil && (a.resource.Kind == bind.OfRelated || a.resource.Kind == bind.OfReference) {
		if row, err := a.Found(own.Find); err != nil || row == nil {
			return orAbsent(err, notFound("there is no such entity"))
		}
	}
	if a.linked != nil {
		if row, err := a.Found(a.linked.Find); err != nil || row == nil {
			return orAbsent(err, notFound("there is no such link"))
		}
	}
	main := a.seq.Main
	if main == nil || main.Change.Kind == write.Create || main.Change.Key != nil {
		return nil
	}
	row, err := a.Found(a.resource.Find)
	if err != nil || row == nil {
		return orAbsent(err, a.absent())
	}
	main.Change.Key = a.resource.Find.Top.KeyOf(row)
	return nil
}

func orAbsent(err error, absent *fault) error {
	if err != nil {
		return err
	}
	return absent
}

// find reads the key of an entity; nil where there is none.
func (r *writer) find(c *changes, p *plan.Plan) ([]plan.Value, error) {
	row, err := c.row(p)
	if row == nil || err != nil {
		return nil, err
	}
	return p.Top.KeyOf(row), nil
}

// row reads the row of a plan in the transaction; nil where there is none.
func (c *changes) row(p *plan.Plan) ([]plan.Value, error) {
	rows, err := c.tx.Open(p)
	if p, ok := errors.AsType[*plan.Error](err); ok && p.Kind == plan.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, c.fault(err)
	}
	defer func() { _ = rows.Close() }() // nothing was written that could be lost
	row, err := firstOf(rows)
	if err != nil {
		return nil, c.fault(err)
	}
	return row, nil
}

// firstOf returns a copy of the first row; nil where there is none.
func firstOf(rows plan.Rows) ([]plan.Value, error) {
	if !rows.Next() {
		return nil, rows.Err()
	}
	return copied(rows.Row()), nil
}

// copied returns a copy of a row.
func copied(row []plan.Value) []plan.Value {
	out := make([]plan.Value, len(row))
	for i, v := range row {
		v.Bytes = append([]byte(nil), v.Bytes...)
		out[i] = v
	}
	return out
}

// behindAbsence returns the fault of a request that is malformed, unless the entity is not there: then that is the fault.
func (r *writer) behindAbsence(c *changes, why error) error {
	res, absent := r.resource, error(r.absent())
	if res.Kind == bind.OfRelated || res.Kind == bind.OfReference {
		res, absent = res.Own, notFound("there is no such entity")
	} else if res.Find == nil || r.match != nil || r.upserts() {
		return why
	}
	if err := c.begin(r.q); err != nil {
		return err
	}
	if key, err := r.find(c, res.Find); err != nil || key == nil {
		if err != nil {
			return err
		}
		return absent
	}
	return why
}

// certain refuses what the values of several new rows alone decide, in the order of faults: before any of them is written.
func certain(seq *bind.Sequence) error {
	if len(seq.Steps) < 2 || seq.Main == nil || seq.Main.Change.Kind != write.Create {
		return nil
	}
	var invalid *fault
	for _, w := range seq.Steps {
		switch {
		case w.Change.Kind != write.Create:
		case w.Change.Refused:
			return refusalFault(&write.Refusal{Kind: write.RowNotAllowed})
		case w.Change.Invalid:
			f := invalidFault(&write.Refusal{Kind: write.InvalidValue}, w)
			if invalid != nil {
				f.details = append(invalid.details, f.details...)
			}
			invalid = f
		}
	}
	if invalid == nil {
		return nil
	}
	return invalid
}

// applying makes the changes of one request.
type applying struct {
	*writer
	c   *changes
	seq *bind.Sequence
	// made are the rows of changes that later ones need, found those that plans have read.
	made  map[*write.Change][]plan.Value
	found map[*plan.Plan][]plan.Value
	// judged counts the changes that rules have judged.
	judged int
	key    []plan.Value
	done   *result
}

// Made implements bind.Known.
func (a *applying) Made(c *write.Change) []plan.Value { return a.made[c] }

// Found implements bind.Known.
func (a *applying) Found(p *plan.Plan) ([]plan.Value, error) {
	row, known := a.found[p]
	if known {
		return row, nil
	}
	row, err := a.c.row(p)
	a.found[p] = row
	return row, err
}

// apply makes one change. rest are those behind it.
func (a *applying) apply(w *bind.Writing, rest []*bind.Writing) error {
	ch, err := w.Ready(a)
	if bad, ok := errors.AsType[*plan.Error](err); ok && bad.Kind == plan.Malformed {
		return inBody(strings.TrimSuffix(w.Path, "/"), bad.Message)
	}
	if err != nil {
		return a.c.fault(err)
	}
	if ch == nil {
		return a.dead(w)
	}
	var before *seen
	if w.Judged() {
		if before, err = a.seenOf(); err != nil {
			return err
		}
		if before != nil {
			if ch = before.still(ch); ch == nil {
				return a.movedFrom(before)
			}
		}
	}
	rows, err := a.c.tx.Apply(ch)
	if err != nil {
		if refusal, ok := errors.AsType[*write.Refusal](err); ok && before != nil && before.match != nil && refusal.OfRow() {
			return a.movedFrom(before)
		}
		return a.refused(a.c, w, ch, err)
	}
	if w.Judged() && before == nil && a.unforeseen {
		if rows != nil {
			_ = rows.Close() // the transaction is undone
		}
		return unforeseen()
	}
	a.q.timing.opened = a.opts.Now()
	key := ch.Key
	if rows != nil {
		row := rows.Row()
		key = ch.After.Plan.Top.KeyOf(row)
		if len(rest) > 0 {
			a.made[w.Change] = copied(row)
		}
	}
	switch {
	case w != a.seq.Main:
	case rows == nil:
		a.done = a.answerOf()
	case a.seq.Answer == nil:
		a.done, err = a.changed(a.c, ch.Kind == write.Create, ch.Set, ch.After.Plan, rows, key)
	default:
		a.key = key
	}
	if rows != nil {
		if closing := rows.Close(); err == nil && closing != nil {
			err = faultOf(a.c.ctx, closing)
		}
	}
	if err != nil {
		return err
	}
	a.c.written = append(a.c.written, Written{Set: ch.Set.Name, Kind: ch.Kind.String(), Key: a.written(ch, key)})
	return nil
}

// seenOf returns the next change as rules have seen it; nil where they were not asked, so that the transaction must not be committed.
func (a *applying) seenOf() (*seen, error) {
	switch {
	case a.judged < len(a.seen):
		a.judged++
		return a.seen[a.judged-1], nil
	case !a.c.unasked && !a.unforeseen:
		return nil, a.moved(a.c)
	}
	a.c.unjudged = true
	return nil, nil //nolint:nilnil // rules have not seen it
}

// movedFrom ends the transaction whose row is not the one that rules have seen.
func (a *applying) movedFrom(before *seen) error {
	if before.depends && a.c.grouped {
		return unforeseen()
	}
	return a.moved(a.c)
}

// moved is changes.moved for a change of the request.
func (r *writer) moved(c *changes) error { return c.moved(r.q.ctx, r.match) }

// written names a row, or a link: "(1)/tags('x')".
func (a *applying) written(ch *write.Change, key []plan.Value) string {
	name := a.encoder().Key(ch.Set, key)
	if ch.Nav != nil {
		name += "/" + ch.Nav.Name + a.encoder().Key(ch.Nav.Target, ch.Other)
	}
	return name
}

// answer reads the row of the answer, with what later changes have linked to it.
func (a *applying) answer() error {
	p := a.seq.Answer.At(a.key)
	rows, err := a.c.tx.Open(p)
	if err != nil {
		return a.c.fault(err)
	}
	rows = bounded(p.Top, rows)
	defer func() { _ = rows.Close() }() // the row was read, or the error is there
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return a.c.fault(err)
		}
		return refusalFault(&write.Refusal{Kind: write.RowNotAllowed}) // a later change has taken it out of sight
	}
	ch := a.seq.Main.Change
	a.done, err = a.changed(a.c, ch.Kind == write.Create, ch.Set, p, rows, a.key)
	return err
}

// dead is the fault of a change that refers to a row that is not there. What forbids the change in any case comes before.
func (a *applying) dead(w *bind.Writing) error {
	ch := w.Change
	if ch.Kind == write.Create || ch.Kind == write.Update && ch.Key != nil {
		var before []plan.Value
		if ch.Kind == write.Update {
			var err error
			if before, err = a.c.row(ch.Before.Plan.At(ch.Key)); err != nil {
				return err
			}
		}
		if refusal := ch.Judge(before); refusal != nil {
			return a.refused(a.c, w, ch, refusal)
		}
	}
	f := refusalFault(&write.Refusal{Kind: write.DeadLink})
	for _, at := range slices.Sorted(maps.Values(w.Bound)) {
		f.details = append(f.details, deadLink(at))
	}
	if w.Reference != "" {
		f.details = []detail{deadLink(w.Reference)}
	}
	return f
}

func deadLink(at string) detail {
	return detail{at, "dead_link", at + " names no entity that is there"}
}
