package csdl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// linked is a model of orders with a customer, items, remarks whose key has the order, tags over a table in between, and
// labels over one that takes no links.
func linked() *edm.Model {
	property := func(name string) *edm.Property { return &edm.Property{Name: name, Type: edm.Of(edm.Int64)} }
	set := func(name string, list ...*edm.Property) *edm.EntitySet {
		return &edm.EntitySet{
			Name: name, Type: &edm.EntityType{Name: name + "Type", Key: list[:1], Properties: list}, Guard: edm.GuardNone,
			Write: &edm.Write{Create: true, Update: true, Delete: true},
		}
	}
	customers, tags, labels := set("Customers", property("id")), set("Tags", property("id")), set("Labels", property("id"))
	order, customer := property("order"), property("customer_id")
	order.Nullable = true
	orders, items := set("Orders", property("id"), customer), set("Items", property("id"), order)
	remark := property("order")
	remarks := set("Remarks", remark, property("no"))
	remarks.Type.Key = remarks.Type.Properties
	customers.Write.Create = false
	pair := func(own, other *edm.Property) []edm.Pair {
		return []edm.Pair{{Own: []*edm.Property{own}, Other: []*edm.Property{other}}}
	}
	id := orders.Type.Key[0]
	orders.Type.Navigation = []*edm.Navigation{
		{Name: "customer", Target: customers, Pairs: pair(customer, customers.Type.Key[0])},
		{Name: "items", Target: items, Collection: true, Pairs: pair(id, order)},
		{Name: "remarks", Target: remarks, Collection: true, Pairs: pair(id, remark)},
		{Name: "tags", Target: tags, Collection: true, Through: true, Linkable: true},
		{Name: "labels", Target: labels, Collection: true, Through: true},
	}
	m := &edm.Model{Namespace: "N", Container: "C", Sets: []*edm.EntitySet{customers, orders, items, remarks, tags, labels}}
	for _, s := range m.Sets {
		m.Types = append(m.Types, s.Type)
	}
	return m
}

// What links take is said of each navigation property.
func TestLinks(t *testing.T) {
	t.Parallel()
	flat := strings.Join(strings.Fields(string(xmlOf(linked(), options()))), " ")
	names := func(list ...string) string {
		return `<Collection> <NavigationPropertyPath>` + strings.Join(list, `</NavigationPropertyPath> <NavigationPropertyPath>`) + `</NavigationPropertyPath> </Collection>`
	}
	for name, want := range map[string]string{
		"inserts": `<PropertyValue Property="NonInsertableNavigationProperties"> ` + names("customer", "labels"),
		"updates": `<PropertyValue Property="NonUpdatableNavigationProperties"> ` + names("remarks", "labels"),
		"deletes": `<PropertyValue Property="NonDeletableNavigationProperties"> ` + names("customer", "remarks", "labels"),
		"deep":    `<Annotation Term="Capabilities.DeepInsertSupport"> <Record> <PropertyValue Property="Supported" Bool="true"/> <PropertyValue Property="ContentIDSupported" Bool="false"/>`,
		"below": `<Annotation Term="Capabilities.NavigationRestrictions"> <Record> <PropertyValue Property="RestrictedProperties"> <Collection> <Record> ` +
			`<PropertyValue Property="NavigationProperty" NavigationPropertyPath="labels"/> <PropertyValue Property="InsertRestrictions"> <Record> <PropertyValue Property="Insertable" Bool="false"/> </Record> </PropertyValue> </Record> </Collection>`,
		"batch": `<PropertyValue Property="ReferencesInRequestBodiesSupported" Bool="true"/>`,
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%s: no %s in\n%s", name, want, flat)
		}
	}
}

// Bodies have the entities and addresses that a request may have, and paths the methods.
func TestLinksInOpenAPI(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths      map[string]map[string]any
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	text := openAPIOf(linked(), "/odata/", options(), everything)
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/Orders({id})/items": true, "/Orders({id})/remarks": true, "/Orders({id})/tags": true, "/Orders({id})/labels": false, "/Customers": false} {
		if _, posts := doc.Paths[path]["post"]; doc.Paths[path] == nil || posts != want {
			t.Errorf("%s: POST is there: %v", path, posts)
		}
	}
	for body, names := range map[string]string{
		"N.Orders-create": "customer@odata.bind items items@odata.bind remarks tags tags@odata.bind",
		"N.Orders-update": "customer@odata.bind items@odata.bind tags@odata.bind",
	} {
		schema := doc.Components.Schemas[body]
		for _, name := range []string{"customer", "customer@odata.bind", "items", "items@odata.bind", "remarks", "remarks@odata.bind", "tags", "tags@odata.bind", "labels", "labels@odata.bind"} {
			_, there := schema.Properties[name]
			if want := strings.Contains(" "+names+" ", " "+name+" "); there != want {
				t.Errorf("%s: %s is there: %v", body, name, there)
			}
		}
	}
	if required := strings.Join(doc.Components.Schemas["N.Orders-create"].Required, " "); strings.Contains(required, "customer_id") {
		t.Errorf("a link gives the customer, and the body needs %s", required)
	}
}
