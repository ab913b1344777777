package bind_test

import (
	"slices"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// An answer is made of the rows that were written where nothing else can have a part in it, and is read elsewhere.
func TestMadeAnswers(t *testing.T) {
	t.Parallel()
	items := func(t *testing.T, m *edm.Model, list ...any) *bind.Entity {
		return &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "items", list...)}}
	}
	for name, tt := range map[string]struct {
		made   bool
		target string
		change func(m *edm.Model)
		body   func(t *testing.T, m *edm.Model) *bind.Entity
		o      bind.WriteOptions
	}{
		"items":             {made: true},
		"$select":           {made: true, target: "Orders?$select=customer_id"},
		"no body":           {o: bind.WriteOptions{Minimal: true}},
		"$expand":           {target: "Orders?$expand=customer"},
		"no foreign key":    {change: func(m *edm.Model) { m.Set("Orders").Type.Nav("items").Enforced = false }},
		"a trigger":         {change: func(m *edm.Model) { m.Set("Orders").Write.Final = false }},
		"a trigger below":   {change: func(m *edm.Model) { m.Set("Items").Write.Final = false }},
		"keys of clients":   {change: func(m *edm.Model) { m.Set("Orders").Type.Property("id").Computed = false }},
		"keys that are not": {change: func(m *edm.Model) { m.Set("Items").Type.Property("id").Type = edm.Of(edm.String) }},
		"a policy of others": {change: func(m *edm.Model) {
			m.Set("Items").Policy = "order/customer/code eq 'a'"
		}},
		"an address": {body: func(t *testing.T, m *edm.Model) *bind.Entity {
			return items(t, m, &bind.Entity{}, "Items(3)")
		}},
		"two sorts": {body: func(t *testing.T, m *edm.Model) *bind.Entity {
			e := items(t, m, &bind.Entity{})
			e.Related = append(e.Related, related(t, m, "Orders", "remarks", &bind.Entity{Values: assign(m.Set("Remarks"), "no=1")}))
			return e
		}},
		"more than a page": {body: func(t *testing.T, m *edm.Model) *bind.Entity {
			list := make([]any, 201)
			for i := range list {
				list[i] = &bind.Entity{}
			}
			return items(t, m, list...)
		}},
	} {
		m := shop()
		for _, set := range m.Sets {
			set.Write.Final = true
			for _, nav := range set.Type.Navigation {
				nav.Enforced = nav.Collection && !nav.Through
			}
		}
		if tt.change != nil {
			tt.change(m)
		}
		target, body := "Orders", items(t, m, &bind.Entity{}, &bind.Entity{})
		if tt.target != "" {
			target = tt.target
		}
		if tt.body != nil {
			body = tt.body(t, m)
		}
		if name == "keys of clients" {
			body.Values = assign(m.Set("Orders"), "id=5")
		}
		seq, err := resource(t, m, target, nil).Create(body, tt.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if made := seq.Made != nil; made != tt.made {
			t.Errorf("%s: made of what was written: %v", name, made)
		}
		if seq.Made != nil && !sameProperties(seq.Answer.Top, seq.Steps[0], seq.Made.Top) || seq.Made != nil && !sameProperties(seq.Answer.Top.Expand[0], seq.Steps[1], seq.Made.Below) {
			t.Errorf("%s: the columns are others: %v", name, seq.Made)
		}
	}
}

// sameProperties reports whether the columns of a node are those of the row of a change.
func sameProperties(n *plan.Node, w *bind.Writing, columns []int) bool {
	of := func(c plan.Column) string { return c.Expr.(*plan.Ref).Path[0].Name }
	return len(columns) == len(n.Columns) && !slices.ContainsFunc(columns, func(c int) bool {
		return of(w.Change.After.Plan.Top.Columns[c]) != of(n.Columns[slices.Index(columns, c)])
	})
}
