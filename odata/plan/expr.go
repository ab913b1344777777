package plan

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Expr is a typed expression: one of *Literal, *Ref, *Cell, *Call, *Sub, *Computed, *Aggregate.
//
// Null logic is that of OData-URL 5.1.1.1 and not that of SQL: comparisons with one null operand are false (ne: true),
// two nulls are equal; and, or, not know three values; every other function of null is null.
type Expr interface {
	// Type is the type of the result; Kind edm.Null for the literal null.
	Type() edm.Type
}

// Literal is a constant. Its value is in the form that Value documents for its type.
type Literal struct {
	T     edm.Type
	Value Value
	// Adapts marks a column of the user in a policy: it takes the type of what it is compared with.
	Adapts bool
	// Zoned marks an instant that was written with another offset than that of UTC, which Value does not tell any more.
	Zoned bool
}

// Ref is a property of an entity that a range goes over.
type Ref struct {
	Range *Range
	// Path is the property, behind the complex properties that contain it.
	Path []*edm.Property
	T    edm.Type
}

// Call is an operator or a canonical function over arguments of the types it demands (operands are promoted by
// inserted "cast" calls where a source must know about it).
type Call struct {
	// Name is the name in lower case of an entry of the catalogue in package function.
	// "in" has the tested operand first and the list behind it; "case" has conditions and results in turn.
	Name string
	Args []Expr
	T    edm.Type
}

// Sub is an expression over another range of entities.
type Sub struct {
	// Op is "any", "all" (the predicate is Query.Filter), "count", or "value" (Value over the single row of Query).
	Op    string
	Query *Query
	Value Expr
	T     edm.Type
	// Shared reports that Counts of a query around has it.
	Shared bool
}

// Computed is an expression of $compute wherever its name stands: one value for each row of the Query that has it in
// Query.Computed. Expressions that others build on make a graph, which doubles with each of them when it is written out
// as a tree; so a source computes a Shared one once for each row.
type Computed struct {
	Name string
	Expr Expr
	// ID is its place in Query.Computed, from 0.
	ID int
	// Shared tells that computing it wherever it stands would cost too much.
	Shared bool
	// Level is how many Shared ones build on each other up to here, this one included; 0 for those that are not Shared.
	Level int
}

// Type is the literal's type.
func (l *Literal) Type() edm.Type { return l.T }

// Type is the property's type.
func (r *Ref) Type() edm.Type { return r.T }

// Type is the type of the result.
func (c *Call) Type() edm.Type { return c.T }

// Type is Boolean for any and all, Int64 for count.
func (s *Sub) Type() edm.Type { return s.T }

// Type is the type of the expression.
func (c *Computed) Type() edm.Type { return c.Expr.Type() }

// Range is a variable that goes over the entities of a set, as far as Policy lets the caller see them.
type Range struct {
	// ID is unique within a plan, from 0.
	ID  int
	Set *edm.EntitySet
	// Policy must hold for a row to exist at all; nil when there is none. It is an expression over this range, and
	// the ranges inside of it have no policy of their own: it is the operator's word.
	Policy Expr
	// Derived is where the rows come from when they are no longer those of Set as they are stored: transformations of
	// $apply have computed them. Set then tells what they are presented as; its guard and policy held before. Nil otherwise.
	Derived *Derived
	// Outer and Nav are set when the range goes over the targets of a navigation property of another range's entity.
	// Both are nil for a range over the whole set.
	Outer *Range
	Nav   *edm.Navigation
	// Element reports that the range goes over the elements of a collection within an expression, for any, all or $count.
	Element bool
}

// Query is a selection from one range.
type Query struct {
	Range *Range
	// Joins are the targets of to-one navigation that the expressions of this query go through, each after the
	// range it hangs on. A row without a target, or whose target a policy hides, has null in all of the target's
	// properties. A query that another contains may use the joins of the outer one.
	Joins []*Range
	// Counts are the "count" Subs over collections of Range and Joins: rows of this query that share such a row share
	// the number.
	Counts []*Sub
	// From is the single entity that Range.Nav starts at, where the resource path navigated; nil otherwise.
	From *Query
	// Key is the condition that picks one entity by its key; nil for a collection.
	Key Expr
	// Filter is nil when there is none. A row counts when it is true.
	Filter Expr
	// Search is nil when there is none.
	Search *Search
	// Computed are the expressions of $compute, each behind those that it builds on. Constants and properties are not
	// among them.
	Computed []*Computed
	// Order is total: the key is always at its end. Nil where order does not matter.
	Order []Order
}

// Order is one item of an order. Nulls come first when ascending, last when descending.
type Order struct {
	Expr Expr
	Desc bool
}

// Search is a node of a $search expression. OData-URL 5.1.8
type Search struct {
	// Op is "and", "or", "not" or "term".
	Op   string
	Args []*Search
	// Term is a word or a phrase.
	Term string
	// Phrase is true for a term in quotation marks.
	Phrase bool
}
