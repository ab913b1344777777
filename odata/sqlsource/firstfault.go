package sqlsource

import (
	"errors"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// first returns the fault that comes first of a change that was refused: RowNotAllowed before what the database refuses, which looks at
// its rules before anybody can look at the row. It names all links of a DeadLink.
func (t *transaction) first(c *write.Change, err error) error {
	refusal, ok := errors.AsType[*write.Refusal](err)
	if !ok || c.After == nil || refusal.Links != nil {
		return err
	}
	switch refusal.Kind {
	case write.InvalidValue, write.Duplicate, write.DeadLink:
	default:
		return err
	}
	row, n, readable := t.wouldBe(c)
	switch {
	case !readable:
		if named := t.linkOf(c, refusal.Cause); refusal.Kind == write.DeadLink && named != nil {
			refusal.Links = named
		}
	case row == nil || n > len(c.Links) && !isTrue(row[0]):
		return &write.Refusal{Kind: write.RowNotAllowed, Cause: refusal.Cause}
	case refusal.Kind == write.DeadLink:
		for i, nav := range c.Links {
			if !isTrue(row[n-len(c.Links)+i]) {
				refusal.Links = append(refusal.Links, nav)
			}
		}
	}
	return refusal
}

func isTrue(v plan.Value) bool { return !v.Null && v.Int != 0 }

// wouldBe reads the conditions of a change over the row that it would leave; nil where the row policy does not hold. n is how many
// there are. A transaction of PostgreSQL reads nothing behind a refused statement: the row is read outside of it, unless other changes in
// it count.
func (t *transaction) wouldBe(c *write.Change) (row []plan.Value, n int, readable bool) {
	tx := engine.Tx(t.tx)
	if t.source.dialect == "postgres" {
		if t.applied {
			return nil, 0, false
		}
		_ = t.tx.Close() // of which nothing is left
		own, err := t.source.db.Begin(t.ctx, engine.Need{})
		if err != nil {
			return nil, 0, false
		}
		defer func() { _ = own.Close() }() // nothing was written that could be lost
		tx = own
	}
	node, s := t.reader.Gen.WouldBe(c)
	read, err := t.reader.Single(t.ctx, tx, node, s, 1)
	if err != nil {
		return nil, 0, false
	}
	if read != nil {
		row = read.Row()
	}
	return row, len(node.Columns), true
}

// linkOf returns the link whose foreign key an error names; nil where it names none.
func (t *transaction) linkOf(c *write.Change, err error) []*edm.Navigation {
	b := engine.BreachOf(err)
	for _, rule := range t.reader.Gen.Rules(c.Set).Foreign {
		if b.Name == "" || !sameName(rule.Name, b.Name) {
			continue
		}
		for _, nav := range c.Links {
			if slices.ContainsFunc(nav.KeyPaths(), func(path []*edm.Property) bool {
				return slices.Contains(rule.Columns, t.reader.Gen.ColumnOf(c.Set, path).Name)
			}) {
				return []*edm.Navigation{nav}
			}
		}
	}
	return nil
}
