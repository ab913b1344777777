package bind

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/bind/internal/transform"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// applicable refuses query options that do not apply to the resource.
func (b *binding) applicable(t *target, q *syntax.Query) error {
	allowed := []string{"$format", "$schemaversion"}
	switch {
	case t.count:
		// The number ignores what only shapes the page; such options are read and then forgotten.
		allowed = append(allowed, "$filter", "$search", "$orderby", "$top", "$skip", "$select", "$expand", "$compute", "$count", "$apply")
	case t.value:
	case len(t.props) > 0:
		allowed = append(allowed, "$select", "$expand")
	case t.many && t.ref:
		allowed = append(allowed, "$filter", "$search", "$orderby", "$top", "$skip", "$count", "$compute")
	case t.many:
		allowed = append(allowed, "$filter", "$search", "$orderby", "$top", "$skip", "$count", "$compute", "$select", "$expand", "$apply")
	case !t.ref:
		allowed = append(allowed, "$select", "$expand", "$compute")
	}
	if b.KeyLinks && t.many && !t.count {
		allowed = append(allowed, "$skiptoken")
		if pos := optionPos(q, "$skip"); pos >= 0 && q.SkipToken != "" {
			return plan.Errorf(plan.Malformed, pos, "$skip does not go with $skiptoken, which has passed over those rows: leave $skip out")
		}
	}
	return b.only(q, allowed...)
}

// only refuses every system query option but the named ones.
func (b *binding) only(q *syntax.Query, allowed ...string) error {
	for _, o := range q.Options {
		switch {
		case len(o.Name) == 0 || o.Name[0] != '$' || slices.Contains(allowed, o.Name):
		case o.Name == "$index":
			return plan.Errorf(plan.NotImplemented, o.Pos, "%s is not supported", o.Name)
		case o.Name == "$skiptoken" && !b.KeyLinks:
			return plan.Errorf(plan.Malformed, o.Pos, "the service hands out no $skiptoken")
		default:
			return plan.Errorf(plan.Malformed, o.Pos, "%s does not apply to this resource", o.Name)
		}
	}
	return nil
}

// resource makes the plan for a resource.
func (b *binding) resource(t *target, q *syntax.Query) (*plan.Plan, error) {
	for _, f := range t.filters {
		t.query.Filter = plan.Join("and", t.query.Filter, f)
	}
	n := &plan.Node{Set: t.set(), Many: t.many, Query: t.query, Ref: t.ref, CountOnly: t.count}
	b.plan.Top, b.plan.Optional = n, t.optional
	var err error
	switch {
	case t.count:
		b.plan.Kind = plan.RawCount
		err = b.counted(n, q)
	case len(t.props) > 0:
		b.plan.Kind = plan.Property
		if t.value {
			b.plan.Kind = plan.RawValue
		}
		err = b.property(n, t.props, q)
	case t.many:
		b.plan.Kind = plan.Collection
		err = b.node(n, q, 0)
	default:
		b.plan.Kind = plan.Entity
		err = b.node(n, q, 0)
	}
	if err != nil {
		return nil, err
	}
	return b.plan, nil
}

// counted binds what a $count depends on, and checks the rest.
func (b *binding) counted(n *plan.Node, q *syntax.Query) error {
	if err := b.node(n, q, 0); err != nil {
		return err
	}
	n.Columns, n.Fields, n.Key, n.Expand, n.Query.Order = nil, nil, nil, nil, nil
	n.Page = plan.Page{}
	return nil
}

// property plans a single property, or a part of one.
func (b *binding) property(n *plan.Node, path []*edm.Property, q *syntax.Query) error {
	n.Page = single()
	keyColumns(n)
	tagColumns(n)
	last := path[len(path)-1]
	if last.Type.Kind != edm.Complex {
		if len(q.Select) > 0 || len(q.Expand) > 0 {
			return plan.Errorf(plan.Malformed, -1, "$select and $expand do not apply to this resource")
		}
		n.Fields = []plan.Field{field(n, path)}
		return nil
	}
	if len(q.Expand) > 0 {
		return plan.Errorf(plan.Malformed, -1, "there is nothing to expand below %q", last.Name)
	}
	sel := newSelection()
	for i := range q.Select {
		if err := b.selectItem(sel, &q.Select[i], last.Type.Complex.Properties, nil); err != nil {
			return err
		}
	}
	n.Explicit = len(q.Select) > 0
	n.Fields = []plan.Field{complexField(n, path, sel)}
	return nil
}

func single() plan.Page { return plan.Page{Limit: 1, Read: 1, Rows: 1} }

// level is a node whose query options are being bound.
type level struct {
	*binding
	*scope
	node *plan.Node
	// shape is what $apply has made; nil where there is none.
	shape *transform.Shape
}

// node binds the query options of one level.
func (b *binding) node(n *plan.Node, q *syntax.Query, depth int) error {
	l := &level{binding: b, scope: b.scope(n.Query.Range), node: n}
	if depth == 0 {
		l.it = n.Query.Range // $it is the instance of the resource path, not of an expanded one
	}
	return b.nodeOf(l, q, depth)
}

// nodeOf binds the query options of a level, in the order of OData-Protocol 11.2.1.
func (b *binding) nodeOf(l *level, q *syntax.Query, depth int) error {
	n := l.node
	if err := l.computeItems(q.Compute); err != nil {
		return err
	}
	if q.Search != nil {
		if err := l.search(q.Search); err != nil {
			return err
		}
	}
	if q.Filter != nil {
		f, err := l.condition(q.Filter)
		if err != nil {
			return err
		}
		if err := b.admit(f, q.Filter.Pos()); err != nil {
			return err
		}
		n.Query.Filter = plan.Join("and", n.Query.Filter, f)
	}
	n.Count = q.Count != nil && *q.Count
	if n.Many {
		if err := b.window(n, q); err != nil {
			return err
		}
		if err := l.order(q.OrderBy); err != nil {
			return err
		}
	} else {
		n.Page = single()
	}
	n.Pages = b.pages
	if err := b.expand(n, q, depth); err != nil {
		return err
	}
	if err := l.fields(q); err != nil {
		return err
	}
	if b.KeyLinks && n.Many && !n.CountOnly && n.Page.Next && stays(n.Query.Order) {
		b.cursor(n, q)
	}
	unshare(n)
	return nil
}

func (l *level) search(in *syntax.Search) error {
	if l.shape != nil {
		return l.apply.Search(l.shape, in)
	}
	set := l.node.Query.Range.Set
	if !set.Searchable {
		return plan.Errorf(plan.NotImplemented, in.Pos, "%q cannot be searched", set.Name)
	}
	l.node.Query.Search = search(in)
	return l.countSearch(in)
}

func (b *binding) window(n *plan.Node, q *syntax.Query) error {
	if top := b.Limits.MaxTop; top > 0 && q.Top != nil && *q.Top > top {
		return plan.Exceeded(optionPos(q, "$top"), "max_top", top, "$top is "+strconv.FormatInt(*q.Top, 10))
	}
	if n.CountOnly {
		n.Page = plan.Window{Top: q.Top, Skip: q.Skip, Prefer: b.Prefer}.Page(b.Limits)
		return nil
	}
	return b.page(n, q)
}

func optionPos(q *syntax.Query, name string) int {
	for _, o := range q.Options {
		if o.Name == name {
			return o.Pos
		}
	}
	return -1
}

// order binds $orderby and appends the key, so that the order is total, or the order that $apply has given. What an earlier
// item has decided on is left out.
func (l *level) order(items []syntax.OrderItem) error {
	q := l.node.Query
	list, err := l.orderItems(q.Order, items)
	if err != nil {
		return err
	}
	if l.shape != nil {
		for _, o := range l.shape.Order {
			list = o.Behind(list)
		}
		q.Order = list
		return nil
	}
	for _, p := range q.Range.Set.Type.Key {
		list = plan.Order{Expr: q.Range.Leaf([]*edm.Property{p})}.Behind(list)
	}
	q.Order = list
	return nil
}

// orderItems appends the items of $orderby to list, but for constants and for expressions that list orders by already:
// they change nothing.
func (l *level) orderItems(list []plan.Order, items []syntax.OrderItem) ([]plan.Order, error) {
	for _, item := range items {
		e, err := l.bind(item.Expr)
		if err != nil {
			return nil, err
		}
		if k := e.Type().Kind; k == edm.Complex || k == edm.Entity || k == edm.Stream || e.Type().Collection {
			return nil, plan.Errorf(plan.Malformed, item.Expr.Pos(), "nothing can be ordered by %s", syntax.Describe(item.Expr))
		}
		if err := l.admit(e, item.Expr.Pos()); err != nil {
			return nil, err
		}
		if _, constant := e.(*plan.Literal); !constant {
			list = plan.Order{Expr: e, Desc: item.Desc}.Behind(list)
		}
	}
	return list, nil
}

// computeItems binds $compute; later items may use earlier ones. OData-URL 5.1.10
func (l *level) computeItems(items []syntax.ComputeItem) error {
	t := l.node.Set.Type
	for _, item := range items {
		if t.Property(item.As) != nil || t.Nav(item.As) != nil || l.computed[item.As] != nil {
			return plan.Errorf(plan.Malformed, item.AsPos, "the name %q is taken", item.As)
		}
		e, err := l.bind(item.Expr)
		if err != nil {
			return err
		}
		if k := e.Type().Kind; k == edm.Entity || k == edm.Complex || e.Type().Collection {
			return plan.Errorf(plan.Malformed, item.Expr.Pos(), "%s is not a primitive value", syntax.Describe(item.Expr))
		}
		if e.Type().Kind == edm.Null {
			e = &plan.Literal{T: edm.Of(edm.String), Value: plan.Value{Null: true}}
		}
		if l.computed[item.As], err = l.compute(item, e); err != nil {
			return err
		}
	}
	return nil
}
