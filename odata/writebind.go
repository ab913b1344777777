package odata

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// bind reads the body and makes the changes of it. Its faults are 400. c is the transaction, for addresses that need one.
func (r *writer) bind(c *changes) (*bind.Sequence, error) {
	seq, err := r.sequence(c)
	if err != nil {
		return nil, r.bindFault(err)
	}
	for _, w := range seq.Steps {
		if len(w.LeftOut) > 0 {
			return nil, &fault{
				status: http.StatusBadRequest, code: "bad_request", pos: -1, details: detailsOf(w.LeftOut, "required", "is missing: PUT needs all values"),
				message: "PUT needs a value of each property that can be changed; PATCH takes some of them",
			}
		}
		if err := r.source.Fits(w.Change, w.Known()); err != nil {
			refusal, ok := errors.AsType[*write.Refusal](err)
			if !ok {
				return nil, faultOf(r.q.ctx, err)
			}
			if !slices.ContainsFunc(refusal.Properties, w.Gives) {
				f := refusalFault(refusal)
				f.details = below(w.Path, f.details)
				return nil, f
			}
			w.Change.Refused = true // as it is where the caller has no value for the service to write
		}
	}
	return seq, nil
}

func (r *writer) sequence(c *changes) (*bind.Sequence, error) {
	o := bind.WriteOptions{Amended: r.amended, Minimal: r.minimal, Complete: r.q.method == http.MethodPut, Match: r.match, Checks: r.checks}
	if r.q.mentioned {
		o.Checks = nil // later requests may need columns of theirs
	}
	switch {
	case r.resource.Kind == bind.OfReference:
		return r.bindReference(c)
	case r.resource.Kind == bind.OfEntity && r.q.method == http.MethodDelete:
		return r.resource.Delete(o)
	}
	e, err := r.values()
	if err != nil {
		return nil, err
	}
	o.Match = r.match // a tag in the body counts, too
	if r.q.method == http.MethodPost {
		return r.resource.Create(e, o)
	}
	if r.creates {
		return r.resource.Upsert(e, o)
	}
	return r.resource.Update(e, o)
}

// checks returns the checks of a shape, from the cache of plans where they are there.
func (r *writer) checks(shape string, bound func() (*bind.Checks, error)) (*bind.Checks, error) {
	key := planKeyOf(r.q)
	_, query, _ := strings.Cut(r.q.target, "?")
	key.target, key.shape = shape, true
	if query != "" {
		key.target += "?" + query
	}
	if known := r.cache.plan(key); known != nil {
		return known.checks, nil
	}
	checks, err := bound()
	if err == nil && checks.Keep() {
		r.cache.addPlan(key, &planned{checks: checks})
	}
	return checks, err
}

// values reads the body.
func (r *writer) values() (*bind.Entity, error) {
	var body *payload.Body
	var err error
	switch {
	case r.q.method == http.MethodDelete:
		return &bind.Entity{Values: []write.Assignment{{Path: r.resource.Props, Value: plan.Value{Null: true}}}}, nil
	case r.resource.Kind == bind.OfValue:
		body, err = r.writing.body.Value(r.body, r.resource.Props)
	case r.resource.Kind == bind.OfProperty:
		body, err = r.writing.body.Property(r.body, r.resource.Props)
	default:
		body, err = r.writing.body.Entity(r.body, r.resource.Set.Type)
	}
	if err != nil {
		return nil, bodyFault(err)
	}
	if err := r.matchBody(body.Tag); err != nil {
		return nil, err
	}
	return r.entity(body)
}

// matchBody makes the entity tag in a body a precondition, as OData 4.01 does (OData-Protocol 11.4.3).
func (r *writer) matchBody(tag string) error {
	if tag == "" || r.oldTags || r.match == nil || r.q.method == http.MethodPost {
		return nil
	}
	opaque, ok := header.ETag(tag)
	if !ok {
		return badRequest("bad_request", "@etag: this is no entity tag: %.80q", tag)
	}
	known := r.match.Any
	for _, t := range r.match.Tags {
		known = known || t == opaque
	}
	r.match = &write.Match{}
	if known {
		r.match.Tags = []string{opaque}
	}
	return nil
}

// absent is the fault of an entity that is not there, or not for the caller. Under a precondition it is the precondition that fails.
func (r *writer) absent() *fault {
	if r.match != nil && r.q.header["If-Match"] != nil {
		return refusalFault(&write.Refusal{Kind: write.PreconditionFailed})
	}
	return notFound("there is no such entity")
}

// refused makes the answer for a change that was not made.
func (r *writer) refused(c *changes, w *bind.Writing, ch *write.Change, err error) error {
	refusal, ok := errors.AsType[*write.Refusal](err)
	if !ok {
		return c.fault(err)
	}
	if again := r.again(c, w, refusal); again != nil {
		return again
	}
	if w.Released() != nil && (refusal.Kind == write.RowNotFound || refusal.Kind == write.PreconditionFailed) {
		return c.fault(&write.Refusal{Kind: write.Conflict, Cause: err}) // others link meanwhile
	}
	f := (*fault)(nil)
	switch kind := refusal.Kind; {
	case kind == write.RowNotFound && r.linked != nil: // others have removed it meanwhile
		return notFound("there is no such link")
	case kind == write.RowNotFound && w.Change.Kind == write.Link:
		return notFound("there is no such entity")
	case w.Reference != "" && kind == write.RowNotFound && ch.Kind == write.Update && ch.Match == nil:
		return refusalFault(&write.Refusal{Kind: write.PreconditionRequired, Cause: err})
	case w.Reference != "" && kind == write.RowNotFound && ch.Kind == write.Update && !ch.Match.Any:
		return refusalFault(&write.Refusal{Kind: write.PreconditionFailed, Cause: err})
	case w.Reference != "" && (kind == write.RowNotFound || kind == write.DeadLink):
		f = refusalFault(&write.Refusal{Kind: write.DeadLink, Cause: err})
		f.details = []detail{deadLink(w.Reference)}
		return f
	case kind == write.RowNotFound && w.Path == "":
		return r.absent()
	case kind == write.Conflict, kind == write.OneOfSeveral:
		return c.fault(err)
	case kind == write.InvalidValue:
		f = invalidFault(refusal, w)
		return f
	case kind == write.DeadLink:
		f = refusalFault(refusal)
		f.details = r.deadLinks(c, refusal, w, ch)
		return f
	}
	f = refusalFault(refusal)
	f.details = below(w.Path, f.details)
	return f
}

// invalidFault names the values that are missing or null and may not be.
func invalidFault(refusal *write.Refusal, w *bind.Writing) *fault {
	f := refusalFault(refusal)
	list := append(detailsOf(w.Absent, "required", "is missing"), detailsOf(w.Null, "required", "cannot be null")...)
	for _, nav := range w.Unlinked {
		list = append(list, detail{nav.Name, "required", nav.Name + " cannot be without an entity"})
	}
	if list != nil {
		f.details = list
	}
	f.details = below(w.Path, f.details)
	return f
}

// below names properties by their place in the body.
func below(path string, details []detail) []detail {
	if path == "" {
		return details
	}
	out := make([]detail, len(details))
	for i, d := range details {
		out[i] = detail{path + d.target, d.code, path + d.message}
	}
	return out
}

// deadLinks names the links that lead nowhere: those of the refusal. Where a database does not say which they are, those of the
// client are read, outside of the transaction, which has ended. A dead one may be hidden from the client, and has no name.
func (r *writer) deadLinks(c *changes, refusal *write.Refusal, w *bind.Writing, ch *write.Change) []detail {
	links := refusal.Links
	if links == nil {
		made := c.written
		c.close()
		var unknown []*edm.Navigation
		for _, nav := range ch.Links {
			if slices.ContainsFunc(made, func(row Written) bool { return row.Set == nav.Target.Name && row.Kind == write.Create.String() }) {
				if len(ch.Links) == 1 {
					unknown = append(unknown, nav)
				}
				continue // it may be a row that is gone with the transaction
			}
			if p := r.resource.Linked(ch, nav); p == nil {
				unknown = append(unknown, nav)
			} else if row, err := r.look(r.q, p); row == nil && err == nil {
				links = append(links, nav)
			}
		}
		if links == nil {
			links = unknown
		}
	}
	var out []detail
	for _, nav := range links {
		if at, ok := w.Bound[nav]; ok {
			out = append(out, deadLink(at))
			continue
		}
		var paths [][]*edm.Property
		for _, path := range nav.KeyPaths() {
			if slices.Contains(ch.Set.Type.Properties, path[0]) {
				paths = append(paths, path)
			}
		}
		out = append(out, below(w.Path, detailsOf(paths, "dead_link", "names no entity that is there"))...)
	}
	return out
}
