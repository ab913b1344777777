package csdl_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/csdl"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// model is small and has one of everything.
func model() *edm.Model {
	prop := func(name string, t edm.Type, nullable bool) *edm.Property {
		return &edm.Property{Name: name, Type: t, Nullable: nullable}
	}
	status := &edm.EnumType{Name: "Status", Flags: true, Underlying: edm.Int64, Members: []edm.EnumMember{{Name: "None"}, {Name: "New", Value: 1}}}
	address := &edm.ComplexType{Name: "Address", Properties: []*edm.Property{prop("City", edm.Type{Kind: edm.String, MaxLength: 40}, true)}}
	price := edm.Type{Kind: edm.Decimal, Precision: 10, Scale: 2}
	id, sku, fk := prop("ID", edm.Of(edm.Int32), false), prop("SKU", edm.Of(edm.String), false), prop("CategoryID", edm.Of(edm.Int32), true)
	id.Immutable = true
	sum := prop("Sum", edm.Of(edm.Decimal), true)
	sum.Computed, sum.Description = true, `1 < 2 & "so on"`
	product := &edm.EntityType{
		Name: "Product", Description: "What is for sale", Key: []*edm.Property{id}, AlternateKeys: [][]*edm.Property{{sku}},
		Properties: []*edm.Property{
			id, sku, fk, sum, prop("Price", price, false),
			prop("Status", edm.Type{Kind: edm.Enum, Enum: status}, false),
			prop("Home", edm.Type{Kind: edm.Complex, Complex: address}, false),
		},
	}
	cid := prop("ID", edm.Of(edm.Int32), false)
	category := &edm.EntityType{Name: "Category", Key: []*edm.Property{cid}, Properties: []*edm.Property{cid}}
	products := &edm.EntitySet{Name: "Products", Type: product, Searchable: true}
	categories := &edm.EntitySet{Name: "Categories", Type: category}
	product.Navigation = []*edm.Navigation{{
		Name: "Category", Target: categories, Nullable: true, Partner: "Products", Constrained: true, Pairs: []edm.Pair{{Own: []*edm.Property{fk}, Other: []*edm.Property{cid}}},
	}}
	category.Navigation = []*edm.Navigation{{Name: "Products", Target: products, Collection: true, Partner: "Category"}}
	m := &edm.Model{
		Namespace: "Shop", Container: "Container",
		Sets:  []*edm.EntitySet{products, categories},
		Types: []*edm.EntityType{product, category}, Complexes: []*edm.ComplexType{address}, Enums: []*edm.EnumType{status},
	}
	m.Add(edm.EntitySet{Name: "Company", Type: category}, true)
	return m
}

func options() csdl.Options {
	return csdl.Options{ExpandDepth: 4, FilterFunctions: []string{"contains"}}
}

func TestXML(t *testing.T) {
	t.Parallel()
	doc := string(xmlOf(model(), options()))
	dec := xml.NewDecoder(strings.NewReader(doc))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
	flat := strings.Join(strings.Fields(doc), " ")
	for name, want := range map[string]string{
		"version":        `<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">`,
		"vocabulary":     `<edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>`,
		"schema":         `<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">`,
		"key":            `<EntityType Name="Product"> <Key> <PropertyRef Name="ID"/> </Key> <Annotation Term="Core.Description" String="What is for sale"/>`,
		"alternate key":  `<Annotation Term="Core.AlternateKeys"> <Collection> <Record> <PropertyValue Property="Key"> <Collection> <Record> <PropertyValue Property="Name" PropertyPath="SKU"/> <PropertyValue Property="Alias" String="SKU"/>`,
		"immutable":      `<Property Name="ID" Type="Edm.Int32" Nullable="false"> <Annotation Term="Common.Label" String="ID"/> <Annotation Term="Core.Immutable" Bool="true"/> </Property>`,
		"nullable":       `<Property Name="CategoryID" Type="Edm.Int32"> <Annotation Term="Common.Label" String="Category ID"/> </Property>`,
		"escapes":        `<Property Name="Sum" Type="Edm.Decimal" Scale="variable"> <Annotation Term="Core.Description" String="1 &lt; 2 &amp; &#34;so on&#34;"/>`,
		"decimal":        `<Property Name="Price" Type="Edm.Decimal" Nullable="false" Precision="10" Scale="2"> <Annotation Term="Common.Label" String="Price"/> </Property>`,
		"enum property":  `<Property Name="Status" Type="Shop.Status" Nullable="false"> <Annotation Term="Common.Label" String="Status"/> </Property>`,
		"navigation":     `<NavigationProperty Name="Category" Type="Shop.Category" Partner="Products"> <ReferentialConstraint Property="CategoryID" ReferencedProperty="ID"/> </NavigationProperty>`,
		"collection":     `<NavigationProperty Name="Products" Type="Collection(Shop.Product)" Partner="Category"/>`,
		"complex":        `<ComplexType Name="Address"> <Property Name="City" Type="Edm.String" MaxLength="40"> <Annotation Term="Common.Label" String="City"/> </Property> </ComplexType>`,
		"enum":           `<EnumType Name="Status" UnderlyingType="Edm.Int64" IsFlags="true"> <Member Name="None" Value="0"> <Annotation Term="Common.Label" String="None"/> </Member> <Member Name="New" Value="1"> <Annotation Term="Common.Label" String="New"/> </Member> </EnumType>`,
		"set":            `<EntitySet Name="Products" EntityType="Shop.Product"> <NavigationPropertyBinding Path="Category" Target="Categories"/>`,
		"singleton":      `<Singleton Name="Company" Type="Shop.Category"> <NavigationPropertyBinding Path="Products" Target="Products"/>`,
		"read-only":      `<Annotations Target="Shop.Container/Products"> <Annotation Term="Capabilities.SearchRestrictions"> <Record> <PropertyValue Property="Searchable" Bool="true"/> </Record> </Annotation> <Annotation Term="Capabilities.InsertRestrictions"> <Record> <PropertyValue Property="Insertable" Bool="false"/>`,
		"read-only one":  `<Annotations Target="Shop.Container/Company"> <Annotation Term="Capabilities.UpdateRestrictions"> <Record> <PropertyValue Property="Updatable" Bool="false"/>`,
		"the service":    `<Annotations Target="Shop.Container"> <Annotation Term="Core.ODataVersions" String="4.0 4.01"/>`,
		"expand depth":   `<PropertyValue Property="MaxLevels" Int="4"/>`,
		"function":       `<Annotation Term="Capabilities.FilterFunctions"> <Collection> <String>contains</String> </Collection>`,
		"enum member":    `<Annotation Term="Capabilities.ConformanceLevel" EnumMember="Capabilities.ConformanceLevelType/Intermediate"/>`,
		"not searchable": `<PropertyValue Property="Searchable" Bool="false"/>`,
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%s: no %s in\n%s", name, want, doc)
		}
	}
	newer := options()
	newer.Version = "4.01"
	for _, want := range []string{` Version="4.01">`, `ConformanceLevelType/Intermediate"`} {
		if !bytes.Contains(xmlOf(model(), newer), []byte(want)) {
			t.Errorf("the document for 4.01 lacks %s", want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	if err := json.Unmarshal(jsonOf(model(), options()), &doc); err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	schema, _ := doc["Shop"].(object)
	if doc["$Version"] != "4.0" || doc["$EntityContainer"] != "Shop.Container" || schema == nil {
		t.Fatalf("no schema in %v", doc)
	}
	product, _ := schema["Product"].(object)
	container, _ := schema["Container"].(object)
	company, _ := container["Company"].(object)
	apart, _ := schema["$Annotations"].(object)
	products, _ := container["Products"].(object)
	for name, pair := range map[string][2]any{
		"key":        {product["$Key"], []any{"ID"}},
		"property":   {product["ID"], object{"$Type": "Edm.Int32", "@Core.Immutable": true, "@Common.Label": "ID"}},
		"nullable":   {product["CategoryID"], object{"$Type": "Edm.Int32", "$Nullable": true, "@Common.Label": "Category ID"}},
		"decimal":    {product["Price"], object{"$Type": "Edm.Decimal", "$Precision": 10.0, "$Scale": 2.0, "@Common.Label": "Price"}},
		"alternate":  {product["@Core.AlternateKeys"], []any{object{"Key": []any{object{"Name": "SKU", "Alias": "SKU"}}}}},
		"navigation": {product["Category"], object{"$Kind": "NavigationProperty", "$Type": "Shop.Category", "$Nullable": true, "$Partner": "Products", "$ReferentialConstraint": object{"CategoryID": "ID"}}},
		"to many":    {schema["Category"].(object)["Products"], object{"$Kind": "NavigationProperty", "$Type": "Shop.Product", "$Collection": true, "$Partner": "Category"}},
		"enum":       {schema["Status"], object{"$Kind": "EnumType", "$UnderlyingType": "Edm.Int64", "$IsFlags": true, "None": 0.0, "None@Common.Label": "None", "New": 1.0, "New@Common.Label": "New"}},
		"complex":    {schema["Address"], object{"$Kind": "ComplexType", "City": object{"$Type": "Edm.String", "$Nullable": true, "$MaxLength": 40.0, "@Common.Label": "City"}}},
		"binding":    {products["$NavigationPropertyBinding"], object{"Category": "Categories"}},
		"set":        {products["$Collection"], true},
		"singleton":  {company["$Collection"], nil},
		"search":     {apart["Shop.Container/Products"].(object)["@Capabilities.SearchRestrictions"], object{"Searchable": true}},
		"level":      {apart["Shop.Container"].(object)["@Capabilities.ConformanceLevel"], "Intermediate"},
		"no insert":  {apart["Shop.Container/Company"].(object)["@Capabilities.InsertRestrictions"], nil},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// writable is the model with products that can be created and changed: the version is moved, the category fixed, and the SKU
// has a default.
func writable() *edm.Model {
	m := model()
	s := m.Set("Products")
	version := &edm.Property{Name: "Version", Type: edm.Of(edm.Int64)}
	s.Type.Properties = append(s.Type.Properties, version)
	s.Type.Property("ID").Computed, s.Type.Property("ID").Immutable = true, false
	s.Type.Property("SKU").Defaulted = true
	s.Type.Property("Home").Type.Complex.Properties[0].Nullable = false
	s.Write = &edm.Write{
		Create: true, Update: true, Version: version,
		Fixed: [][]*edm.Property{{s.Type.Property("CategoryID")}},
		Set:   []edm.Given{{Path: []*edm.Property{s.Type.Property("Price")}, Value: "1"}},
	}
	return m
}

// keyed is writable with keys that clients choose.
func keyed() *edm.Model {
	m := writable()
	m.Set("Products").Type.Property("ID").Computed = false
	return m
}

func TestWriting(t *testing.T) {
	t.Parallel()
	flat := strings.Join(strings.Fields(string(xmlOf(writable(), options()))), " ")
	for name, want := range map[string]string{
		"insert": `<Annotation Term="Capabilities.InsertRestrictions"> <Record> <PropertyValue Property="Insertable" Bool="true"/> <PropertyValue Property="NonInsertableProperties"> <Collection> ` +
			`<PropertyPath>ID</PropertyPath> <PropertyPath>Sum</PropertyPath> <PropertyPath>Price</PropertyPath> <PropertyPath>Version</PropertyPath> </Collection> </PropertyValue> ` +
			`<PropertyValue Property="NonInsertableNavigationProperties"> <Collection> <NavigationPropertyPath>Category</NavigationPropertyPath> </Collection> </PropertyValue> ` +
			`<PropertyValue Property="RequiredProperties"> <Collection> <PropertyPath>Status</PropertyPath> <PropertyPath>Home/City</PropertyPath> </Collection> </PropertyValue> </Record> </Annotation>`,
		"update": `<PropertyValue Property="Updatable" Bool="true"/> <PropertyValue Property="FilterSegmentSupported" Bool="false"/> <PropertyValue Property="NonUpdatableProperties"> <Collection> ` +
			`<PropertyPath>CategoryID</PropertyPath> <PropertyPath>ID</PropertyPath> <PropertyPath>Sum</PropertyPath> <PropertyPath>Price</PropertyPath> <PropertyPath>Version</PropertyPath> </Collection>`,
		"delete":   `<PropertyValue Property="Deletable" Bool="false"/> <PropertyValue Property="FilterSegmentSupported" Bool="false"/>`,
		"tag":      `<Annotation Term="Core.OptimisticConcurrency"> <Collection> <PropertyPath>Version</PropertyPath> </Collection> </Annotation>`,
		"computed": `<Property Name="Price" Type="Edm.Decimal" Nullable="false" Precision="10" Scale="2"> <Annotation Term="Common.Label" String="Price"/> <Annotation Term="Core.Computed" Bool="true"/> </Property>`,
		"fixed":    `<Property Name="CategoryID" Type="Edm.Int32"> <Annotation Term="Common.Label" String="Category ID"/> <Annotation Term="Core.Immutable" Bool="true"/> </Property>`,
		"others":   `<Annotations Target="Shop.Container/Categories"> <Annotation Term="Capabilities.SearchRestrictions"> <Record> <PropertyValue Property="Searchable" Bool="false"/> </Record> </Annotation> <Annotation Term="Capabilities.InsertRestrictions"> <Record> <PropertyValue Property="Insertable" Bool="false"/> </Record>`,
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%s: no %s in\n%s", name, want, flat)
		}
	}
	chosen := strings.Join(strings.Fields(string(xmlOf(keyed(), options()))), " ")
	if want := `<PropertyValue Property="Updatable" Bool="true"/> <PropertyValue Property="Upsertable" Bool="true"/>`; !strings.Contains(chosen, want) || strings.Contains(flat, "Upsertable") {
		t.Errorf("no %s, or where the database gives the keys:\n%s", want, chosen)
	}
	hidden := writable()
	s := hidden.Set("Products")
	s.Type.Properties = s.Type.Properties[:len(s.Type.Properties)-1]
	if doc := strings.Join(strings.Fields(string(xmlOf(hidden, options()))), " "); !strings.Contains(doc, `<Annotation Term="Core.OptimisticConcurrency"> <Collection> </Collection>`) {
		t.Errorf("a hidden version is told, or there is no tag:\n%s", doc)
	}
}

func xmlOf(m *edm.Model, o csdl.Options) []byte {
	var b bytes.Buffer
	_ = csdl.XML(&b, m, o) // a buffer takes everything
	return b.Bytes()
}

func jsonOf(m *edm.Model, o csdl.Options) []byte {
	var b bytes.Buffer
	_ = csdl.JSON(&b, m, o)
	return b.Bytes()
}

func openAPIOf(m *edm.Model, root string, o csdl.Options, show func(*edm.EntitySet) bool) []byte {
	var b bytes.Buffer
	_ = csdl.OpenAPI(&b, m, root, o, show)
	return b.Bytes()
}
