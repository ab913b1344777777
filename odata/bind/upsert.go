package bind

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Upserts reports whether a PATCH or PUT of the resource creates the entity if it is not there: the path names it by its key alone,
// and a client may choose the key (OData-Protocol 11.4.4).
func (r *Resource) Upserts() bool {
	return r.Kind == OfEntity && r.Key != nil && r.Set.Upserts()
}

// Upsert binds the creation of the entity that the path names, with the links that the body has. The key is that of the path,
// whatever the body says. One that its column cannot hold is a fault here, since a path that only reads may have it.
func (r *Resource) Upsert(e *Entity, o WriteOptions) (*Sequence, error) {
	created, with := *r, *e
	created.Key = nil
	with.Values = slices.DeleteFunc(slices.Clone(e.Values), func(a write.Assignment) bool { return len(a.Path) == 1 && r.Set.Type.IsKey(a.Path[0]) })
	for i, p := range r.Set.Type.Key {
		if what := scalar.Misfit(r.Key[i].Bytes, &p.Type); what != "" {
			return nil, at(plan.Errorf(plan.Malformed, -1, "%s %s", p.Name, what), p.Name)
		}
		with.Values = append(with.Values, write.Assignment{Path: []*edm.Property{p}, Value: r.Key[i]})
	}
	return created.Create(&with, WriteOptions{Minimal: o.Minimal, Amended: o.Amended})
}
