package bind_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

func TestUpserts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target string
		change func(*edm.EntitySet)
		want   bool
	}{
		"by its key":               {"Rows(5)", nil, true},
		"by navigation":            {"Rows(5)/up", nil, false},
		"a property":               {"Rows(5)/size", nil, false},
		"a set":                    {"Rows", nil, false},
		"without create":           {"Rows(5)", func(s *edm.EntitySet) { s.Write.Create = false }, false},
		"without update":           {"Rows(5)", func(s *edm.EntitySet) { s.Write.Update = false }, false},
		"a key of the database":    {"Rows(5)", func(s *edm.EntitySet) { s.Type.Key[0].Computed = true }, false},
		"a key of the service":     {"Rows(5)", func(s *edm.EntitySet) { s.Write.Set = append(s.Write.Set, edm.Given{Path: s.Type.Key, Value: "7"}) }, false},
		"a key that has a default": {"Rows(5)", func(s *edm.EntitySet) { s.Type.Key[0].Defaulted = true }, true},
	} {
		m := written("", "")
		if c.change != nil {
			c.change(m.Sets[0])
		}
		if got := resource(t, m, c.target, map[string]any{"id": int64(1)}).Upserts(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The key of an upsert is that of the path, and the service gives what it gives to a creation.
func TestUpsertBindsACreation(t *testing.T) {
	t.Parallel()
	m := written("", "")
	r := resource(t, m, "Rows(5)", map[string]any{"id": int64(1)})
	seq, err := r.Upsert(&bind.Entity{Values: assign(m.Sets[0], "id=9 state=open")}, bind.WriteOptions{Complete: true, Match: &write.Match{}})
	if err != nil {
		t.Fatal(err)
	}
	c := seq.Main.Change
	got := map[string]int64{}
	for _, a := range c.Values {
		got[a.Path[0].Name] = a.Value.Int
	}
	if c.Kind != write.Create || c.Key != nil || c.Match != nil || c.Before != nil || len(c.Values) != 4 || got["id"] != 5 || got["owner"] != 1 {
		t.Errorf("%+v", c)
	}
	if r.Key == nil {
		t.Error("the resource has no key any more")
	}
}
