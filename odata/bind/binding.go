package bind

import (
	"github.com/vestibule-dev/vestibule/v2/odata/bind/internal/transform"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// binding is the state of one request while it is bound. It is for one goroutine.
type binding struct {
	binder *Binder
	Options
	plan *plan.Plan
	// options are those of the request, behind those of the expanded properties around; aliases the parameter aliases in force,
	// inner ones last.
	options []syntax.Option
	aliases [][]syntax.Alias
	// rawPath is the resource path as it was sent.
	rawPath string
	// resolving are the aliases that are being bound, against circles.
	resolving map[string]bool
	// owner is the query whose joins a range may add to.
	owner map[*plan.Range]*plan.Query
	// ranges, nodes and expands count what was made so far: ranges for their IDs, the others against the limits.
	ranges, nodes, expands int
	// searched reports that a word to search for was counted.
	searched bool
	// tops is the product of the $top from the top down to the collection around, explicit their number, pages that of the
	// nested collections without $top. promised is the sum of tops over all collections that have a $top.
	tops, promised  int64
	explicit, pages int
	// apply binds the transformations of $apply; nil where there are none.
	apply *transform.Builder
	// again are the nested options that $levels made of those of the level above.
	again map[*syntax.Query]bool
	// costs are those of the $compute expressions; steps is what all expressions cost for one row.
	costs map[*plan.Computed]cost
	steps int64
	// pieces are those of the columns of derived tables, as far as somebody has asked.
	pieces map[derivedColumn]int64
}

func newBinding(binder *Binder, o Options) *binding {
	o.Limits = o.Limits.WithDefaults()
	return &binding{
		binder: binder, Options: o, plan: &plan.Plan{Limits: o.Limits}, tops: 1,
		costs: map[*plan.Computed]cost{}, pieces: map[derivedColumn]int64{}, resolving: map[string]bool{}, again: map[*syntax.Query]bool{}, owner: map[*plan.Range]*plan.Query{},
	}
}

// enter is the one gate of a set: every way in makes its range here, so that guard and policy hold on all of them.
func (b *binding) enter(set *edm.EntitySet) (*plan.Range, error) {
	if err := b.Caller.Pass(set.Guard); err != nil {
		return nil, err
	}
	if set.Guard != edm.GuardNone {
		b.plan.Private = true
	}
	r := b.newRange(set)
	b.applyPolicy(r)
	return r, nil
}

// newRange makes a range over a set, without guard and policy.
func (b *binding) newRange(set *edm.EntitySet) *plan.Range {
	r := &plan.Range{ID: b.ranges, Set: set}
	b.ranges++
	return r
}

// query makes a query over a range; to-one navigation from the range will add to its joins.
func (b *binding) query(r *plan.Range) *plan.Query {
	q := &plan.Query{Range: r}
	b.owner[r] = q
	return q
}

// scope is where the expressions of a range are bound.
func (b *binding) scope(this *plan.Range) *scope {
	return &scope{b: b, this: this, computed: map[string]plan.Expr{}}
}

// system answers for what is not data; the service's own guard holds there.
func (b *binding) system(k plan.Kind, req *syntax.Request) (*plan.Plan, error) {
	if err := b.Caller.Pass(b.binder.model.Guard); err != nil {
		return nil, err
	}
	if err := b.only(&req.Query, "$format", "$schemaversion"); err != nil {
		return nil, err
	}
	b.plan.Kind, b.plan.Private = k, b.binder.model.Guard != edm.GuardNone
	return b.plan, nil
}
