package edm_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func TestReadable(t *testing.T) {
	for name, want := range map[string]string{
		"released_on": "Released on", "UnitPrice": "Unit price", "category_id": "Category ID", "ID": "ID", "id": "ID", "CustomerID": "Customer ID",
		"VATNumber": "VAT number", "html_text": "Html text", "größe": "Größe", "ärger": "Ärger", "a1B2": "A1 B2", "_": "_", "": "", "__x": "X", "Order2Item": "Order2 item",
	} {
		if got := edm.Readable(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestAlong(t *testing.T) {
	city := &edm.Property{Name: "city", Type: edm.Of(edm.String)}
	home := &edm.Property{Name: "home", Type: edm.Type{Kind: edm.Complex, Complex: &edm.ComplexType{Properties: []*edm.Property{city}}}}
	id := &edm.Property{Name: "id", Type: edm.Of(edm.Int64)}
	typ := &edm.EntityType{Name: "T", Properties: []*edm.Property{id, home}}
	set := &edm.EntitySet{Name: "S", Type: typ}
	typ.Navigation = []*edm.Navigation{{Name: "parent", Target: set}, {Name: "children", Target: set, Collection: true}}
	for path, want := range map[string]*edm.Property{
		"id": id, "home/city": city, "parent/id": id, "parent/parent/home/city": city, "home": home,
		"": nil, "nope": nil, "home/nope": nil, "id/x": nil, "parent": nil, "parent/": nil, "children/id": nil, "home/city/x": nil, "parent/nope": nil,
	} {
		p, name, ok := typ.Along(path)
		if p != want && ok || ok != (want != nil) {
			t.Errorf("%q leads to %v, %q, %v", path, p, name, ok)
		}
	}
}

func TestTexts(t *testing.T) {
	m := &edm.Model{}
	if got := m.Text("de", "key"); got != "key" {
		t.Errorf("without texts: %q", got)
	}
	m.Texts = &edm.Texts{Languages: []string{"", "de"}, Bundles: []map[string]string{{"a": "A", "b": "B"}, {"a": "Ä"}}}
	for in, want := range map[[2]string]string{{"de", "a"}: "Ä", {"de", "b"}: "B", {"", "a"}: "A", {"fr", "a"}: "A", {"de", "c"}: "c", {"de", ""}: ""} {
		if got := m.Text(in[0], in[1]); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
