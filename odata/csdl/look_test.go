package csdl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// looked is model with something for each term.
func looked() *edm.Model {
	m := model()
	product, category := m.Types[0], m.Types[1]
	p := product.Property("CategoryID")
	p.Look = edm.Look{Label: "category", Text: "Category/ID", ValueList: &edm.ValueList{Set: m.Sets[1], Key: category.Key[0], Text: "ID"}}
	product.Property("Price").Look = edm.Look{Currency: edm.Measure{Constant: "EUR"}, Unit: edm.Measure{Path: "SKU"}}
	product.Property("Sum").Look = edm.Look{Hidden: true}
	product.Property("SKU").Look = edm.Look{Format: "upper"}
	product.Look = edm.TypeLook{
		Title: "product", Plural: "Products", List: []string{"SKU", "Category/ID"}, Fields: []string{"Home/City"}, Search: []string{"SKU"},
		SemanticKey: []*edm.Property{product.Property("SKU")},
	}
	m.Enums[0].Members[1].Label = "status.new"
	m.Texts = &edm.Texts{Languages: []string{"", "de"}, Bundles: []map[string]string{
		{"category": "Category", "product": "Product", "status.new": "Just arrived"},
		{"category": "Warengruppe", "product": "Artikel", "Category": "Gruppe", "status.new": "Neu eingetroffen", "None": "Keiner"},
	}}
	return m
}

func TestLooksInXML(t *testing.T) {
	t.Parallel()
	o := options()
	o.Language = "de"
	flat := strings.Join(strings.Fields(string(xmlOf(looked(), o))), " ")
	for name, want := range map[string]string{
		"references":   `<edmx:Reference Uri="https://sap.github.io/odata-vocabularies/vocabularies/UI.xml"> <edmx:Include Namespace="com.sap.vocabularies.UI.v1" Alias="UI"/>`,
		"label":        `<Annotation Term="Common.Label" String="Warengruppe"/>`,
		"way":          `<Annotation Term="Common.Label" String="Gruppe"/> </NavigationProperty>`,
		"members":      `<Member Name="None" Value="0"> <Annotation Term="Common.Label" String="Keiner"/> </Member> <Member Name="New" Value="1"> <Annotation Term="Common.Label" String="Neu eingetroffen"/> </Member>`,
		"text":         `<Annotation Term="Common.Text" Path="Category/ID"> <Annotation Term="UI.TextArrangement" EnumMember="UI.TextArrangementType/TextFirst"/> </Annotation>`,
		"value list":   `<Annotation Term="Common.ValueList"> <Record> <PropertyValue Property="Label" String="Categories"/> <PropertyValue Property="CollectionPath" String="Categories"/> <PropertyValue Property="Parameters"> <Collection> <Record Type="Common.ValueListParameterInOut"> <PropertyValue Property="LocalDataProperty" PropertyPath="CategoryID"/> <PropertyValue Property="ValueListProperty" String="ID"/> </Record> <Record Type="Common.ValueListParameterDisplayOnly">`,
		"currency":     `<Annotation Term="Measures.ISOCurrency" String="EUR"/> <Annotation Term="Measures.Unit" Path="SKU"/>`,
		"hidden":       `<Annotation Term="UI.Hidden" Bool="true"/>`,
		"format":       `<Annotation Term="Common.IsUpperCase" Bool="true"/>`,
		"header":       `<Annotation Term="UI.HeaderInfo"> <Record> <PropertyValue Property="TypeName" String="Artikel"/> <PropertyValue Property="TypeNamePlural" String="Products"/> <PropertyValue Property="Title"> <Record Type="UI.DataField"> <PropertyValue Property="Value" Path="SKU"/> </Record>`,
		"semantic key": `<Annotation Term="Common.SemanticKey"> <Collection> <PropertyPath>SKU</PropertyPath> </Collection>`,
		"line item":    `<Annotation Term="UI.LineItem"> <Collection> <Record Type="UI.DataField"> <PropertyValue Property="Value" Path="SKU"/> </Record> <Record Type="UI.DataField"> <PropertyValue Property="Value" Path="Category/ID"/>`,
		"facet":        `<Record Type="UI.ReferenceFacet"> <PropertyValue Property="Label" String="Artikel"/> <PropertyValue Property="Target" AnnotationPath="@UI.FieldGroup"/>`,
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%s: no %s in\n%s", name, want, flat)
		}
	}
}

func TestLooksInJSON(t *testing.T) {
	t.Parallel()
	var doc any
	if err := json.Unmarshal(jsonOf(looked(), options()), &doc); err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	const ui, common = "https://sap.github.io/odata-vocabularies/vocabularies/UI.json#com.sap.vocabularies.UI.v1.", "https://sap.github.io/odata-vocabularies/vocabularies/Common.json#com.sap.vocabularies.Common.v1."
	for path, want := range map[string]any{
		"Shop Product CategoryID @Common.Label":                   "Category",
		"Shop Product CategoryID @Common.Text":                    object{"$Path": "Category/ID"},
		"Shop Product CategoryID @Common.Text@UI.TextArrangement": "TextFirst",
		"Shop Product CategoryID @Common.ValueList": object{
			"Label": "Categories", "CollectionPath": "Categories", "Parameters": []any{
				object{"@type": common + "ValueListParameterInOut", "LocalDataProperty": "CategoryID", "ValueListProperty": "ID"},
				object{"@type": common + "ValueListParameterDisplayOnly", "ValueListProperty": "ID"},
			},
		},
		"Shop Status None":                  0.0,
		"Shop Status None@Common.Label":     "None",
		"Shop Status New@Common.Label":      "Just arrived",
		"Shop Product Price @Measures.Unit": object{"$Path": "SKU"},
		"Shop Product @Common.SemanticKey":  []any{"SKU"},
		"Shop Product @UI.SelectionFields":  []any{"SKU"},
		"Shop Product @UI.FieldGroup":       object{"Data": []any{object{"@type": ui + "DataField", "Value": object{"$Path": "Home/City"}}}},
	} {
		if diff := cmp.Diff(want, at(t, doc, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}
