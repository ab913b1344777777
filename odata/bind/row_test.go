package bind_test

import (
	"errors"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// A path that begins with the row of an earlier change names that row, what is linked to it, and rows below it by their keys.
func TestPathsFromRowsOfEarlierChanges(t *testing.T) {
	t.Parallel()
	m := shop()
	order, err := resource(t, m, "Orders", nil).Create(&bind.Entity{}, bind.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.New(m)
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]struct {
		kind     bind.ResourceKind
		row, own bool
		key      bool
		err      error
	}{
		"Orders":                {kind: bind.OfEntity, row: true},
		"Orders/customer_id":    {kind: bind.OfProperty, row: true},
		"Orders/items":          {kind: bind.OfRelated, own: true},
		"Orders/items/$ref":     {kind: bind.OfReference, own: true},
		"Orders/customer/$ref":  {kind: bind.OfReference, own: true},
		"Orders/items(3)":       {kind: bind.OfEntity, own: true, key: true},
		"Orders/items(3)/$ref":  {kind: bind.OfReference, own: true, key: true},
		"Orders/customer":       {err: bind.ErrUnforeseen},
		"Orders/items(3)/order": {err: bind.ErrUnforeseen},
	} {
		req, err := syntax.Parse(target, syntax.Options{Functions: function.Arity})
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.Resource(req, bind.Options{Caller: plan.Caller{SignedIn: true, Settled: true}, Row: order.Main})
		if !errors.Is(err, want.err) {
			t.Errorf("%s: %v, want %v", target, err, want.err)
		}
		if err != nil {
			continue
		}
		own := r.Own != nil && r.Own.Row == order.Main && r.Own.Find == nil
		if r.Kind != want.kind || (r.Row == order.Main) != want.row || own != want.own || (r.Key != nil) != want.key || r.Find != nil {
			t.Errorf("%s: kind %v, row %v, own %v, key %v, find %v", target, r.Kind, r.Row != nil, own, r.Key, r.Find)
		}
	}
	// A change of the row has no key before the row is made, and is no dead link.
	req, err := syntax.Parse("Orders", syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Resource(req, bind.Options{Caller: plan.Caller{SignedIn: true, Settled: true}, Row: order.Main})
	if err != nil {
		t.Fatal(err)
	}
	seq, err := r.Delete(bind.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if seq.Main.Of() != order.Main.Change || seq.Main.Change.Key != nil {
		t.Errorf("the change is of %v, with the key %v", seq.Main.Of(), seq.Main.Change.Key)
	}
}
