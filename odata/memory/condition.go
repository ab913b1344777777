package memory

import (
	"bytes"
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A Condition is a filter that decides about one row at a time, compiled as a row policy is. It is safe for concurrent
// use.
type Condition struct {
	binder *bind.Binder
	set    *edm.EntitySet
	source *Source
	// fixed is the filter as it reads at every moment; nil where it asks for the time.
	fixed value
}

// NewCondition compiles a filter in $filter syntax over rows of these properties, whose types are primitive. Its error
// is a *syntax.Error or a *plan.Error.
func NewCondition(properties []*edm.Property, filter string) (*Condition, error) {
	of := &set{columns: map[*edm.Property]*column{}}
	for i, p := range properties {
		of.columns[p] = &column{at: i}
	}
	of.edm = &edm.EntitySet{Name: "Rows", Type: &edm.EntityType{Name: "Row", Properties: properties}, Policy: filter}
	c := &Condition{set: of.edm, source: &Source{bySet: map[*edm.EntitySet]*set{of.edm: of}}}
	var err error
	if c.binder, err = bind.New(&edm.Model{Namespace: "Vestibule", Container: "Container", Sets: []*edm.EntitySet{of.edm}}); err != nil {
		return nil, reason(err)
	}
	holds, volatile, err := c.compile(time.Time{})
	if !volatile {
		c.fixed = holds
	}
	return c, err
}

// reason is the fault of the one policy that there is.
func reason(err error) error {
	for {
		switch of := err.(type) { //nolint:errorlint // it goes down one by one
		case interface{ Unwrap() []error }:
			err = of.Unwrap()[0]
		case *bind.PolicyError:
			return of.Err
		default:
			return err
		}
	}
}

func (c *Condition) compile(now time.Time) (holds value, volatile bool, err error) {
	policy, volatile := c.binder.Policy(c.set, now)
	compiler := &compiler{source: c.source, ranges: 1}
	holds = compiler.expr(policy)
	return holds, volatile, compiler.err
}

// Holds reports whether the filter is true, and neither false nor null, at a moment. There is one value for each
// property, in their order.
func (c *Condition) Holds(values []plan.Value, now time.Time) bool {
	holds := c.fixed
	if holds == nil {
		var err error
		if holds, _, err = c.compile(now); err != nil {
			return false
		}
	}
	e := &env{ctx: context.Background(), rows: []row{values}, turns: []int{1}}
	return isTrue(holds(e)) && e.err == nil
}

// search is a condition that terms stand in one of some places of a row, in any case. OData-URL 5.1.8
func search(id int, at []int, s *plan.Search) value {
	parts := make([]value, len(s.Args))
	for i, a := range s.Args {
		parts[i] = search(id, at, a)
	}
	term := bytes.ToLower([]byte(s.Term))
	return func(e *env) plan.Value {
		found := s.Op == "and"
		switch s.Op {
		case "term":
			found = contains(e.rows[id], at, term)
		case "not":
			found = !isTrue(parts[0](e))
		default:
			for _, p := range parts {
				if isTrue(p(e)) != found {
					found = !found
					break
				}
			}
		}
		if found {
			return plan.Value{Int: 1}
		}
		return plan.Value{}
	}
}

func contains(r row, at []int, term []byte) bool {
	for _, i := range at {
		if !r[i].Null && bytes.Contains(bytes.ToLower(r[i].Bytes), term) {
			return true
		}
	}
	return false
}
