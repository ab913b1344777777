package bind_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// shop is a model of customers, orders with items and remarks, whose key has the order, and tags over a table in between.
// Numbers are keys of the service, codes those of a client.
func shop() *edm.Model {
	of := func(name string, k edm.Kind, nullable bool) *edm.Property {
		return &edm.Property{Name: name, Type: edm.Of(k), Nullable: nullable}
	}
	m := &edm.Model{Namespace: "N", Container: "C"}
	set := func(name string, list ...*edm.Property) *edm.EntitySet {
		t := &edm.EntityType{Name: name + "Type", Key: list[:1], Properties: list}
		m.Types = append(m.Types, t)
		return m.Add(edm.EntitySet{Name: name, Type: t, Write: &edm.Write{Create: true, Update: true}}, false)
	}
	id := func() *edm.Property {
		return &edm.Property{Name: "id", Type: edm.Of(edm.Int64), Computed: true}
	}
	customers := set("Customers", id(), of("code", edm.String, false))
	customers.Type.AlternateKeys = [][]*edm.Property{{customers.Type.Property("code")}}
	orders := set("Orders", id(), of("customer_id", edm.Int64, true), of("customer_code", edm.String, true))
	items := set("Items", id(), of("order_id", edm.Int32, true))
	remarks := set("Remarks", of("order_id", edm.Int64, false), of("no", edm.Int64, false))
	remarks.Type.Key = remarks.Type.Properties
	tags := set("Tags", of("code", edm.String, false))
	pair := func(own *edm.EntitySet, a string, other *edm.EntitySet, b string) []edm.Pair {
		return []edm.Pair{{Own: []*edm.Property{own.Type.Property(a)}, Other: []*edm.Property{other.Type.Property(b)}}}
	}
	orders.Type.Navigation = []*edm.Navigation{
		{Name: "customer", Target: customers, Nullable: true, Pairs: pair(orders, "customer_id", customers, "id")},
		{Name: "known", Target: customers, Nullable: true, Pairs: pair(orders, "customer_code", customers, "code")},
		{Name: "items", Target: items, Collection: true, Pairs: pair(orders, "id", items, "order_id")},
		{Name: "remarks", Target: remarks, Collection: true, Pairs: pair(orders, "id", remarks, "order_id")},
		{Name: "tags", Target: tags, Collection: true, Through: true, Linkable: true},
		{Name: "shown", Target: tags, Collection: true, Through: true},
	}
	items.Type.Navigation = []*edm.Navigation{{Name: "order", Target: orders, Nullable: true, Pairs: pair(items, "order_id", orders, "id")}}
	return m
}

// related makes a navigation property of entities, and of addresses in texts.
func related(t *testing.T, m *edm.Model, set, nav string, list ...any) bind.Related {
	t.Helper()
	out := bind.Related{Nav: m.Set(set).Type.Nav(nav), Path: nav, Inline: true}
	for _, of := range list {
		switch of := of.(type) {
		case string:
			out.Inline = false
			out.References = append(out.References, resource(t, m, of, nil))
		case *bind.Entity:
			out.Entities = append(out.Entities, of)
		case nil:
			out.Null = true
		}
	}
	return out
}

// steps shows changes: their kinds and sets, the values as far as they are known, and where others come from.
func steps(seq *bind.Sequence) string {
	number := map[*write.Change]int{}
	var out []string
	for i, w := range seq.Steps {
		number[w.Change] = i + 1
		text := w.Change.Kind.String() + " " + w.Change.Set.Name
		known := 0
		sure := slices.DeleteFunc(slices.Clone(w.Known()), func(a write.Assignment) bool { return a.Of != nil })
		for _, a := range w.Change.Values {
			text += " " + a.Path[len(a.Path)-1].Name
			switch {
			case a.Of != nil:
				text += fmt.Sprintf("=$%d", number[a.Of])
				known--
			case a.Value.Null:
				text += "=null"
			case a.Type().Kind == edm.String:
				text += "=" + string(a.Value.Bytes)
			default:
				text += fmt.Sprintf("=%d", a.Value.Int)
			}
		}
		if known += len(w.Change.Values); known != len(sure) {
			text += fmt.Sprintf(" (%d known)", len(sure))
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestSequences(t *testing.T) {
	t.Parallel()
	m := shop()
	code := func(set, text string) *bind.Entity { return &bind.Entity{Values: assign(m.Set(set), text)} }
	for name, tt := range map[string]struct {
		target string
		body   *bind.Entity
		want   string
	}{
		"alone":                           {"Orders", &bind.Entity{}, "create Orders"},
		"to one, before":                  {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "customer", code("Customers", "code=a"))}}, "create Customers code=a; create Orders customer_id=$1"},
		"to one, by a value that is sent": {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "known", code("Customers", "code=a"))}}, "create Customers code=a; create Orders customer_code=a"},
		"to many, behind":                 {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "items", &bind.Entity{}, &bind.Entity{})}}, "create Orders; create Items order_id=$1; create Items order_id=$1"},
		"in a key":                        {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "remarks", code("Remarks", "no=1"))}}, "create Orders; create Remarks no=1 order_id=$1"},
		"in between":                      {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "tags", code("Tags", "code=x"), "Tags('y')")}}, "create Orders; create Tags code=x; link Orders; link Orders"},
		"an address":                      {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "customer", "Customers(5)")}}, "create Orders customer_id=5"},
		"an address to be read":           {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "customer", "Customers(code='a')")}}, "create Orders customer_id=0 (0 known)"},
		"a column that is no key":         {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "known", "Customers(5)")}}, "create Orders customer_code= (0 known)"},
		"the same twice":                  {"Orders", &bind.Entity{Values: assign(m.Set("Orders"), "customer_id=5"), Related: []bind.Related{related(t, m, "Orders", "customer", "Customers(5)")}}, "create Orders customer_id=5"},
		"addresses of many":               {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "items", "Items(3)")}}, "create Orders; update Items order_id=$1"},
		"below":                           {"Orders(7)/items", &bind.Entity{}, "create Items order_id=7"},
		"below, in between":               {"Orders(7)/tags", code("Tags", "code=x"), "create Tags code=x; link Orders"},
		"null":                            {"Orders", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "customer", nil)}}, "create Orders"},
		"a change":                        {"Orders(7)", &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "customer", nil), related(t, m, "Orders", "items", "Items(3)")}}, "update Orders customer_id=null; update Items order_id=7"},
	} {
		r := resource(t, m, tt.target, nil)
		all := r.Create
		if r.Kind == bind.OfEntity {
			all = r.Update
		}
		seq, err := all(tt.body, bind.WriteOptions{Match: &write.Match{Any: true}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, steps(seq)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if last := seq.Steps[len(seq.Steps)-1]; (seq.Answer == nil) != (last == seq.Main) {
			t.Errorf("%s: the answer is %v", name, seq.Answer)
		}
	}
}

// nested is an item of an order, which has items of orders, and so on.
func nested(m *edm.Model, n int) *bind.Entity {
	item := &bind.Entity{}
	if n > 0 {
		order := &bind.Entity{Related: []bind.Related{{Nav: m.Set("Orders").Type.Nav("items"), Path: "items", Entities: []*bind.Entity{nested(m, n-1)}}}}
		item.Related = []bind.Related{{Nav: m.Set("Items").Type.Nav("order"), Path: "order", Entities: []*bind.Entity{order}}}
	}
	return item
}

func TestFaultsOfSequences(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*edm.Model)
		body   func(*edm.Model) *bind.Entity
		path   string
		kind   plan.ErrorKind
	}{
		"contradiction": {nil, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Values: assign(m.Set("Orders"), "customer_id=4"), Related: []bind.Related{related(t, m, "Orders", "customer", "Customers(5)")}}
		}, "customer", plan.Malformed},
		"null and a link": {nil, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Values: assign(m.Set("Orders"), "customer_id=null"), Related: []bind.Related{related(t, m, "Orders", "customer", "Customers(5)")}}
		}, "customer", plan.Malformed},
		"no create": {func(m *edm.Model) { m.Set("Items").Write.Create = false }, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "items", &bind.Entity{})}}
		}, "items", plan.Malformed},
		"no update": {func(m *edm.Model) { m.Set("Items").Write.Update = false }, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "items", "Items(3)")}}
		}, "items", plan.Malformed},
		"no update in between": {func(m *edm.Model) { m.Set("Tags").Write.Update = false }, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "tags", "Tags('x')")}}
		}, "tags", plan.Malformed},
		"in a key that stays": {nil, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "remarks", "Remarks(order_id=1,no=1)")}}
		}, "remarks", plan.Malformed},
		"a table that takes no links": {nil, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Related: []bind.Related{related(t, m, "Orders", "shown", "Tags('x')")}}
		}, "shown", plan.Malformed},
		"a key that the foreign key cannot hold": {nil, func(m *edm.Model) *bind.Entity {
			return &bind.Entity{Related: []bind.Related{related(t, m, "Items", "order", "Orders(5000000000)")}}
		}, "order", plan.Malformed},
		"depth": {nil, func(m *edm.Model) *bind.Entity { return nested(m, 3) }, "", plan.TooLarge},
	} {
		m := shop()
		if tt.change != nil {
			tt.change(m)
		}
		set, body := "Orders", tt.body(m)
		if len(body.Related) > 0 && body.Related[0].Nav.Name == "order" {
			set = "Items"
		}
		_, err := resource(t, m, set, nil).Create(body, bind.WriteOptions{})
		place, _ := errors.AsType[*bind.PlaceError](err)
		bad, ok := errors.AsType[*plan.Error](err)
		if !ok || bad.Kind != tt.kind || tt.path != "" && (place == nil || place.Path != tt.path) {
			t.Errorf("%s: %v at %v", name, err, place)
		}
	}
}
