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
	// OfReference is the $ref of an entity or of a collection.
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

	binder *Binder
	opts   Options
	query  *syntax.Query
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
	out.Set, out.Props = t.set(), t.props
	switch {
	case t.count, len(t.filters) > 0:
		return out, nil
	case t.ref:
		out.Kind = OfReference
		return out, nil
	case t.many && t.query.From != nil:
		out.Kind = OfRelated
		return out, nil
	case t.many:
		out.Kind = OfSet
		return out, nil
	case t.set().Single():
		out.Kind = OfSingleton
		return out, nil
	case t.value:
		out.Kind = OfValue
	case len(t.props) > 0:
		out.Kind = OfProperty
	default:
		out.Kind = OfEntity
	}
	out.Key = keyIn(t.query)
	n := &plan.Node{Set: t.set(), Query: t.query, Ref: true, Page: single()}
	keyColumns(n)
	b.plan.Kind, b.plan.Top = plan.Entity, n
	out.Find = b.plan
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
