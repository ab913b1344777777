package odata

import (
	"errors"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// linkMethods are those that write a collection below an entity, or the $ref of a navigation property.
func linkMethods(r *bind.Resource) []string {
	switch own := r.Own.Set; {
	case r.Kind == bind.OfRelated && own.CreatesBelow(r.Nav):
		return []string{http.MethodPost}
	case r.Kind == bind.OfRelated, !own.Relinks(r.Nav):
		return nil
	case !r.Nav.Collection:
		return []string{http.MethodPut, http.MethodDelete}
	case r.Find == nil && r.Key == nil:
		return []string{http.MethodPost, http.MethodDelete}
	}
	return []string{http.MethodDelete}
}

// entity resolves the addresses in a body, and refuses what cannot be in the body of such a request.
func (r *writer) entity(b *payload.Body) (*bind.Entity, error) {
	out := &bind.Entity{Values: b.Values, Path: b.Path}
	var linked map[*edm.Navigation]bool
	if len(b.Related) > 0 {
		linked = map[*edm.Navigation]bool{}
	}
	for i := range b.Related {
		of := &b.Related[i]
		if err := r.mayRelate(of); err != nil {
			return nil, err
		}
		rel := bind.Related{Nav: of.Nav, Path: of.Path, Inline: !of.Bound, Null: of.Null}
		if linked[of.Nav] && !of.Nav.Collection {
			return nil, inBody(of.Path, "is there twice")
		}
		linked[of.Nav] = true
		for _, id := range of.IDs {
			target, err := r.reference(id, of.Nav.Target, of.Path)
			if err != nil {
				return nil, err
			}
			rel.References = append(rel.References, target)
		}
		for _, e := range of.Entities {
			if isReference(e) {
				target, err := r.reference(e.ID, of.Nav.Target, of.Path)
				if err != nil {
					return nil, err
				}
				rel.References = append(rel.References, target)
				continue
			}
			entity, err := r.entity(e)
			if err != nil {
				return nil, err
			}
			rel.Entities = append(rel.Entities, entity)
		}
		out.Related = append(out.Related, rel)
	}
	return out, nil
}

// isReference reports whether an object in a body names an entity, and gives it no values.
func isReference(e *payload.Body) bool {
	return e.ID != "" && len(e.Values) == 0 && len(e.Related) == 0
}

// mayRelate refuses entities in the body of a change: under OData 4.0, which has no such thing, and changes of them under 4.01.
func (r *writer) mayRelate(of *payload.Related) error {
	post := r.q.method == http.MethodPost
	switch {
	case of.Delta:
	case of.Bound, post:
		return nil
	case r.oldTags:
		f := inBody(of.Path, "related entities cannot be in the body of "+r.q.method+" under OData 4.0")
		return f
	case !of.Nav.Collection && (of.Null || isReference(of.Entities[0])):
		return nil
	}
	f := inBody(of.Path, "changes of related entities in a body are not supported")
	f.status, f.code = http.StatusNotImplemented, "not_implemented"
	f.details[0].code = f.code
	return f
}

// inBody is the fault of a navigation property in a body.
func inBody(path, what string) *fault {
	if path == "" {
		return badRequest("bad_request", "%s", what)
	}
	f := badRequest("bad_request", "%s: %s", path, what)
	f.details = []detail{{path, f.code, f.message}}
	return f
}

// reference resolves the address of an entity of a set. path is the one in the body, or the name of a query option.
func (r *writer) reference(id string, of *edm.EntitySet, path string) (*bind.Resource, error) {
	bad := func() error { return inBody(path, "the address names no entity of "+of.Name) }
	address, row := r.q.went.place(id)
	target, f := r.q.resolve(r.opts.Root, address)
	if f != nil {
		return nil, bad()
	}
	named := &request{}
	if named.locate(r.opts.Root, target) != nil {
		return nil, bad()
	}
	if strings.Contains(named.target, "?") {
		return nil, inBody(path, "the address of an entity takes no options")
	}
	parsed, err := syntax.Parse(named.target, syntaxOptions(r.q))
	if err != nil {
		return nil, bad()
	}
	if row == nil && r.q.went.unknown(id) {
		return nil, bind.ErrUnforeseen
	}
	o := r.bindOptions(r.q)
	o.Row = row
	res, err := r.binder.Resource(parsed, o)
	switch {
	case errors.Is(err, bind.ErrUnforeseen):
		return nil, err
	case err != nil || res.Kind != bind.OfEntity || res.Set != of:
		return nil, bad()
	}
	r.refers = r.refers || row != nil
	return res, nil
}

// bindReference makes the change of a request to $ref.
func (r *writer) bindReference(c *changes) (*bind.Sequence, error) {
	o := bind.WriteOptions{Minimal: true, Match: r.match, Amended: r.amended}
	if r.q.method != http.MethodDelete {
		id, err := r.writing.body.Reference(r.body)
		if err != nil {
			return nil, bodyFault(err)
		}
		to, err := r.reference(id, r.resource.Set, "@odata.id")
		if err != nil {
			return nil, err
		}
		return r.resource.Refer(to, o)
	}
	r.linked = r.resource
	if r.resource.Find == nil && r.resource.Key == nil && r.resource.Nav.Collection {
		if r.id == "" {
			return nil, badRequest("bad_request", "the option $id says which link to remove")
		}
		to, err := r.reference(r.id, r.resource.Set, "$id")
		if err != nil {
			return nil, err
		}
		key := to.Key
		if key == nil {
			if key, err = r.linkedKey(c, to); err != nil || key == nil {
				return nil, orAbsent(err, notFound("there is no such link"))
			}
		}
		if r.linked, err = r.resource.Member(key); err != nil {
			return nil, err
		}
	}
	return r.resource.Unlink(r.linked, o)
}

// linkedKey reads the key of an entity that $id names by another one; nil where there is none.
func (r *writer) linkedKey(c *changes, to *bind.Resource) ([]plan.Value, error) {
	if to.Find == nil {
		return nil, bind.ErrUnforeseen
	}
	if c.foresight != nil {
		row, err := c.foresight.Found(to.Find)
		if row == nil || err != nil {
			return nil, err
		}
		return to.Find.Top.KeyOf(row), nil
	}
	if err := c.begin(r.q); err != nil {
		return nil, err
	}
	if c.once != nil && c.once.known {
		return nil, errAnswered
	}
	return r.find(c, to.Find)
}

// bodyFault is the fault of a body that could not be read.
func bodyFault(err error) error {
	bad, ok := errors.AsType[*payload.BodyError](err)
	switch {
	case !ok:
		return err
	case bad.TooMany:
		return tooManyChanges()
	}
	f := badRequest("bad_request", "%s", bad.Error())
	if bad.Path != "" {
		f.details = []detail{{bad.Path, "bad_value", bad.Message}}
	}
	return f
}

// bindFault is the fault of a change that package bind refuses.
func (r *writer) bindFault(err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if errors.Is(err, errAnswered) || errors.Is(err, errAgain) || errors.Is(err, bind.ErrUnforeseen) {
		return err
	}
	f := faultOf(r.q.ctx, err)
	if at, ok := errors.AsType[*bind.PlaceError](err); ok {
		f.details = []detail{{at.Path, f.code, f.message}}
	}
	return f
}
