package bind_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// written is a model of one set that can be written: with an owner that the service gives, a state that a filter asks for, and
// a time.
func written(filter, policy string) *edm.Model {
	id, state := &edm.Property{Name: "id", Type: edm.Of(edm.Int64)}, &edm.Property{Name: "state", Type: edm.Of(edm.String)}
	size := &edm.Property{Name: "size", Type: edm.Of(edm.Int64), Nullable: true}
	owner := &edm.Property{Name: "owner", Type: edm.Of(edm.Int64)}
	at := &edm.Property{Name: "at", Type: edm.Type{Kind: edm.DateTimeOffset, Precision: 3}, Nullable: true}
	parent := &edm.Property{Name: "parent", Type: edm.Of(edm.Int64), Nullable: true}
	t := &edm.EntityType{Name: "Row", Key: []*edm.Property{id}, Properties: []*edm.Property{id, state, size, at, parent}, Hidden: []*edm.Property{owner}}
	set := &edm.EntitySet{Name: "Rows", Type: t, Guard: edm.GuardSettled, Policy: policy, Write: &edm.Write{
		Create: true, Update: true, Delete: true, Filter: filter,
		Set:   []edm.Given{{Path: []*edm.Property{owner}, Value: "@user_id"}},
		Touch: []edm.Given{{Path: []*edm.Property{at}, Value: "@now"}},
	}}
	t.Navigation = []*edm.Navigation{{Name: "up", Target: set, Nullable: true, Constrained: true, Pairs: []edm.Pair{{Own: []*edm.Property{parent}, Other: []*edm.Property{id}}}}}
	return &edm.Model{Namespace: "N", Container: "C", Types: []*edm.EntityType{t}, Sets: []*edm.EntitySet{set}}
}

// resource resolves a target of the model for a person.
func resource(t *testing.T, m *edm.Model, target string, user map[string]any) *bind.Resource {
	t.Helper()
	b, err := bind.New(m)
	if err != nil {
		t.Fatal(err)
	}
	req, err := syntax.Parse(target, syntax.Options{Functions: function.Arity})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Resource(req, bind.Options{
		Caller: plan.Caller{SignedIn: true, Settled: true, User: user}, Now: time.Date(2026, 1, 2, 3, 4, 5, 678912345, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// assign makes values of "state=open size=5", in which null is null.
func assign(set *edm.EntitySet, text string) []write.Assignment {
	var out []write.Assignment
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, "=")
		p := set.Type.Property(name)
		v := plan.Value{Bytes: []byte(value)}
		if p.Type.Kind == edm.Int64 {
			v = plan.Value{Int: int64(value[0] - '0')}
		}
		if value == "null" {
			v = plan.Value{Null: true}
		}
		out = append(out, write.Assignment{Path: []*edm.Property{p}, Value: v})
	}
	return out
}

// What values alone keep from being allowed is refused before any row is read, and nothing else is.
func TestRefusedByValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		filter, policy, values string
		user                   any
		create, update         bool // refused
	}{
		{"state eq 'open'", "", "id=1 state=open", int64(1), false, false},
		{"state eq 'open'", "", "id=1 state=done", int64(1), true, true},
		{"state eq 'open'", "", "id=1 state=null", int64(1), true, true},
		{"state eq 'open'", "", "id=1", int64(1), false, false},
		{"not (state eq 'done')", "", "id=1 state=done", int64(1), true, true},
		{"state eq 'open' or size gt 3", "", "id=1 state=done", int64(1), false, false},
		{"state eq 'open' or size gt 3", "", "id=1 state=done size=2", int64(1), true, true},
		{"state eq 'open' or size gt 3", "", "id=1 state=done size=null", int64(1), true, true},
		{"state eq 'open' and size gt 3", "", "id=1 size=2", int64(1), true, true},
		{"state in ('open','new')", "", "id=1 state=done", int64(1), true, true},
		{"startswith(state,'o')", "", "id=1 state=done", int64(1), true, true},
		{"up/state eq 'open'", "", "id=1 state=done", int64(1), false, false},
		{"", "owner eq @user_id", "id=1 state=x", int64(1), false, false},
		{"", "owner eq @user_id and state eq 'open'", "id=1 state=x", int64(1), true, true},
		{"", "owner eq 7", "id=1 state=x", int64(1), true, false},
		{"now() gt 2020-01-01T00:00:00Z", "", "id=1 state=x", int64(1), false, false},
		{"owner eq @user_tenant", "", "id=1 state=x", int64(1), true, true}, // the person has no tenant
		{"", "", "id=1 state=x", nil, true, false},                          // and no id, which a new row needs
	} {
		m := written(tt.filter, tt.policy)
		r := resource(t, m, "Rows", map[string]any{"id": tt.user})
		w, err := only(r.Create(&bind.Entity{Values: assign(r.Set, tt.values)}, bind.WriteOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		r = resource(t, m, "Rows(1)", map[string]any{"id": tt.user})
		u, err := only(r.Update(&bind.Entity{Values: assign(r.Set, tt.values)}, bind.WriteOptions{Match: &write.Match{Any: true}}))
		if err != nil {
			t.Fatal(err)
		}
		if w.Change.Refused != tt.create || u.Change.Refused != tt.update {
			t.Errorf("%q, %q, %s: refused %v, %v", tt.filter, tt.policy, tt.values, w.Change.Refused, u.Change.Refused)
		}
	}
}

// A value of the service that its property cannot hold belongs to no row that the person may write. Filters over the person
// are not taken for ones that never hold.
func TestValuesOfTheServiceThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{"Ada": false, "Ada Lovelace": true, "A\x00": true, "äöüß": false} {
		m := written("@user_admin eq true or id gt 0", "")
		w := m.Sets[0].Write
		state := m.Types[0].Property("state")
		state.Type.MaxLength = 4
		w.Set, w.Touch = nil, []edm.Given{{Path: []*edm.Property{state}, Value: "@user_name"}}
		user := map[string]any{"name": name, "admin": true}
		r := resource(t, m, "Rows", user)
		create, err := only(r.Create(&bind.Entity{Values: assign(r.Set, "id=1")}, bind.WriteOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		r = resource(t, m, "Rows(1)", user)
		update, err := only(r.Update(&bind.Entity{Values: assign(r.Set, "size=1")}, bind.WriteOptions{Match: &write.Match{Any: true}}))
		if err != nil {
			t.Fatal(err)
		}
		if create.Change.Refused != refused || update.Change.Refused != refused {
			t.Errorf("%q: refused %v, %v; want %v", name, create.Change.Refused, update.Change.Refused, refused)
		}
	}
}

func TestValuesOfTheService(t *testing.T) {
	t.Parallel()
	m := written("", "")
	r := resource(t, m, "Rows", map[string]any{"id": int64(7)})
	w, err := only(r.Create(&bind.Entity{Values: assign(r.Set, "id=1 state=x parent=null")}, bind.WriteOptions{Minimal: true}))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range w.Change.Values {
		got[a.Path[0].Name] = string(a.Value.Bytes)
		if a.Path[0].Name == "owner" && a.Value.Int != 7 {
			t.Errorf("the owner is %v", a.Value)
		}
	}
	if len(got) != 5 || got["at"] != "2026-01-02T03:04:05.678Z" {
		t.Errorf("values %v", got)
	}
	if len(w.Change.Links) != 0 || len(w.Absent)+len(w.Null) != 0 {
		t.Errorf("links %v, absent %v, null %v", w.Change.Links, w.Absent, w.Null)
	}
	r = resource(t, m, "Rows(1)", map[string]any{"id": int64(7)})
	w, err = only(r.Update(&bind.Entity{Values: assign(r.Set, "id=5 state=null parent=3")}, bind.WriteOptions{Complete: true}))
	if err != nil {
		t.Fatal(err)
	}
	c := w.Change
	if len(c.Values) != 3 || len(c.Links) != 1 || len(c.After.Links) != 1 || len(w.Null) != 1 || !c.Invalid || len(w.LeftOut) != 1 || w.LeftOut[0][0].Name != "size" {
		t.Errorf("values %v, links %v, null %v, left out %v", c.Values, c.Links, w.Null, w.LeftOut)
	}
	if len(c.Key) != 1 || c.Key[0].Int != 1 {
		t.Errorf("the key is %v", c.Key)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	m := written("", "")
	for target, want := range map[string]struct {
		kind bind.ResourceKind
		key  bool
	}{
		"": {bind.OfSystem, false}, "$metadata": {bind.OfSystem, false}, "Rows": {bind.OfSet, false}, "Rows/$count": {bind.OfSystem, false}, "Rows(1)": {bind.OfEntity, true},
		"Rows(id=1)": {bind.OfEntity, true}, "Rows/1": {bind.OfEntity, true}, "Rows(1)/up": {bind.OfEntity, false}, "Rows/$filter(id%20eq%201)": {bind.OfSystem, false},
		"Rows/$filter(id%20eq%201)(1)": {bind.OfEntity, false}, "Rows(1)/state": {bind.OfProperty, true}, "Rows(1)/state/$value": {bind.OfValue, true},
		"Rows(1)/up/state": {bind.OfProperty, false}, "Rows(1)/up/$ref": {bind.OfReference, false}, "Rows/$ref": {bind.OfReference, false},
	} {
		r := resource(t, m, target, nil)
		if r.Kind != want.kind || (r.Key != nil) != want.key || (r.Find != nil) != (want.kind == bind.OfEntity || want.kind == bind.OfProperty || want.kind == bind.OfValue || target == "Rows(1)/up/$ref") {
			t.Errorf("%s: kind %d, key %v, find %v", target, r.Kind, r.Key, r.Find)
		}
	}
}

// Faults of a write block show at the start.
func TestFaultsOfWriteBlocks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*edm.Write, *edm.EntityType)
		want   string
	}{
		"filter":   {func(w *edm.Write, _ *edm.EntityType) { w.Filter = "nope eq 1" }, `there is no property "nope"`},
		"alias":    {func(w *edm.Write, _ *edm.EntityType) { w.Filter = "id eq @id" }, "@id is unknown"},
		"constant": {func(w *edm.Write, _ *edm.EntityType) { w.Set[0].Value = "x" }, `the value "x" of "owner" is no Edm.Int64`},
		"now":      {func(w *edm.Write, _ *edm.EntityType) { w.Set[0].Value = "@now" }, `"@now"`},
	} {
		m := written("", "")
		tt.change(m.Sets[0].Write, m.Sets[0].Type)
		if _, err := bind.New(m); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*edm.Write, *edm.EntityType){
		"another type's property": func(w *edm.Write, _ *edm.EntityType) {
			w.Set[0].Path = []*edm.Property{{Name: "x", Type: edm.Of(edm.Int64)}}
		},
		"no path":         func(w *edm.Write, _ *edm.EntityType) { w.Fixed = [][]*edm.Property{nil} },
		"below a value":   func(w *edm.Write, t *edm.EntityType) { w.Fixed = [][]*edm.Property{{t.Properties[0], t.Properties[1]}} },
		"text as version": func(w *edm.Write, t *edm.EntityType) { w.Version = t.Property("state") },
	} {
		m := written("", "")
		change(m.Sets[0].Write, m.Sets[0].Type)
		if err := m.Check(); err == nil {
			t.Errorf("%s: the model has no fault", name)
		}
	}
}

// Changes share their checks where nothing but values, key and entity tags differ, and those of a caller or of a moment are not
// kept.
func TestShapes(t *testing.T) {
	t.Parallel()
	shapeOf := func(m *edm.Model, kind write.ChangeKind, target, values string, o bind.WriteOptions) (shape string, kept bool) {
		r := resource(t, m, target, map[string]any{"id": int64(1)})
		o.Checks = func(name string, bound func() (*bind.Checks, error)) (*bind.Checks, error) {
			shape = name
			checks, err := bound()
			kept = err == nil && checks.Keep()
			return checks, err
		}
		var err error
		switch kind {
		case write.Create:
			_, err = only(r.Create(&bind.Entity{Values: assign(m.Sets[0], values)}, o))
		case write.Update:
			_, err = only(r.Update(&bind.Entity{Values: assign(m.Sets[0], values)}, o))
		default:
			_, err = only(r.Delete(o))
		}
		if err != nil {
			t.Fatal(err)
		}
		return shape, kept
	}
	m, known := written("state eq 'open'", ""), &write.Match{Tags: []string{"1"}}
	first, kept := shapeOf(m, write.Update, "Rows(1)", "state=open size=5", bind.WriteOptions{Match: known})
	if !kept {
		t.Error("the checks depend on nothing but the shape, and are not kept")
	}
	if same, _ := shapeOf(m, write.Update, "Rows(2)", "state=shut size=6", bind.WriteOptions{Match: &write.Match{Tags: []string{"2", "3"}}}); same != first {
		t.Errorf("one shape has the names %q and %q", first, same)
	}
	seen := map[string]string{first: "state=open size=5"}
	for _, c := range []struct {
		kind           write.ChangeKind
		target, values string
		o              bind.WriteOptions
	}{
		{write.Update, "Rows(1)", "state=open size=null", bind.WriteOptions{Match: known}},
		{write.Update, "Rows(1)", "state=open", bind.WriteOptions{Match: known}},
		{write.Update, "Rows(1)", "state=open parent=5", bind.WriteOptions{Match: known}},
		{write.Update, "Rows(1)", "state=open size=5", bind.WriteOptions{Match: &write.Match{Any: true}}},
		{write.Update, "Rows(1)", "state=open size=5", bind.WriteOptions{Match: known, Minimal: true}},
		{write.Update, "Rows(1)/size", "size=5", bind.WriteOptions{Match: known}},
		{write.Update, "Rows(1)/size/$value", "size=5", bind.WriteOptions{Match: known}},
		{write.Create, "Rows", "state=open size=5", bind.WriteOptions{}},
		{write.Delete, "Rows(1)", "", bind.WriteOptions{Match: known}},
	} {
		shape, _ := shapeOf(m, c.kind, c.target, c.values, c.o)
		if other, ok := seen[shape]; ok {
			t.Errorf("%s %s %q and %q share the shape %q", c.kind, c.target, c.values, other, shape)
		}
		seen[shape] = c.values
	}
	for _, filter := range []string{"owner eq @user_id", "at lt now()"} {
		if _, kept := shapeOf(written(filter, ""), write.Update, "Rows(1)", "size=5", bind.WriteOptions{Match: known}); kept {
			t.Errorf("the checks under %q are kept for others", filter)
		}
		if _, kept := shapeOf(written("", filter), write.Delete, "Rows(1)", "", bind.WriteOptions{Match: known}); kept {
			t.Errorf("the checks under the policy %q are kept for others", filter)
		}
	}
}

// only returns the one change of a request.
func only(seq *bind.Sequence, err error) (*bind.Writing, error) {
	if err != nil {
		return nil, err
	}
	return seq.Main, nil
}
