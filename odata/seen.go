package odata

import (
	"context"
	"net/http"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// seen is a change as rules have seen it.
type seen struct {
	change *write.Change
	// match is the precondition that the row is still the one that rules have seen; nil for a create, and for a row that an earlier
	// change of the group has written.
	match *write.Match
	// depends reports that an earlier change may decide which row this one is about.
	depends bool
}

// sameKey reports whether values are the key of a change.
func sameKey(key []plan.Value, ch *write.Change) bool {
	for i, p := range ch.Set.Type.Key {
		if key == nil || !plan.Same(&plan.Literal{T: p.Type, Value: key[i]}, &plan.Literal{T: p.Type, Value: ch.Key[i]}) {
			return false
		}
	}
	return true
}

// still returns the change of the transaction, with the precondition that its row is the one that rules have seen; nil if the change
// has become another one. A key, or a value, that was not known then is that of the row which an earlier change has made.
func (s *seen) still(ch *write.Change) *write.Change {
	before := s.change
	if before.Kind != ch.Kind || before.Set != ch.Set || len(before.Values) != len(ch.Values) || before.Key != nil && !sameKey(before.Key, ch) {
		return nil
	}
	for i := range before.Values {
		if a := &before.Values[i]; a.Of == nil && !sameValue(a, &ch.Values[i]) {
			return nil
		}
	}
	if s.match == nil {
		return ch
	}
	out := *ch
	out.Match = s.match
	return &out
}

// alike reports whether a change has the values that rules have seen, but for those that rules have amended.
func (s *seen) alike(ch *write.Change, amended []write.Assignment) bool {
	for _, v := range ch.Values {
		at := func(list []write.Assignment) int {
			return slices.IndexFunc(list, func(a write.Assignment) bool { return slices.Equal(a.Path, v.Path) })
		}
		if at(amended) >= 0 || v.Of != nil {
			continue
		}
		i := at(s.change.Values)
		if i < 0 || !sameValue(&s.change.Values[i], &v) {
			return false
		}
	}
	return true
}

// has reports whether the change has a value already.
func (s *seen) has(v write.Assignment) bool {
	return slices.ContainsFunc(s.change.Values, func(a write.Assignment) bool { return a.Of == nil && sameValue(&a, &v) })
}

func sameValue(a, b *write.Assignment) bool {
	t := a.Type()
	return slices.Equal(a.Path, b.Path) && plan.Same(&plan.Literal{T: t, Value: a.Value}, &plan.Literal{T: t, Value: b.Value})
}

// moved ends a transaction whose rows are not those that rules have seen. Rules are asked again, maxAsked times in all. match is the
// precondition of the request; nil for none.
func (c *changes) moved(ctx context.Context, match *write.Match) error {
	if c.moves++; c.moves < maxAsked && ctx.Err() == nil {
		c.undone = true
		return errAgain
	}
	if match != nil && !match.Any {
		return refusalFault(&write.Refusal{Kind: write.PreconditionFailed})
	}
	f := &fault{
		status: http.StatusConflict, code: "conflict", pos: -1, message: "others change the same data faster than rules can judge it; try again",
	}
	if c.grouped {
		f.message = "the rows of this group are not those that rules have judged: others, or the database itself behind an earlier request of the group, " +
			"have changed them; try again, or send the requests by themselves"
	}
	return f
}
