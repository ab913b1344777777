package syntax_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// BenchmarkParse parses requests as OpenUI5's OData V4 model sends them.
func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, target string }{
		{"page", "Products?$top=200&$skip=400"},
		{"entity", "Products(4711)/Category?$select=ID,Name"},
		{"list", "Products?$count=true&$orderby=Name%20desc,ID&$select=ID,Name,Price,Stock&$filter=contains(Name,'chair')%20and%20(Price%20ge%2010.50%20or%20Stock%20eq%200)&$skip=0&$top=100"},
		{"expand", "Orders?$count=true&$select=ID,Total&$expand=Customer($select=ID,Name),Items($select=ID,Quantity;$expand=Product($select=ID,Name);$orderby=ID)&$skip=100&$top=100"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := syntax.Parse(bb.target, v40); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
