package write

import (
	"slices"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// ChangeKind is the sort of a Change.
type ChangeKind uint8

// The kinds of changes. A PUT is an Update whose Values are complete, and so is whatever names a single property.
const (
	// Create adds a row.
	Create ChangeKind = iota
	// Update gives properties of a row new values.
	Update
	// Delete removes a row.
	Delete
	// Link adds the row in the table in between that a navigation property goes through, unless it is there. Unlink removes it.
	Link
	Unlink
)

// String returns the name that audit lines and validators have for the kind.
func (k ChangeKind) String() string {
	return [...]string{"create", "update", "delete", "link", "unlink"}[k]
}

// Change is one row to be written. It is a pure value: nothing in it changes once it is bound but values that have Of, so it can be
// applied again in another transaction. Package bind makes changes, a Transaction applies them.
type Change struct {
	Kind ChangeKind
	// Set is the one that the row belongs to.
	Set *edm.EntitySet
	// Key holds the values of Set.Type.Key that name the row; nil for Create, whose key is among Values or comes from the
	// source.
	Key []plan.Value
	// Values are what is written, those of the service (Write.Set, Write.Touch, a first Version) included. No path is there
	// twice, and none ends at a complex property. An Update may have none: then only its checks and its Version count.
	Values []Assignment
	// Version is the property that an Update moves: one more than it is, and 1 where it is null or the greatest of its type.
	// It is nil for Create, for Delete, and for a set without one.
	Version *edm.Property
	// Match is the precondition on the entity tag; nil for Create.
	Match *Match
	// Refused reports that the values alone leave the row policy or Write.Filter: RowNotAllowed, whatever the row is.
	Refused bool
	// Invalid reports that values are null or absent where neither is allowed, and no source needs to be asked about that:
	// InvalidValue.
	Invalid bool
	// Links are the navigation properties to one whose columns are among the Values that the client has given.
	Links []*edm.Navigation
	// Before reads the row as it is; nil for Create. After reads the row as it will be; nil for Delete.
	Before, After *Check
	// Nav is the navigation property of a Link or an Unlink, which goes through a table in between: from the row of Set that Key
	// names to the row of Nav.Target that Other names. Before reads the first as it is, After the second: that one is not
	// changed either.
	Nav   *edm.Navigation
	Other []plan.Value
	// Prepared holds what a source prepares for changes of the same kind, paths, nulls and checks, such as statements, in two
	// slots of the source's choice; nil for a change whose checks nobody keeps.
	Prepared *[2]atomic.Value
	// Stored holds what a source has made of Values when it was asked whether they fit; nil for nothing.
	Stored any
}

// Assignment gives one property of a row a value.
type Assignment struct {
	// Path ends at a primitive property, through complex ones. It may be hidden.
	Path []*edm.Property
	// Value is in the form that Value documents for the type of the property; its text has neither NUL nor broken UTF-8.
	Value plan.Value
	// Of is the change before this one in the same request whose row has the value, in the column Column of its After.Plan; nil
	// where Value is known when the change is bound. Whoever applies the changes puts Value there in each transaction, before a source
	// makes the change.
	Of     *Change
	Column int
}

// Type returns the type of the property.
func (a *Assignment) Type() edm.Type { return a.Path[len(a.Path)-1].Type }

// Check reads the row of a Change, and with it the conditions of the change as columns of type Boolean. Policy, filter and
// links are expressions over the range of Plan, so that a source can put them into the statement that writes as well.
type Check struct {
	// Plan reads the entity, which Plan.At names. The row policy of the set is that of its range. What the answer to the
	// client shows is among the columns, expanded properties included; so are those of the entity tag.
	Plan *plan.Plan
	// Filter is the column of Write.Filter; -1 for none. A row that has anything but true in it may not be written.
	Filter int
	// Held are the columns, in Before alone, of whether the row still holds the link that the change removes; nil for none.
	Held []int
	// Links are the columns of Change.Links, in After alone: whether each names nothing or a row that the caller may read.
	Links []int
}

// Range returns the range of the row, for the conditions in a statement.
func (c *Check) Range() *plan.Range { return c.Plan.Top.Query.Range }

// Condition returns what must hold for the row: the row policy, Write.Filter, and the link that is removed; nil for nothing.
func (c *Check) Condition() plan.Expr {
	out := c.Range().Policy
	if c.Filter >= 0 {
		out = plan.Join("and", out, c.Plan.Top.Columns[c.Filter].Expr)
	}
	for _, column := range c.Held {
		out = plan.Join("and", out, c.Plan.Top.Columns[column].Expr)
	}
	return out
}

// Judge decides whether a change may be made of the row that Before.Plan has read, nil if there is none. The row must be
// locked, or the transaction as strict as if it were. Create has no row to judge.
func (c *Change) Judge(row []plan.Value) *Refusal {
	switch {
	case row == nil && c.Kind != Create:
		return &Refusal{Kind: RowNotFound}
	case c.Kind == Create:
	case !c.Before.holds(row):
		return &Refusal{Kind: RowNotFound}
	case c.Match == nil:
		return &Refusal{Kind: PreconditionRequired}
	case !c.Match.holds(c.Before.Plan.Top, row):
		return &Refusal{Kind: PreconditionFailed}
	case !c.Before.filtered(row):
		return &Refusal{Kind: RowNotAllowed}
	}
	switch {
	case c.Refused:
		return &Refusal{Kind: RowNotAllowed}
	case c.Invalid:
		return &Refusal{Kind: InvalidValue}
	}
	return nil
}

// JudgeLink decides whether a link may be added or removed between the rows that Before.Plan and After.Plan have read, nil for
// none. linked reports whether the link is there. Both rows must be locked, or the transaction as strict as if they were.
func (c *Change) JudgeLink(own, other []plan.Value, linked bool) *Refusal {
	switch {
	case own == nil:
		return &Refusal{Kind: RowNotFound}
	case c.Kind == Unlink && (other == nil || !linked):
		return &Refusal{Kind: RowNotFound, Links: []*edm.Navigation{c.Nav}}
	case !c.Before.filtered(own):
		return &Refusal{Kind: RowNotAllowed}
	case other == nil:
		return &Refusal{Kind: DeadLink, Links: []*edm.Navigation{c.Nav}}
	case !c.After.filtered(other):
		return &Refusal{Kind: RowNotAllowed}
	}
	return nil
}

// Verify decides whether the row that After.Plan has read, nil if there is none, may stay as the change has made it.
func (c *Change) Verify(row []plan.Value) *Refusal {
	if row == nil || !c.After.filtered(row) {
		return &Refusal{Kind: RowNotAllowed}
	}
	var dead []*edm.Navigation
	for i, column := range c.After.Links {
		if row[column].Null || row[column].Int == 0 {
			dead = append(dead, c.Links[i])
		}
	}
	if dead != nil {
		return &Refusal{Kind: DeadLink, Links: dead}
	}
	return nil
}

// holds reports whether the row holds the link that the change removes.
func (c *Check) holds(row []plan.Value) bool {
	return !slices.ContainsFunc(c.Held, func(column int) bool { return row[column].Null || row[column].Int == 0 })
}

func (c *Check) filtered(row []plan.Value) bool {
	return c.Filter < 0 || !row[c.Filter].Null && row[c.Filter].Int != 0
}

// RefusalKind is the sort of a Refusal.
type RefusalKind uint8

// The kinds of refusals, with the status that they lead to, in the order in which they are decided.
const (
	// Unfit: a column would alter the value, or cannot hold it. 400
	Unfit RefusalKind = iota
	// RowNotFound: there is no such row for the caller, or no link for Unlink to remove. 404, and 412 under If-Match
	RowNotFound
	// PreconditionRequired: the row is there, and the client did not say which state of it it knows. 428
	PreconditionRequired
	// PreconditionFailed: the row has another entity tag. 412
	PreconditionFailed
	// RowNotAllowed: the row is there and may not be changed, or leaves the row policy or Write.Filter. 403
	RowNotAllowed
	// InvalidValue: a value is null or absent where neither is allowed, or breaks a rule of the database. 422
	InvalidValue
	// Duplicate: another row has these values. 409
	Duplicate
	// DeadLink: a foreign key names a row that is not there, or that the caller may not read. 409
	DeadLink
	// Referenced: other rows refer to the row. 409
	Referenced
	// Conflict: the database has undone the transaction for the sake of another one, as in a deadlock. Nothing of it has had an
	// effect, and it may be tried again.
	Conflict
	// OutcomeUnknown: the connection broke while the transaction was being committed. 503
	OutcomeUnknown
	// OneOfSeveral: one of several changes that were made at once would be refused, and nobody knows which and why. Nothing of the
	// transaction has had an effect, and it may be tried again with one change after the other.
	OneOfSeveral
)

// Refusal is why a change was not made. After one of another kind than RowNotFound the transaction can only be closed.
type Refusal struct { //nolint:errname // an answer: errors.As(err, &refusal)
	Kind RefusalKind
	// Properties are the paths that the refusal is about, such as those of the key that another row has; nil where that
	// is not known, or concerns hidden properties.
	Properties [][]*edm.Property
	// Links are the navigation properties of a DeadLink; nil where the database did not say which. For a RowNotFound it is the
	// Change.Nav of an Unlink that found no link, or no row at its other end.
	Links []*edm.Navigation
	// Cause is for the log.
	Cause error
}

// OfKey reports whether the refusal is about the key of an entity type, and nothing else.
func (r *Refusal) OfKey(t *edm.EntityType) bool {
	inKey := func(path []*edm.Property) bool { return len(path) == 1 && t.IsKey(path[0]) }
	return len(r.Properties) == len(t.Key) && !slices.ContainsFunc(r.Properties, func(path []*edm.Property) bool { return !inKey(path) })
}

// OfRow reports whether the row is not there, or not the one that the precondition names.
func (r *Refusal) OfRow() bool { return r.Kind == RowNotFound || r.Kind == PreconditionFailed }

// Error is for the log. What clients read is made of the kind by package odata.
func (r *Refusal) Error() string {
	names := [...]string{
		"a column cannot hold the value", "there is no such row", "there is no precondition", "the precondition failed", "the row is not allowed",
		"a value is not allowed", "the row is a duplicate", "a link is dead", "other rows refer to the row", "the database undid the transaction",
		"the outcome is unknown", "one of several changes is not allowed",
	}
	if r.Cause != nil {
		return names[r.Kind] + ": " + r.Cause.Error()
	}
	return names[r.Kind]
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// Match is a precondition on the entity tag of a row (If-Match). The zero value matches none.
type Match struct {
	// Any takes every row that is there.
	Any bool
	// Tags are the entity tags that the client knows, without quotes: one of them must be that of the row. Weak and strong
	// ones count alike (OData-Protocol 8.2.4).
	Tags []string
}

func (m *Match) holds(n *plan.Node, row []plan.Value) bool {
	return m.Any || n.Tag != nil && slices.Contains(m.Tags, string(n.AppendTag(nil, row)))
}
