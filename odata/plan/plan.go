package plan

import (
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Kind is what a request asks for.
type Kind uint8

// The kinds of answers.
const (
	// ServiceDocument is the list of sets.
	ServiceDocument Kind = iota
	// Metadata is the CSDL document.
	Metadata
	// Collection is the rows of Plan.Top, or references to them.
	Collection
	// Entity is the single row of Plan.Top, or a reference to it.
	Entity
	// Property is one property of the single row of Plan.Top: Top.Fields has one element.
	Property
	// RawValue is the plain value of such a property.
	RawValue
	// RawCount is the number of entities of Plan.Top as plain text.
	RawCount
)

// Plan is a resolved request. It may be kept and run again as long as the model lives; nothing in it changes.
type Plan struct {
	Kind Kind
	// Top is what to read and write; nil for ServiceDocument and Metadata.
	Top *Node
	// Optional tells for one entity that its absence is an empty answer (204) and not a missing resource (404): the
	// last step was a to-one navigation.
	Optional bool
	// Private tells that the answer depends on who asks, by a guard or by a policy. Such answers must not be kept
	// by caches that serve other callers.
	Private bool
	// PerCaller tells that the plan itself holds values of the caller, by a row policy that names columns of the user:
	// another caller's plan is a different one.
	PerCaller bool
	// Volatile tells that the answer depends on the time of the request (now).
	Volatile bool
	// Prepared holds what a source prepares for this plan and for those that differ in $skip alone, such as statements, in
	// two slots of the source's choice; nil for a plan that nobody keeps.
	Prepared *[2]atomic.Value
	// Limits are those that the plan was made with.
	Limits Limits
	// Row reads the row that the page comes behind, where its sort values are too long for a token; see Found. It is nil
	// where Page.After has all of them.
	Row *Plan
	// place are the values of the token.
	place []placed
}

// From returns the plan of the same collection with another $skip, which must not be negative.
func (p *Plan) From(skip int64) *Plan {
	out, top := *p, *p.Top
	top.Page = top.Page.from(skip)
	out.Top = &top
	return &out
}

// Whole returns the plan of all rows of the collection. A plan whose client has named $top or $skip is returned as it is.
func (p *Plan) Whole() *Plan {
	if p.Kind != Collection || p.Top.Page.Size == 0 || p.Top.Page.Limit != p.Top.Page.Size || p.Top.Page.Skip > 0 {
		return p
	}
	out, top := *p, *p.Top
	top.Page = Page{Limit: NoLimit, Read: NoLimit, Rows: NoLimit}
	out.Top, out.Prepared = &top, nil
	return &out
}

// Node is one level of an answer: the rows of the request, or those of an expanded navigation property.
type Node struct {
	// Nav is the expanded property; nil at the top.
	Nav *edm.Navigation
	// Set is the one that the entities belong to.
	Set *edm.EntitySet
	// Many tells a collection from a single entity.
	Many  bool
	Query *Query
	// Columns are the cells of a row, in order. Rows.Row has one Value for each.
	Columns []Column
	// Key holds, for each key property of Set, the index of its column. It is filled for every node with rows, so
	// that links can be written whatever is selected. Nil behind a singleton that has no key.
	Key []int
	// Fields are what to write, in order.
	Fields []Field
	// Tag holds the columns of the entity tag of a row: those of all visible properties, in the order of the type, or, where
	// Versioned is set, that of the number that moves with every change. It is nil if the entities have no tag.
	Tag       []int
	Versioned bool
	// Applied tells that the rows are no entities: $apply has made other structures of them, which have no key and no
	// links.
	Applied bool
	// Extended tells that compute of $apply has given the entities fields besides their properties, which stand in the
	// context URL.
	Extended bool
	// Groups is the index of the column that tells, in each row, how many groups $apply has made on the way to it, which
	// may not be more than MaxGroups; -1 for none, also where MaxGroups is 0.
	Groups    int
	MaxGroups int64
	// Explicit tells that the client chose the fields with $select.
	Explicit bool
	// Chosen are the paths of $select as the client wrote them, such as "home/city", and "*" for all; nil without $select.
	Chosen []string
	// Links are the navigation properties that $select names. They stand in the context URL; their links are part of
	// full metadata.
	Links []*edm.Navigation
	// Operations tells that $select names all operations of the schema, of which there
	// are none. They stand in the context URL.
	Operations bool
	// Recursive tells that $levels repeats the expanded property below this node; Again
	// that this node is such a repetition.
	Recursive, Again bool
	// Ref: only references are asked for ($ref). CountOnly: only the number is ($expand=Nav/$count).
	Ref, CountOnly bool
	// Count tells that the total is wanted ($count=true).
	Count bool
	// Page is the window; for a single entity its Read is 1.
	Page Page
	// Pages is how many of the pages on the path from the top to these rows, the top left out, have a size that the service
	// chose. See Nested.
	Pages int
	// Cursor holds, for each item of Query.Order, the index of the column that has its value: next links carry tokens.
	// It is nil where they carry $skip.
	Cursor []int
	// Path is the resource path of the request, percent-encoded, at the top; Decisive are the options that decide on the
	// rows and their order. Both are empty without Cursor.
	Path, Decisive string
	// Expand are the expanded navigation properties. Rows.Expand(i) gives the rows of the i-th.
	Expand []*Node
	// Options is, for an expanded property, the query options of its next link: the nested ones as they were sent
	// (percent-encoded), joined by "&", without any $skip.
	Options string
}

// Column is one cell of the rows of a Node.
type Column struct {
	Expr Expr
	// T is the type of the cell, which decides the field of Value that holds it.
	T edm.Type
}

// Field is one name and value pair of an entity's or complex value's representation.
type Field struct {
	Name string
	T    edm.Type
	// Column is the index of the cell; -1 for a complex property, which has Fields instead.
	Column int
	Fields []Field
	// Computed marks the result of $compute, or one of $apply, which is no property of the type.
	Computed bool
	// Defined tells which rows have the field at all, after a concat of $apply; nil for all.
	Defined *Defined
}

// Defined is a bit of a column: a row has the field where it is set.
type Defined struct {
	Column int
	Bit    int
}
