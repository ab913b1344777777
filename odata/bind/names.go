package bind

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// noArgs refuses a segment that has a key or arguments.
func noArgs(seg syntax.Segment) error {
	if seg.Args != nil || seg.Key != nil {
		return plan.Errorf(plan.NotFound, seg.Pos, "%q takes no key and no arguments", seg.Name)
	}
	return nil
}

// isType tells whether a segment is a cast to the very type, qualified or not.
func (b *binding) isType(name string, t *edm.EntityType) bool {
	return name == b.binder.model.Namespace+"."+t.Name
}

// isComplex tells the same of a complex type.
func (b *binding) isComplex(name string, t *edm.ComplexType) bool {
	return name == b.binder.model.Namespace+"."+t.Name
}

// search brings a $search expression into the form of a plan. OData-URL 5.1.8
func search(in *syntax.Search) *plan.Search {
	out := &plan.Search{Op: "term", Term: in.Text, Phrase: in.Phrase}
	switch in.Op {
	case "AND":
		out = &plan.Search{Op: "and"}
	case "OR":
		out = &plan.Search{Op: "or"}
	case "NOT":
		out = &plan.Search{Op: "not"}
	}
	for _, a := range in.Args {
		out.Args = append(out.Args, search(a))
	}
	return out
}
