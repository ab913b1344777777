package odata

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// foreseen is a row as changes leave it, before any of them is made.
type foreseen struct {
	// key is nil while only the transaction knows it; name is the text for it then.
	key  []plan.Value
	name string
	// gone reports that the row is deleted.
	gone bool
	// values are in the columns of Writing.Rules, with texts in those that texts names; nil for a set without rules.
	values []plan.Value
	texts  []int
}

// foresee adds the changes of a request. The error is errCertain if the transaction is certain to refuse one, and bind.ErrUnforeseen if
// rules have to judge one of which an earlier change decides the row.
func (a *asking) foresee(r *writer) error {
	a.by = r
	err := a.sequence(r)
	if errors.Is(err, errUpsert) {
		change := r.seq
		r.creates = true
		if r.seq, err = r.bind(a.c); err != nil { // as it will be in the transaction, which finds no row
			r.seq, r.creates = change, false
			return errCertain
		}
		err = a.sequence(r)
	}
	return err
}

func (a *asking) sequence(r *writer) error {
	if a.changed+len(r.seq.Steps) > maxChanges {
		return errCertain
	}
	a.depends = false
	var key []plan.Value
	if slices.ContainsFunc(r.seq.Steps, (*bind.Writing).Judged) {
		var err error
		if key, err = a.entities(r); err != nil {
			return err
		}
	}
	for _, w := range r.seq.Steps {
		if err := a.step(r, w, key); err != nil {
			return err
		}
	}
	a.changed += len(r.seq.Steps)
	return nil
}

// entities looks for the entities that the path names, and returns the key of the one that is changed, where that has to be read.
func (a *asking) entities(r *writer) (key []plan.Value, err error) {
	named := []*bind.Resource{r.linked}
	if kind := r.resource.Kind; kind == bind.OfRelated || kind == bind.OfReference {
		named = append(named, r.resource.Own)
	}
	if main := r.seq.Main; main != nil && main.Change.Kind != write.Create && main.Change.Key == nil {
		named = append(named, r.resource)
	}
	for _, of := range named {
		if of == nil || of.Row != nil {
			continue
		}
		row, err := a.entity(of)
		switch {
		case of == r.linked && errors.Is(err, bind.ErrUnforeseen): // the transaction looks for the link
		case err != nil:
			return nil, err
		case of == r.resource && row != nil:
			key = of.Find.Top.KeyOf(row)
		}
	}
	return key, nil
}

// entity reads the key of an entity; nil for one that an earlier change has written.
func (a *asking) entity(of *bind.Resource) ([]plan.Value, error) {
	if of.Find == nil {
		return nil, bind.ErrUnforeseen
	}
	if own := bind.KeyIn(of.Find.Top.Query); own != nil {
		if before := a.row(of.Set, own); before != nil && !before.gone {
			return nil, nil
		}
	}
	row, err := a.Found(of.Find)
	if err == nil && row == nil {
		err = errCertain
	}
	return row, err
}

// step adds a change. key is that of the entity that the path names, where it had to be read.
func (a *asking) step(r *writer, w *bind.Writing, key []plan.Value) error {
	var ch *write.Change
	idle, err := w.Idle(a)
	if idle {
		return nil
	}
	if err == nil {
		ch, err = w.Ready(a)
	}
	switch bad, ok := errors.AsType[*plan.Error](err); {
	case errors.Is(err, bind.ErrUnforeseen) && !w.Judged():
		a.touch(w.Change) // nobody has to know what it writes
		return nil
	case errors.Is(err, bind.ErrUnforeseen):
		return err
	case ok && bad.Kind == plan.Malformed, err == nil && ch == nil:
		return errCertain
	case err != nil:
		return faultOf(r.q.ctx, err)
	}
	if w == r.seq.Main && key != nil {
		with := *ch
		with.Key, ch = key, &with
	}
	if w.Released() != nil { // the transaction looks for the tag
		with := *ch
		with.Match, ch = &write.Match{Any: true}, &with
	}
	row := a.rowOf(w, ch)
	if w.Judged() {
		if err := a.propose(r, w, ch, row); err != nil {
			return err
		}
	} else if row != nil {
		row.gone = ch.Kind == write.Delete
	}
	a.touch(ch)
	return nil
}

func (a *asking) touch(ch *write.Change) {
	a.touched[ch.Set] = true
	if ch.Nav != nil {
		a.touched[ch.Nav.Target] = true
	}
}

// rowOf returns the row that a change writes, a new one where no earlier change has written it; nil for that of a link, and for one that
// is not known.
func (a *asking) rowOf(w *bind.Writing, ch *write.Change) *foreseen {
	key := bind.KeyOf(ch)
	var row *foreseen
	switch {
	case ch.Nav != nil:
		return nil
	case key != nil:
		if row = a.row(ch.Set, key); row == nil {
			row = &foreseen{key: key}
			a.at[a.nameOf(ch.Set, key)] = row
		}
	case ch.Kind == write.Create:
		a.named++
		row = &foreseen{name: "$" + strconv.Itoa(a.named)}
		a.nameless[ch.Set] = true
	case w.Of() != nil:
		row = a.of[w.Of()]
	}
	if row != nil {
		a.of[w.Change] = row
	}
	return row
}

// row returns the row with a key as earlier changes leave it; nil where they do not write it.
func (a *asking) row(set *edm.EntitySet, key []plan.Value) *foreseen { return a.at[a.nameOf(set, key)] }

func (a *asking) nameOf(set *edm.EntitySet, key []plan.Value) string {
	return set.Name + a.by.encoder().Key(set, key)
}

// fresh reports whether no change has written the row before.
func (f *foreseen) fresh() bool { return f.values == nil && !f.gone && f.name == "" }

// propose adds the proposal of a change of a row.
func (a *asking) propose(r *writer, w *bind.Writing, ch *write.Change, row *foreseen) error {
	var old []plan.Value
	var err error
	s, judged := &seen{change: ch, depends: a.depends}, *ch
	judged.Before = w.Rules
	switch {
	case ch.Kind == write.Create:
	case row.fresh():
		if old, err = a.look(r.q, w.Rules.Plan.At(ch.Key)); err != nil {
			return err
		}
	case !row.gone: // the transaction decides on the tag and the filter of a row that the group changes
		old = row.values
		judged.Before = &write.Check{Plan: w.Rules.Plan, Filter: -1}
		if ch.Match != nil {
			judged.Match = &write.Match{Any: true}
		}
	}
	if refusal := judged.Judge(old); refusal != nil {
		if refusal.Kind == write.RowNotFound && r.upserts() && !r.creates && w.Path == "" && w.Reference == "" {
			return errUpsert
		}
		if refusal.Kind == write.RowNotFound && a.nameless[ch.Set] {
			return bind.ErrUnforeseen // it may be a row whose key is not known yet
		}
		return errCertain
	}
	n := w.Rules.Plan.Top
	p := Proposal{Set: ch.Set.Name, Kind: ch.Kind.String(), Key: row.name}
	if row.key != nil {
		p.Key = strings.TrimSuffix(strings.TrimPrefix(r.encoder().Key(ch.Set, row.key), "("), ")")
	}
	if old != nil {
		p.Old = payload.AppendObject(nil, bind.AsTexts(n.Fields, row.texts), old)
		if row.fresh() {
			s.match = &write.Match{Tags: []string{string(n.AppendTag(nil, old))}}
		}
	}
	if row.gone = ch.Kind == write.Delete; row.gone {
		row.values, row.texts = nil, nil
	} else {
		values, texts := w.Proposed(ch, old, a.nameIn)
		for _, i := range row.texts {
			if old != nil && !values[i].Null && string(values[i].Bytes) == string(old[i].Bytes) {
				texts = append(texts, i)
			}
		}
		row.values, row.texts = values, texts
		p.New = payload.AppendObject(nil, bind.AsTexts(n.Fields, texts), values)
	}
	a.steps, a.proposals = append(a.steps, &step{s, r, w, row}), append(a.proposals, p)
	return nil
}

// nameIn returns the text for the key of the row of an earlier change; empty for one that is known.
func (a *asking) nameIn(c *write.Change) string {
	if row := a.of[c]; row != nil {
		return row.name
	}
	return ""
}
