package bind

import (
	"errors"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// ResourceKind is the sort of resource that a request to write names.
type ResourceKind uint8

// The kinds of resources.
const (
	// OfSystem is the service document, $metadata, a $count, or another resource that nobody writes.
	OfSystem ResourceKind = iota
	// OfSet is an entity set, OfRelated a collection below an entity.
	OfSet
	OfRelated
	// OfEntity is one entity, by key or by navigation; OfSingleton a singleton.
	OfEntity
	OfSingleton
	// OfProperty is a property of an entity, OfValue its plain value.
	OfProperty
	OfValue
	// OfReference is the $ref behind a navigation property, or behind an entity of a collection.
	OfReference
)

// Resource is the resource that a request to write names. It is for one goroutine.
type Resource struct {
	Kind ResourceKind
	// Set is the one that the entities belong to; nil for OfSystem.
	Set *edm.EntitySet
	// Props is the path of OfProperty and OfValue.
	Props []*edm.Property
	// Key holds the values of Set.Type.Key where the path names the entity by them alone; nil elsewhere.
	Key []plan.Value
	// Find reads the key of the entity; nil without one. The entity that it does not find does not exist for the caller.
	Find *plan.Plan
	// Nav is the navigation property that OfRelated and OfReference are behind, Own the entity that has it. They are nil
	// elsewhere, and for the $ref of a set.
	Nav *edm.Navigation
	Own *Resource
	// Row is the earlier change whose row the entity is, while its key is not known: see Options.Row. Key and Find are nil then. Below
	// such an entity Find is nil, too, and Key is that of the path.
	Row *Writing

	binder *Binder
	opts   Options
	query  *syntax.Query
	// ranges counts those that the path has made.
	ranges int
}

// Resource resolves the path of a request to write, with the guards of all sets on it. The fault is a *plan.Error or a
// *syntax.Error. Query options are left to Create and Update.
func (binder *Binder) Resource(req *syntax.Request, o Options) (*Resource, error) {
	out := &Resource{binder: binder, opts: o, query: &req.Query}
	b := newBinding(binder, o)
	b.aliases, b.options = [][]syntax.Alias{req.Aliases}, req.Options
	if len(req.Segments) == 0 || req.Segments[0].Name == "$metadata" && len(req.Segments) == 1 {
		return out, b.Caller.Pass(binder.model.Guard)
	}
	t, err := b.path(req.Segments)
	if err != nil {
		return nil, err
	}
	out.Set, out.Props, out.ranges = t.set(), t.props, b.ranges
	if t.query.From != nil {
		out.Nav, out.Own = t.query.Range.Nav, b.entity(t.query.From, o)
	}
	switch {
	case t.count, len(t.filters) > 0:
		return out, nil
	case t.ref && t.many:
		if out.Kind = OfReference; b.only(out.query, "$id") != nil {
			return out, b.only(out.query, "$id")
		}
		return out, out.ofRow(o.Row)
	case t.many && t.query.From != nil:
		out.Kind = OfRelated
		return out, out.ofRow(o.Row)
	case t.many:
		out.Kind = OfSet
		return out, nil
	case t.set().Single():
		out.Kind = OfSingleton
		return out, nil
	case t.ref:
		if out.Kind = OfReference; b.only(out.query) != nil {
			return out, b.only(out.query)
		}
	case t.value:
		out.Kind = OfValue
	case len(t.props) > 0:
		out.Kind = OfProperty
	default:
		out.Kind = OfEntity
	}
	if o.Row != nil {
		if out.Nav != nil && (out.Kind != OfReference || out.Nav.Collection) {
			out.Key = keyOf(t.query)
		}
		return out, out.ofRow(o.Row)
	}
	out.Key, out.Find = KeyIn(t.query), b.keyPlan(t.query)
	return out, nil
}

// ErrUnforeseen is the fault of a path, or of a plan, that names an entity by a row which is not there before the transaction.
var ErrUnforeseen = errors.New("the entity depends on an earlier change of the group")

// ofRow makes the entity that the path names, or the one above it, that of an earlier change; nil for none. Entities further
// down the path need a key.
func (r *Resource) ofRow(row *Writing) error {
	above := r.Kind == OfRelated || r.Kind == OfReference
	switch {
	case row == nil:
	case r.Own == nil:
		r.Row = row
	case r.Own.Row == nil, !above && r.Key == nil:
		return ErrUnforeseen
	}
	return nil
}

// For returns the resource for another request with the same guards. The resource must be one OfSet.
func (r *Resource) For(o Options) *Resource {
	out := *r
	out.opts = o
	return &out
}

// Query returns the query options of the request.
func (r *Resource) Query() *syntax.Query { return r.query }

// keyPlan makes the plan that reads the key of an entity.
func (b *binding) keyPlan(q *plan.Query) *plan.Plan {
	n := &plan.Node{Set: q.Range.Set, Query: q, Ref: true, Page: single()}
	keyColumns(n)
	p := *b.plan
	p.Kind, p.Top = plan.Entity, n
	return &p
}

// entity is the resource of an entity that a path goes through.
func (b *binding) entity(q *plan.Query, o Options) *Resource {
	r := &Resource{Kind: OfEntity, Set: q.Range.Set, binder: b.binder, opts: o, query: &syntax.Query{}}
	if o.Row != nil && q.From == nil {
		r.Row = o.Row
	} else {
		r.Key, r.Find = KeyIn(q), b.keyPlan(q)
	}
	return r
}

// KeyIn returns the values of the primary key where the key of a query is a comparison with each of them and no more; else
// nil.
func KeyIn(q *plan.Query) []plan.Value {
	if q.From != nil {
		return nil
	}
	return keyOf(q)
}

// keyOf is KeyIn for the last entity of a path.
func keyOf(q *plan.Query) []plan.Value {
	if q.Key == nil {
		return nil
	}
	key := q.Range.Set.Type.Key
	values, known := make([]plan.Value, len(key)), 0
	var collect func(plan.Expr) bool
	collect = func(e plan.Expr) bool {
		call, ok := e.(*plan.Call)
		if !ok || len(call.Args) != 2 {
			return false
		}
		if call.Name == "and" {
			return collect(call.Args[0]) && collect(call.Args[1])
		}
		ref, isRef := call.Args[0].(*plan.Ref)
		lit, isLit := call.Args[1].(*plan.Literal)
		if call.Name != "eq" || !isRef || !isLit || len(ref.Path) != 1 || lit.T.Kind != ref.T.Kind {
			return false
		}
		i := slices.Index(key, ref.Path[0])
		if i < 0 {
			return false
		}
		values[i], known = lit.Value, known+1
		return true
	}
	if !collect(q.Key) || known != len(key) {
		return nil
	}
	return values
}
