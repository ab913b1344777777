package bind

import (
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
		out.Kind = OfReference
		return out, b.only(out.query, "$id")
	case t.many && t.query.From != nil:
		out.Kind = OfRelated
		return out, nil
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
	out.Key, out.Find = keyIn(t.query), b.keyPlan(t.query)
	return out, nil
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
	return &Resource{Kind: OfEntity, Set: q.Range.Set, Key: keyIn(q), Find: b.keyPlan(q), binder: b.binder, opts: o, query: &syntax.Query{}}
}

// keyIn returns the values of the primary key where the key of a query is a comparison with each of them and no more; else
// nil.
func keyIn(q *plan.Query) []plan.Value {
	if q.From != nil || q.Key == nil {
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
