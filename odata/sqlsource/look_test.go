package sqlsource_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// lookConfig exposes products and categories of the fixture.
func lookConfig(look sqlsource.TypeLook, properties ...sqlsource.Property) sqlsource.Config {
	return sqlsource.Config{EntitySets: []sqlsource.EntitySet{
		{
			Name: "Products", Table: "products", Hide: []string{"cost"}, Look: look, Properties: properties,
			Complexes: []sqlsource.Complex{{Type: "Address", Name: "ship", Prefix: "ship_"}},
		},
		{Name: "Categories", Table: "categories", Look: sqlsource.TypeLook{Plural: "groups"}},
		{Name: "Details", Table: "Order Details"},
	}}
}

func TestLooks(t *testing.T) {
	look := func(column string, l sqlsource.Look) sqlsource.Property {
		return sqlsource.Property{Column: column, Look: l}
	}
	named := look("sku", sqlsource.Look{Label: "Number", Format: "upper"})
	named.Name = "number"
	s := open(t, database(t, "sqlite", ddl("sqlite")), lookConfig(
		sqlsource.TypeLook{
			Title: "Product", Plural: "Products", List: []string{"number", "category/name", "ship/city"}, Fields: []string{"price"},
			Search: []string{"category/parent/name"}, SemanticKey: []string{"number"},
		},
		named, look("id", sqlsource.Look{Text: "name"}), look("PRICE", sqlsource.Look{Currency: "'EUR'", Unit: "note"}), look("category_id", sqlsource.Look{Text: "category/name", ValueList: "Categories"}),
		look("tenant", sqlsource.Look{Hidden: true}), look("ship_city", sqlsource.Look{Label: "Town", Text: "street"}),
	))
	m := s.Model()
	p := m.EntityType("Products")
	categories := m.Set("Categories")
	if diff := cmp.Diff(edm.TypeLook{
		Title: "Product", Plural: "Products", List: []string{"number", "category/name", "ship/city"}, Fields: []string{"price"},
		Search: []string{"category/parent/name"}, SemanticKey: []*edm.Property{p.Property("number")},
	}, p.Look, cmp.Comparer(func(a, b *edm.Property) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]edm.Look{
		"number":    {Label: "Number", Format: "upper"},
		"price":     {Currency: edm.Measure{Constant: "EUR"}, Unit: edm.Measure{Path: "note"}},
		"tenant":    {Hidden: true},
		"ship/city": {Label: "Town", Text: "street"},
		"name":      {},
	} {
		if got, _, _ := p.Along(path); got.Look != want {
			t.Errorf("%s: %+v", path, got.Look)
		}
	}
	list := p.Property("category_id").Look.ValueList
	if list == nil || list.Set != categories || list.Key != categories.Type.Key[0] || list.Text != "name" {
		t.Errorf("value list: %+v", list)
	}
}

func TestLooksRefused(t *testing.T) {
	db := database(t, "sqlite", ddl("sqlite"))
	type property = sqlsource.Property
	none := sqlsource.TypeLook{}
	for name, c := range map[string]struct {
		cfg  sqlsource.Config
		want string
	}{
		"column of a list":      {lookConfig(sqlsource.TypeLook{List: []string{"nmae"}}), `entity_set.Products.list: there is no property "nmae": did you mean "name"?`},
		"hidden in a form":      {lookConfig(sqlsource.TypeLook{Fields: []string{"cost"}}), `entity_set.Products.fields: there is no property "cost"`},
		"behind a link":         {lookConfig(sqlsource.TypeLook{List: []string{"category/nam"}}), `entity_set.Products.list: there is no property "nam" in the path "category/nam"`},
		"to many":               {lookConfig(sqlsource.TypeLook{List: []string{"Details/line"}}), `entity_set.Products.list: the path "Details/line" leads to many rows: go through navigation to one only`},
		"a link itself":         {lookConfig(sqlsource.TypeLook{Search: []string{"category"}}), `entity_set.Products.search_fields: there is no property "category": name one of its properties, such as "category/id"`},
		"complex":               {lookConfig(sqlsource.TypeLook{List: []string{"ship"}}), `entity_set.Products.list: "ship" has several values: name one of its properties, such as "ship/street"`},
		"semantic key":          {lookConfig(sqlsource.TypeLook{SemanticKey: []string{"category/name"}}), `entity_set.Products.semantic_key: there is no property "category/name"`},
		"text nowhere":          {lookConfig(none, property{Column: "id", Look: sqlsource.Look{Text: "nam"}}), `entity_set.Products.property.id.text: there is no property "nam": did you mean "name"?`},
		"text of a wrong type":  {lookConfig(none, property{Column: "id", Look: sqlsource.Look{Text: "stock"}}), `entity_set.Products.property.id.text: "stock" is Edm.`},
		"currency of a text":    {lookConfig(none, property{Column: "name", Look: sqlsource.Look{Currency: "'EUR'"}}), `entity_set.Products.property.name.currency: only numbers have one`},
		"currency nowhere":      {lookConfig(none, property{Column: "price", Look: sqlsource.Look{Currency: "EUR"}}), `entity_set.Products.property.price.currency: there is no property "EUR"`},
		"unit of a wrong type":  {lookConfig(none, property{Column: "price", Look: sqlsource.Look{Unit: "stock"}}), `entity_set.Products.property.price.unit: "stock" is Edm.`},
		"value list":            {lookConfig(none, property{Column: "category_id", Look: sqlsource.Look{ValueList: "Categoris"}}), `entity_set.Products.property.category_id.value_list: there is no entity set "Categoris": did you mean "Categories"?`},
		"list of several keys":  {lookConfig(none, property{Column: "stock", Look: sqlsource.Look{ValueList: "Details"}}), `entity_set.Products.property.stock.value_list: no property of "Details" says which row is meant`},
		"list of another type":  {lookConfig(none, property{Column: "name", Look: sqlsource.Look{ValueList: "Categories"}}), `entity_set.Products.property.name.value_list: "id" of "Categories" is Edm.Int64, and the property Edm.String`},
		"format":                {lookConfig(none, property{Column: "name", Look: sqlsource.Look{Format: "multi_line"}}), `entity_set.Products.property.name.format: there is no format "multi_line": did you mean "multiline"?`},
		"format of a number":    {lookConfig(none, property{Column: "price", Look: sqlsource.Look{Format: "url"}}), `entity_set.Products.property.price.format: the format "url" is for Edm.String, and the property is Edm.Decimal`},
		"look of a hidden one":  {lookConfig(none, property{Column: "cost", Look: sqlsource.Look{Label: "Cost"}}), `entity_set.Products.property.cost: the column is hidden`},
		"path in a complex one": {lookConfig(none, property{Column: "ship_city", Look: sqlsource.Look{Text: "name"}}), `entity_set.Products.property.ship_city.text: there is no property "name"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sqlsource.New(context.Background(), db, c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
