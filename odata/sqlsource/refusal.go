package sqlsource

import (
	"errors"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// refusal makes of an error what is to be said of a change.
func (t *transaction) refusal(c *write.Change, err error) error {
	var known *write.Refusal
	var told *plan.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &told):
		return told
	case t.ctx.Err() != nil:
		return t.reader.Fault(t.ctx, err)
	}
	if refusal := t.breach(c, err); refusal != nil {
		return refusal
	}
	if engine.IsUndone(err) {
		return &write.Refusal{Kind: write.Conflict, Cause: err}
	}
	return t.reader.Fault(t.ctx, err)
}

// breach makes a refusal of the rule of the database that a change has broken; nil where it has broken none. c is nil at the end of
// a transaction, where nobody knows which change it was.
func (t *transaction) breach(c *write.Change, err error) *write.Refusal {
	b := engine.BreachOf(err)
	if c != nil && c.Nav != nil {
		return linkBreach(c, b, err)
	}
	out := &write.Refusal{Cause: err}
	var rules sqltext.Rules
	if c != nil {
		rules = t.reader.Gen.Rules(c.Set)
	}
	switch {
	case b.Kind == engine.NotBreached:
		return nil
	case c != nil && rules.Triggers && t.elsewhere(c, b, rules):
		out.Kind = write.InvalidValue
		return out
	}
	switch b.Kind {
	case engine.OfValue:
		out.Kind = write.Unfit
		out.Properties = t.visible(c, b.Columns)
	case engine.OfNull, engine.OfCheck:
		out.Kind = write.InvalidValue
		out.Properties = t.visible(c, columnsOf(b, rules.Checks))
	case engine.OfUnique:
		out.Kind = write.Duplicate
		columns := columnsOf(b, rules.Unique)
		if len(rules.Unique) > 1 { // the first of several, whichever the database has met first
			if first := t.taken(c, rules.Unique); first != nil {
				columns = first
			}
		}
		out.Properties = t.visible(c, columns)
	case engine.OfReferenced:
		out.Kind = write.Referenced
		t.orDuplicate(out, c, rules.Unique)
	case engine.OfForeign:
		out.Kind = write.DeadLink
		if c != nil && t.referenced(c, b, rules.Foreign) {
			out.Kind = write.Referenced
		}
		t.orDuplicate(out, c, rules.Unique)
	}
	return out
}

// orDuplicate makes a broken foreign key a duplicate where the change is one, too. A deletion gives no values.
func (t *transaction) orDuplicate(out *write.Refusal, c *write.Change, unique []sqltext.Constraint) {
	if c == nil || c.Kind == write.Delete {
		return
	}
	if index := t.taken(c, unique); index != nil {
		out.Kind, out.Properties = write.Duplicate, t.visible(c, index)
	}
}

// elsewhere reports whether the broken rule is one of another table, which a trigger has written.
func (t *transaction) elsewhere(c *write.Change, b engine.Breach, rules sqltext.Rules) bool {
	switch b.Kind {
	case engine.OfNull, engine.OfCheck:
		return b.Table != "" && !sameName(b.Table, t.reader.Gen.TableName(c.Set))
	case engine.OfUnique:
		if t.source.dialect == "mysql" { // which names the index alone
			return t.taken(c, rules.Unique) == nil
		}
		return b.Table != "" && !sameName(b.Table, t.reader.Gen.TableName(c.Set))
	}
	return false
}

// columnsOf returns the columns that a broken rule is over.
func columnsOf(b engine.Breach, rules []sqltext.Constraint) []string {
	if len(b.Columns) > 0 {
		return b.Columns
	}
	i := slices.IndexFunc(rules, func(r sqltext.Constraint) bool { return b.Name != "" && sameName(r.Name, b.Name) })
	if i < 0 {
		return nil
	}
	return rules[i].Columns
}

// referenced reports whether a foreign key of another table names the row of a change, where the database says only that a foreign
// key is broken.
func (t *transaction) referenced(c *write.Change, b engine.Breach, own []sqltext.Constraint) bool {
	if c.Kind != write.Update {
		return c.Kind == write.Delete
	}
	for _, f := range own {
		if b.Name != "" && f.Name != b.Name {
			continue
		}
		for i := range c.Values {
			if slices.Contains(f.Columns, t.reader.Gen.ColumnOf(c.Set, c.Values[i].Path).Name) {
				return false
			}
		}
	}
	return true
}

// taken returns the columns of the first unique index that another row has the values of. MariaDB looks at a foreign key before
// some of them, and SQLite begins with the last. PostgreSQL begins with the first, and answers nothing behind a refused statement.
func (t *transaction) taken(c *write.Change, unique []sqltext.Constraint) []string {
	if c == nil || c.Kind == write.Delete || t.source.dialect == "postgres" {
		return nil
	}
	for _, index := range unique {
		s, ok := t.reader.Gen.Others(c, index)
		if !ok {
			continue
		}
		found := false
		err := engine.Each(t.tx, 1, func([]engine.Cell) bool {
			found = true
			return false
		}, s.SQL, s.Args...)
		if err == nil && found {
			return index.Columns
		}
	}
	return nil
}

// visible returns the paths of the visible properties of columns, in the order of the type.
func (t *transaction) visible(c *write.Change, columns []string) (paths [][]*edm.Property) {
	if c == nil {
		return nil
	}
	var add func(list, at []*edm.Property)
	add = func(list, at []*edm.Property) {
		for _, p := range list {
			path := append(slices.Clone(at), p)
			switch column := t.reader.Gen.ColumnOf(c.Set, path); {
			case p.Type.Kind == edm.Complex:
				add(p.Type.Complex.Properties, path)
			case column != nil && slices.Contains(columns, column.Name):
				paths = append(paths, path)
			}
		}
	}
	add(c.Set.Type.Properties, nil)
	return paths
}
