package sqlsource

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// link adds a link to a table in between, or removes it.
func (t *transaction) link(c *write.Change) error {
	if !c.Nav.Through {
		return errNotThrough
	}
	own, other, gen, err := t.bothEnds(c)
	if err != nil {
		return err
	}
	linked := false
	if own != nil && other != nil {
		if linked, err = t.linked(gen, c); err != nil {
			return err
		}
	}
	if refusal := c.JudgeLink(own, other, linked); refusal != nil {
		return refusal
	}
	switch {
	case c.Kind == write.Unlink:
		s := gen.RemoveLink(c)
		n, err := t.tx.Exec(s.SQL, s.Args)
		if err == nil && n == 0 { // another program has removed it meanwhile, without the locks
			return c.JudgeLink(own, other, false)
		}
		return err
	case linked:
		return nil
	}
	return t.addLink(gen, c)
}

// errNotThrough is the fault of a change that package bind does not make.
var errNotThrough = errors.New("the navigation property goes through no table in between")

// linkTries is how often a link is added that a unique index refuses although it is not there: another program may have removed it
// in between.
const linkTries = 3

// addLink adds a link that was not there. Another program may have added it meanwhile, without the locks.
func (t *transaction) addLink(gen *sqltext.Generator, c *write.Change) error {
	s := gen.AddLink(c)
	for try := 1; ; try++ {
		n, err := t.tx.Exec(s.SQL, s.Args)
		refused := engine.BreachOf(err).Kind == engine.OfUnique && t.source.dialect != "postgres"
		if err == nil && n > 0 || err != nil && !refused {
			return err
		}
		linked, fault := t.linked(gen, c)
		switch {
		case fault != nil || linked:
			return fault
		case err == nil && t.source.dialect != "postgres":
			return errPassedOver()
		case try == linkTries:
			return &write.Refusal{Kind: write.Duplicate, Cause: err}
		}
	}
}

// linked reports whether a link is there.
func (t *transaction) linked(gen *sqltext.Generator, c *write.Change) (found bool, err error) {
	s := gen.Linked(c)
	err = engine.Each(t.tx, 1, func([]engine.Cell) bool {
		found = true
		return true
	}, s.SQL, s.Args...)
	return found, err
}

// bothEnds reads and locks the rows at both ends of a link, in an order that is the same for all links and both ways: transactions
// that change the same links then wait for each other.
func (t *transaction) bothEnds(c *write.Change) (own, other []plan.Value, gen *sqltext.Generator, err error) {
	ends := []struct {
		set  *edm.EntitySet
		plan *plan.Plan
		key  []plan.Value
		row  *[]plan.Value
	}{{c.Set, c.Before.Plan.At(c.Key), c.Key, &own}, {c.Nav.Target, c.After.Plan.At(c.Other), c.Other, &other}}
	tables := t.source.shape.mapping.Tables
	order := []int{0, 1}
	if cmp.Or(slices.Compare(tables[c.Set].Name, tables[c.Nav.Target].Name), slices.CompareFunc(c.Key, c.Other, compareKeys)) > 0 {
		order = []int{1, 0}
	}
	for _, i := range order {
		if gen, err = t.reader.For(t.ctx, ends[i].plan); err != nil {
			return nil, nil, nil, err
		}
		if *ends[i].row, err = t.locked(gen, ends[i].plan); err != nil {
			return nil, nil, nil, err
		}
	}
	return own, other, gen, nil // which knows of the columns of both
}

// compareKeys puts the values of keys of one table into some order.
func compareKeys(a, b plan.Value) int {
	return cmp.Or(cmp.Compare(a.Int, b.Int), cmp.Compare(a.Float, b.Float), bytes.Compare(a.Bytes, b.Bytes))
}

// linkBreach makes a refusal of the rule that a row of a table in between has broken; nil where it has broken none.
func linkBreach(c *write.Change, b engine.Breach, cause error) *write.Refusal {
	out := &write.Refusal{Cause: cause}
	switch b.Kind {
	case engine.NotBreached:
		return nil
	case engine.OfValue:
		out.Kind = write.Unfit
	case engine.OfNull, engine.OfCheck:
		out.Kind = write.InvalidValue
	case engine.OfUnique:
		out.Kind = write.Duplicate
	case engine.OfForeign:
		if out.Kind = write.Referenced; c.Kind == write.Link {
			out.Kind, out.Links = write.DeadLink, []*edm.Navigation{c.Nav}
		}
	case engine.OfReferenced:
		out.Kind = write.Referenced
	}
	return out
}
