package plan

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Derived is rows that are computed from those of other queries, by transformations of $apply.
type Derived struct {
	// Whole tells that a row is a row of Range.Set with all its properties, and has Columns besides: a Ref of such a range
	// is what it is elsewhere. There is one Part then, which is not Grouped.
	Whole   bool
	Columns []DerivedColumn
	// At holds, for the properties of the type of Range.Set that are primitive, and for those inside of complex ones, the
	// index of the column. Nil when Whole.
	At map[*edm.Property]int
	// Parts have rows that belong together; concat has several.
	Parts []*Part
	// Sets is for the groupings of a rollup: each of Parts has the rows of a Grouped part as they are, all of these group the
	// same rows, and the first has all keys. It holds a bit for each key that the part does not have, the last key's the
	// lowest. Nil for all else.
	Sets []int
}

// DerivedColumn is one column of a Derived.
type DerivedColumn struct {
	// Name is for people.
	Name string
	T    edm.Type
}

// Part is how some of the rows of a Derived are computed.
type Part struct {
	// Query are the rows that they are computed from. Its order does not matter.
	Query *Query
	// Grouped tells that a row stands for all rows of Query with the same Keys; null is a key like others. Without Keys
	// there is one row, also where Query has none.
	Grouped bool
	// Keys are each a *Ref or a *Cell.
	Keys []Expr
	// Values has one expression for each column.
	Values []Expr
	// Aggregates are those that are in Values, by their ID.
	Aggregates []*Aggregate
	// Limit is the number of rows of Query that are kept at most, the first ones of Order; nil keeps all. A Grouped part has
	// none, and neither has one of several. Order is total.
	Limit *int64
	Order []Order
}

// Cell is a column of the row that a range over a Derived stands on.
type Cell struct {
	Range  *Range
	Column int
	T      edm.Type
}

// Aggregate is a value of several rows. It stands in Part.Values only: in a Grouped part it is a value of the group,
// otherwise Over tells of which rows.
type Aggregate struct {
	// Op is "sum", "min", "max", "countdistinct", "count" (of rows, or of values that are not null where there is an Arg), or
	// "row", the number of the row in its window, from 1.
	Op string
	// Arg is what is aggregated; nulls are passed over. Nil for the "count" of rows and for "row".
	Arg Expr
	// When leaves out the rows for which it is not true; nil for none.
	When Expr
	// T is the type of the result: null where there is no value, 0 for counts.
	T edm.Type
	// ID is its place in Part.Aggregates.
	ID   int
	Over *Frame
}

// Frame are the rows that an Aggregate goes over.
type Frame struct {
	// Partition are the expressions that are the same in all of the rows; null is the same as null.
	Partition []Expr
	// Order is total within the partition. With it a "sum" is that of the rows before the current one; without it, of
	// all.
	Order []Order
}

// Type is the type of the column.
func (c *Cell) Type() edm.Type { return c.T }

// Type is the type of the result.
func (a *Aggregate) Type() edm.Type { return a.T }

func (a *Aggregate) walk(visit func(Expr) bool) {
	Walk(a.Arg, visit)
	Walk(a.When, visit)
	if a.Over == nil {
		return
	}
	for _, e := range a.Over.Partition {
		Walk(e, visit)
	}
	for _, o := range a.Over.Order {
		Walk(o.Expr, visit)
	}
}
