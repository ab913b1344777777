package odata

import (
	"cmp"
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
	a := &applying{writer: r, c: c, seq: seq, rows: map[*write.Change][]plan.Value{}, found: map[*plan.Plan][]plan.Value{}}
	c.written = slices.Grow(c.written, len(seq.Steps))
	if seq.Made != nil {
		a.below = newMadeRows(seq)
	}
	if err := a.named(); err != nil {
		return nil, err
	}
	if err := certain(seq); err != nil {
		return nil, err
	}
	if err := a.applyAll(); err != nil {
		return nil, err
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
	// rows are those of changes that later ones need, found those that plans have read.
	rows  map[*write.Change][]plan.Value
	found map[*plan.Plan][]plan.Value
	// below are the rows of the expanded property of an answer that is made of what was written; nil for other answers.
	below *madeRows
	// judged counts the changes that rules have judged.
	judged int
	key    []plan.Value
	done   *result
	// names is the memory of the key of a row.
	names []plan.Value
}

// Made implements bind.Known.
func (a *applying) Made(c *write.Change) []plan.Value { return a.rows[c] }

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

// applyAll makes the changes in their order, those that are alike at once.
func (a *applying) applyAll() error {
	for steps := a.seq.Steps; len(steps) > 0; {
		idle, err := steps[0].Idle(a)
		if err != nil {
			return a.c.fault(err)
		}
		if idle {
			steps = steps[1:]
			continue
		}
		if steps[0].Replaced() {
			if err := a.forbidden(steps[1]); err != nil {
				return err
			}
		}
		alike := 1
		for alike < len(steps) && !a.c.singly && steps[0] != a.seq.Main && steps[0].Alike(steps[alike]) {
			alike++
		}
		list, before, err := a.ready(steps[:alike])
		if err != nil {
			return err
		}
		for len(list) > 0 {
			n, err := a.apply(steps, list, before)
			if err != nil {
				return err
			}
			steps, list, before = steps[n:], list[n:], before[n:]
		}
	}
	if a.judged < len(a.seen) { // a row that rules have seen linked is not linked any more
		return a.movedFrom(a.seen[a.judged])
	}
	return nil
}

// ready returns the changes of steps, up to one that cannot be made, and their rows as rules have seen them; nil where they have
// not. If the first cannot be made, its fault is the error.
func (a *applying) ready(steps []*bind.Writing) (list []*write.Change, before []*seen, err error) {
	list, before = make([]*write.Change, 0, len(steps)), make([]*seen, 0, len(steps))
	for _, w := range steps {
		ch, err := w.Ready(a)
		there, old := ch != nil, (*seen)(nil)
		if there && w.Judged() {
			if old, err = a.seenOf(); old != nil {
				ch = old.still(ch)
			}
		}
		if ch != nil && err == nil && w.Released() != nil && (old == nil || old.match == nil) {
			err = a.linkedStill(w, ch)
		}
		switch bad, malformed := errors.AsType[*plan.Error](err); {
		case ch != nil && err == nil:
			list, before = append(list, ch), append(before, old)
			continue
		case len(list) > 0: // the fault is that of the next call, where it is the first
			if old != nil {
				a.judged--
			}
			return list, before, nil
		case there && err == nil:
			return nil, nil, a.movedFrom(old)
		case there:
			return nil, nil, err
		case malformed && bad.Kind == plan.Malformed:
			return nil, nil, inBody(strings.TrimSuffix(w.Path, "/"), bad.Message)
		case err != nil:
			return nil, nil, a.c.fault(err)
		}
		return nil, nil, a.dead(w)
	}
	return list, before, nil
}

// apply makes the first of some changes, or more of them, and returns how many. steps begin with theirs.
func (a *applying) apply(steps []*bind.Writing, list []*write.Change, before []*seen) (int, error) {
	rows, n, err := a.c.tx.Apply(list)
	if err != nil {
		refusal, ok := errors.AsType[*write.Refusal](err)
		if ok && before[0] != nil && before[0].match != nil && refusal.OfRow() {
			return 0, a.movedFrom(before[0])
		}
		return 0, a.refused(a.c, steps[0], list[0], err)
	}
	if steps[0].Judged() && before[0] == nil && a.unforeseen {
		if rows != nil {
			_ = rows.Close() // the transaction is undone
		}
		return 0, unforeseen()
	}
	a.q.timing.opened = a.opts.Now()
	for i, ch := range list[:n] {
		if i > 0 && !rows.Next() {
			return 0, a.c.fault(cmp.Or(rows.Err(), errLacksRows))
		}
		if err := a.made(steps[i], ch, rows); err != nil {
			return 0, err
		}
	}
	if rows != nil {
		if err := rows.Close(); err != nil {
			return 0, faultOf(a.c.ctx, err)
		}
	}
	return n, nil
}

// errLacksRows is the fault of a source that has not returned the row of each change.
var errLacksRows = errors.New("the source returned fewer rows than it has made changes")

// made notes a change that was made. rows stand on its row; nil where it has none.
func (a *applying) made(w *bind.Writing, ch *write.Change, rows plan.Rows) (err error) {
	key := ch.Key
	if rows != nil {
		row := rows.Row()
		if a.names = ch.After.Plan.Top.AppendKey(a.names[:0], row); w != a.seq.Main {
			key = a.names
		} else {
			key = ch.After.Plan.Top.KeyOf(row)
		}
		if w.Needed() {
			a.rows[w.Change] = copied(row)
		}
		if a.below != nil && w != a.seq.Main {
			a.below.add(row)
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
	if err == nil {
		a.c.written = append(a.c.written, Written{Set: ch.Set.Name, Kind: ch.Kind.String(), Key: a.written(ch, key)})
	}
	return err
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
	p, ch := a.seq.Answer.At(a.key), a.seq.Main.Change
	if row := a.rows[ch]; row != nil && a.below != nil {
		rows := a.below.under(row)
		done, err := a.changed(a.c, true, ch.Set, p, rows, a.key)
		a.done = done
		return err
	}
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
	a.done, err = a.changed(a.c, ch.Kind == write.Create, ch.Set, p, rows, a.key)
	return err
}

// dead is the fault of a change that refers to a row that is not there. What forbids the change in any case comes before.
func (a *applying) dead(w *bind.Writing) error {
	if err := a.forbidden(w); err != nil {
		return err
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

// forbidden is the fault of a change that is forbidden whatever it refers to; nil for none.
func (a *applying) forbidden(w *bind.Writing) error {
	ch := w.Change
	if ch.Kind != write.Create && ch.Kind != write.Update {
		return nil
	}
	var before []plan.Value
	if ch.Kind == write.Update {
		key, err := w.Key(a)
		if err == nil && key != nil {
			before, err = a.c.row(ch.Before.Plan.At(key))
		}
		if err != nil {
			return err
		}
	}
	if refusal := ch.Judge(before); refusal != nil {
		return a.refused(a.c, w, ch, refusal)
	}
	return nil
}

// linkedStill gives the change of a row that is to be released the precondition that the row is as it was when it was linked.
func (a *applying) linkedStill(w *bind.Writing, ch *write.Change) error {
	p := ch.Before.Plan.At(ch.Key)
	row, err := a.c.row(p)
	if err != nil {
		return err
	}
	again, err := a.c.row(w.Released())
	if err != nil {
		return err
	}
	if row == nil || again == nil || !sameKey(w.Released().Top.KeyOf(again), ch) {
		return a.c.fault(&write.Refusal{Kind: write.Conflict})
	}
	ch.Match = &write.Match{Tags: []string{string(p.Top.AppendTag(nil, row))}}
	return nil
}

func deadLink(at string) detail {
	return detail{at, "dead_link", at + " names no entity that is there"}
}
