package edm_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func shop() *edm.Model {
	id := &edm.Property{Name: "Id", Type: edm.Of(edm.Int64)}
	product := &edm.EntityType{Name: "Product", Key: []*edm.Property{id}, Properties: []*edm.Property{id}}
	set := &edm.EntitySet{Name: "Products", Type: product, Guard: edm.GuardNone}
	return &edm.Model{
		Namespace: "Shop", Container: "Container",
		Sets: []*edm.EntitySet{set}, Types: []*edm.EntityType{product},
	}
}

func TestCheckAcceptsASoundModel(t *testing.T) {
	if err := shop().Check(); err != nil {
		t.Fatal(err)
	}
}

func TestCheckNamesEveryFault(t *testing.T) {
	cases := map[string]struct {
		spoil func(*edm.Model)
		want  string
	}{
		"no namespace":      {func(m *edm.Model) { m.Namespace = "" }, "namespace"},
		"set twice":         {func(m *edm.Model) { m.Sets = append(m.Sets, m.Sets[0]) }, `entity set "Products": the name is taken`},
		"type is container": {func(m *edm.Model) { m.Types[0].Name = "Container" }, "the name is taken"},
		"no key":            {func(m *edm.Model) { m.Types[0].Key = nil }, "has no key"},
		"key not a property": {func(m *edm.Model) {
			m.Types[0].Key = []*edm.Property{{Name: "Other"}}
		}, `key property "Other"`},
		"property twice": {func(m *edm.Model) {
			m.Types[0].Properties = append(m.Types[0].Properties, &edm.Property{Name: "Id"})
		}, `two properties are named "Id"`},
		"navigation into nowhere": {func(m *edm.Model) {
			m.Types[0].Navigation = []*edm.Navigation{{Name: "Category"}}
		}, "leads nowhere"},
		"bad namespace":     {func(m *edm.Model) { m.Namespace = "my shop" }, `namespace: "my shop" must be identifiers with dots between`},
		"bad property name": {func(m *edm.Model) { m.Types[0].Properties[0].Name = "the id" }, `the property name "the id" is no identifier`},
		"bad member": {func(m *edm.Model) {
			m.Enums = []*edm.EnumType{edm.NewEnum("Status", false, map[string]int64{"in stock": 1}, nil)}
		}, `enum "Status": the member "in stock" is no identifier`},
		"no members": {func(m *edm.Model) { m.Enums = []*edm.EnumType{{Name: "Status"}} }, "needs members"},
		"no way back": {func(m *edm.Model) {
			m.Types[0].Navigation = []*edm.Navigation{{Name: "Other", Target: m.Sets[0], Partner: "Back"}}
		}, `the partner "Back" is no navigation of "Products" that leads back`},
		"unnamed enum": {func(m *edm.Model) { m.Enums = []*edm.EnumType{{}} }, `enum "": the name must be an identifier`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := shop()
			c.spoil(m)
			err := m.Check()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestQualifiedNames(t *testing.T) {
	color := &edm.EnumType{Name: "Color"}
	address := &edm.ComplexType{Name: "Address"}
	cases := map[string]edm.Type{
		"Edm.Int64":              edm.Of(edm.Int64),
		"Shop.Color":             {Kind: edm.Enum, Enum: color},
		"Shop.Address":           {Kind: edm.Complex, Complex: address},
		"Shop.Product":           {Kind: edm.Entity, Entity: shop().Types[0]},
		"Collection(Edm.String)": {Kind: edm.String, Collection: true},
	}
	for want, typ := range cases {
		if got := typ.QualifiedName("Shop"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestKindsHaveTheirNames(t *testing.T) {
	for k := edm.Boolean; k <= edm.Stream; k++ {
		if got := edm.PrimitiveKind(k.String()); got != k {
			t.Errorf("%v: found %v by its name", k, got)
		}
	}
	if edm.PrimitiveKind("Enum") != edm.Invalid || edm.PrimitiveKind("int64") != edm.Invalid {
		t.Error("a name that is no primitive type found a kind")
	}
}

func TestGuardsAreTheWordsOfConfiguration(t *testing.T) {
	for _, word := range []string{"session", "settled", "none"} {
		g, ok := edm.ParseGuard(word)
		if !ok || g.String() != word {
			t.Errorf("%q: got %v, %v", word, g, ok)
		}
	}
	if g, ok := edm.ParseGuard("open"); ok || g != edm.GuardSettled {
		t.Errorf("an unknown word gave %v, %v", g, ok)
	}
}

func TestSingletonHasASetOfItsOwn(t *testing.T) {
	s := shop().Add(edm.EntitySet{Name: "Company", Type: shop().Types[0]}, true)
	if s.Name != "Company" || !s.Single() {
		t.Errorf("got %q, single %v", s.Name, s.Single())
	}
}
