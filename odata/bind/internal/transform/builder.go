package transform

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Expressions binds what stands inside of transformations, and counts what counts for the whole request.
type Expressions interface {
	// Range makes a range over what transformations have made of a set, whose guard and policy held before.
	Range(*edm.EntitySet) *plan.Range
	// Own has the paths of later expressions over the range of a query, and over its joins, add their joins to that query.
	Own(*plan.Query)
	// Bind binds an expression over one row, Condition one that must be Boolean.
	Bind(*Shape, syntax.Expr) (plan.Expr, error)
	Condition(*Shape, syntax.Expr) (plan.Expr, error)
	// Compute binds compute: the names are in Shape.Names already, and what they stand for goes into Shape.Computed.
	Compute(*Shape, []syntax.ComputeItem) error
	// OrderBy binds the items of orderby that are not constant.
	OrderBy(*Shape, []syntax.OrderItem) ([]plan.Order, error)
	// Words brings a search into the form of a plan.
	Words(*syntax.Search) (*plan.Search, error)
	// Constant gives a constant another type where that loses nothing; everything else stays as it is.
	Constant(plan.Expr, edm.Type) plan.Expr
	// Count counts a part of an expression, and Admit what evaluating one takes for each row, against the limits.
	Count(pos int) error
	Admit(e plan.Expr, pos int) error
	// Steps bounds what an expression takes for one row.
	Steps(plan.Expr) int64
}

// Builder binds the transformations of one request. It is for one goroutine.
type Builder struct {
	Expressions
	// limit and steps are how many transformations there may be, and are.
	limit, steps int
	// passed reports that a transformation has passed over all rows.
	passed bool
	// bits are the places, in a mask, of the paths that not every row has.
	bits map[string]int
}

// New makes a Builder for a request that may have so many transformations, those inside of others counted.
func New(e Expressions, limit int) *Builder {
	return &Builder{Expressions: e, limit: limit, bits: map[string]int{}}
}

// Apply binds transformations over the entities of a query. A fault is a *plan.Error, or one of Expressions.
func (b *Builder) Apply(q *plan.Query, steps []syntax.Step) (*Shape, error) {
	return b.sequence(b.entities(q), steps)
}
