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

// bind reads the body and makes the change of it. Its faults are 400.
func (r *writer) bind() (*bind.Writing, error) {
	values, err := r.values()
	if err != nil {
		return nil, err
	}
	o := bind.WriteOptions{Minimal: r.minimal, Complete: r.q.method == http.MethodPut, Match: r.match, Checks: r.checks}
	var w *bind.Writing
	switch {
	case r.resource.Kind == bind.OfEntity && r.q.method == http.MethodDelete:
		w, err = r.resource.Delete(o)
	case r.q.method == http.MethodPost:
		w, err = r.resource.Create(values, o)
	default:
		w, err = r.resource.Update(values, o)
	}
	if err != nil {
		return nil, faultOf(r.q.ctx, err)
	}
	if len(w.LeftOut) > 0 {
		return nil, &fault{
			status: http.StatusBadRequest, code: "bad_request", pos: -1, details: detailsOf(w.LeftOut, "required", "is missing: PUT needs all values"),
			message: "PUT needs a value of each property that can be changed; PATCH takes some of them",
		}
	}
	if err := r.source.Fits(w.Change.Set, w.Change.Values); err != nil {
		refusal, ok := errors.AsType[*write.Refusal](err)
		if !ok {
			return nil, faultOf(r.q.ctx, err)
		}
		if !slices.ContainsFunc(refusal.Properties, w.Gives) {
			return nil, refusalFault(refusal)
		}
		w.Change.Refused = true // as it is where the caller has no value for the service to write
	}
	return w, nil
}

// checks returns the checks of a shape, from the cache of plans where they are there.
func (r *writer) checks(shape string, bound func() (*bind.Checks, error)) (*bind.Checks, error) {
	key := planKeyOf(r.q)
	_, query, _ := strings.Cut(r.q.target, "?")
	key.target, key.shape = shape+"?"+query, true
	if known := r.cache.plan(key); known != nil {
		return known.checks, nil
	}
	checks, err := bound()
	if err == nil && checks.Keep() {
		r.cache.addPlan(key, &planned{checks: checks})
	}
	return checks, err
}

// values reads the properties in the body.
func (r *writer) values() ([]write.Assignment, error) {
	var body *payload.Body
	var err error
	switch {
	case r.q.method == http.MethodDelete && r.resource.Kind == bind.OfEntity:
		return nil, nil
	case r.q.method == http.MethodDelete:
		return []write.Assignment{{Path: r.resource.Props, Value: plan.Value{Null: true}}}, nil
	case r.resource.Kind == bind.OfValue:
		body, err = r.writing.body.Value(r.body, r.resource.Props)
	case r.resource.Kind == bind.OfProperty:
		body, err = r.writing.body.Property(r.body, r.resource.Props)
	default:
		body, err = r.writing.body.Entity(r.body, r.resource.Set.Type)
	}
	if bad, ok := errors.AsType[*payload.BodyError](err); ok {
		f := badRequest("bad_request", "%s", bad.Error())
		if bad.Path != "" {
			f.details = []detail{{bad.Path, "bad_value", bad.Message}}
		}
		return nil, f
	}
	if err != nil {
		return nil, err
	}
	if len(body.Related) > 0 {
		return nil, r.related(body.Related[0])
	}
	return body.Values, r.matchBody(body.Tag)
}

// related refuses related entities and references in a body.
func (r *writer) related(of payload.Related) error {
	f := badRequest("bad_request", "%s: related entities cannot be in the body of %s under OData 4.0", of.Nav.Name, r.q.method)
	if r.q.method == http.MethodPost || !r.oldTags {
		f.status, f.code = http.StatusNotImplemented, "not_implemented"
		f.message = of.Nav.Name + ": related entities and references in a body are not supported"
	}
	f.details = []detail{{of.Nav.Name, f.code, f.message}}
	return f
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
func (r *writer) refused(c *changes, w *bind.Writing, err error) error {
	refusal, ok := errors.AsType[*write.Refusal](err)
	if !ok {
		return c.fault(err)
	}
	var f *fault
	switch refusal.Kind {
	case write.RowNotFound:
		return r.absent()
	case write.Conflict:
		return c.fault(err)
	case write.InvalidValue:
		f = refusalFault(refusal)
		if list := append(detailsOf(w.Absent, "required", "is missing"), detailsOf(w.Null, "required", "cannot be null")...); list != nil {
			f.details = list
		}
	case write.DeadLink:
		f = refusalFault(refusal)
		f.details = r.deadLinks(c, refusal, w.Change)
	default:
		f = refusalFault(refusal)
	}
	return f
}

// deadLinks names the foreign keys that lead nowhere: those of the refusal, or the only one that was written. Where a database
// does not say which of several it is, they are read, outside of the transaction, which has ended.
func (r *writer) deadLinks(c *changes, refusal *write.Refusal, ch *write.Change) []detail {
	links := refusal.Links
	switch {
	case links != nil:
	case len(ch.Links) == 1:
		links = ch.Links
	default:
		c.close()
		var unknown []*edm.Navigation
		for _, nav := range ch.Links {
			if p := r.resource.Linked(ch, nav); p == nil {
				unknown = append(unknown, nav)
			} else if !r.there(p) {
				links = append(links, nav)
			}
		}
		if links == nil {
			links = unknown
		}
	}
	var paths [][]*edm.Property
	for _, nav := range links {
		for _, path := range nav.KeyPaths() {
			if slices.Contains(ch.Set.Type.Properties, path[0]) {
				paths = append(paths, path)
			}
		}
	}
	return detailsOf(paths, "dead_link", "names no entity that is there")
}

// there reports whether a plan finds a row, or cannot be asked.
func (r *writer) there(p *plan.Plan) bool {
	own := *r.q
	own.changes = nil
	o, err := r.answers.open(&own, p)
	if err != nil {
		return true
	}
	defer func() {
		_ = o.held.Close() // nothing was written that could be lost
		o.clock.stop()
	}()
	return o.rows.Next() || o.rows.Err() != nil
}
