package odata

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// judge asks rules about the changes of a group, before its transaction begins. judged are the requests as rules have judged them, nil
// for those that read. refused are the answers of a group that is refused; nil for another one.
func (s *batches) judge(q *request, list []batch.Request, went *outcomes, c *changes, oneAnswer bool) (judged []*writer, refused []*held, err error) {
	judged = make([]*writer, len(list))
	if c.stage == nil || !c.stage.judges || c.refused != nil {
		return judged, nil, nil
	}
	if known, err := c.known(q); known || err != nil {
		c.close()
		if errors.Is(err, errAgain) {
			return nil, nil, err
		}
		return judged, nil, nil // a fault is that of the first request that writes, too
	}
	defer func() { c.foresight = nil }()
	for round, again := 1, true; again; round++ {
		c.foresight = newAsking(c, round)
		if err := s.foreseeAll(q, list, went.ahead(), c.foresight, judged); err != nil {
			c.unasked = true
			return judged, nil, nil
		}
		if again = false; len(c.foresight.steps) > 0 && !refuses(judged) {
			if again, err = c.foresight.ask(); err != nil {
				return nil, nil, err
			}
		}
	}
	return judged, s.refusals(list, judged, went, oneAnswer), nil
}

// foreseeAll adds the requests of a group to those that rules judge, up to one that is refused. judged holds the requests as rules have
// judged them before; foreseeAll replaces them.
func (s *batches) foreseeAll(q *request, list []batch.Request, ahead *outcomes, a *asking, judged []*writer) error {
	for i, r := range list {
		w, err := s.foresee(a, q, r, ahead, mentioned(r.ID, list[i+1:]), judged[i])
		if judged[i] = w; err != nil || w != nil && w.against != nil {
			return err
		}
	}
	return nil
}

// refuses reports whether rules refuse one of several requests.
func refuses(judged []*writer) bool {
	return slices.ContainsFunc(judged, func(w *writer) bool { return w != nil && w.against != nil })
}

// foresee adds a request to those that rules judge; nil for one that reads. The error is errCertain if the group is certain to fail with
// this request.
func (s *batches) foresee(a *asking, q *request, r batch.Request, ahead *outcomes, mentioned bool, before *writer) (*writer, error) {
	p, f := s.request(q, r, ahead)
	if f != nil {
		return nil, errCertain
	}
	if !a.takes(p) {
		ahead.note(r, true, "")
		return nil, nil //nolint:nilnil // nothing to judge
	}
	p.changes, p.mentioned = a.c, mentioned
	w, err := (*writer)(nil), bind.ErrUnforeseen
	if !ahead.unknown(r.URL) {
		w, err = a.read(p)
	}
	if err == nil {
		if a.by = w; before != nil {
			w.amended = before.amended
		}
		w.seq, err = w.bind(a.c)
	}
	if errors.Is(err, bind.ErrUnforeseen) { // if rules have to judge it, the transaction refuses it
		a.blind = true
		ahead.rows[r.ID] = nil
		return &writer{writing: a.writing, q: p, unforeseen: true}, nil
	}
	if err != nil {
		return nil, errCertain
	}
	switch err := a.foresee(w); {
	case errors.Is(err, errCertain):
		return nil, err
	case errors.Is(err, bind.ErrUnforeseen): // the transaction refuses it, unless it refuses one before
		w.unforeseen = true
		return w, errCertain
	case err != nil:
		w.against = faultOf(q.ctx, err)
	}
	a.locate(r, ahead)
	return w, nil
}

// locate notes where later requests find the row of a request.
func (a *asking) locate(r batch.Request, ahead *outcomes) {
	main := a.by.seq.Main
	if main == nil || main.Change.Kind != write.Create {
		ahead.note(r, true, "")
		return
	}
	row := a.of[main.Change]
	if row != nil && row.key != nil {
		ahead.note(r, true, a.by.encoder().EntityURL(main.Change.Set, row.key))
		return
	}
	ahead.note(r, true, "")
	delete(ahead.urls, r.ID)
	if ahead.rows[r.ID] = main; row == nil {
		ahead.rows[r.ID] = nil
	}
}

// ahead returns a copy, for a look ahead at requests.
func (o *outcomes) ahead() *outcomes {
	return &outcomes{failed: maps.Clone(o.failed), done: maps.Clone(o.done), urls: maps.Clone(o.urls), rows: map[string]*bind.Writing{}}
}

// unknown reports whether an address begins with the row of a request that could not be foreseen.
func (o *outcomes) unknown(raw string) bool {
	if o == nil {
		return false
	}
	id, _ := reference(o.referenced(raw))
	row, is := o.rows[id]
	return is && row == nil
}

// mentioned reports whether requests may name the row of an earlier one.
func mentioned(id string, later []batch.Request) bool {
	name := "$" + id
	return id != "" && slices.ContainsFunc(later, func(r batch.Request) bool {
		return strings.HasPrefix(r.URL, name) || bytes.Contains(r.Body, []byte(name))
	})
}

// refusals are the answers of a group of which rules refuse a request; nil where they refuse none. The only answer of a change set has the
// details of all its requests.
func (s *batches) refusals(list []batch.Request, judged []*writer, went *outcomes, oneAnswer bool) []*held {
	if !refuses(judged) {
		return nil
	}
	var all []*held
	on := &shelf{}
	for i, r := range list {
		h := &held{shelf: on}
		if w := judged[i]; w != nil && w.against != nil {
			if oneAnswer {
				w.against = together(judged[i:])
			}
			s.report.report(h, w.q, w.against)
		}
		h.WriteHeader(http.StatusOK)
		all = append(all, h)
		went.note(r, h.ok(), "")
		if !h.ok() && oneAnswer {
			break
		}
	}
	return all
}

// together returns the fault of the first of several requests, with the details of the others.
func together(judged []*writer) *fault {
	f := *judged[0].against
	for i, w := range judged {
		if w == nil || w.against == nil || w.against.code != f.code {
			continue
		}
		if i > 0 {
			f.details = append(f.details, w.against.details...)
		}
		for len(f.contentIDs) < len(f.details) {
			f.contentIDs = append(f.contentIDs, w.q.contentID)
		}
	}
	if len(f.details) > 1 {
		f.message = severalRefused
	}
	return &f
}
