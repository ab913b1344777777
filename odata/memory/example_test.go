package memory_test

import (
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
)

// Slices of structs become entity sets, and a Service answers over them.
func Example() {
	type Category struct{ ID, Name string }
	type Product struct {
		ID         int
		Name       string `odata:",search"`
		Price      string `odata:",type=Decimal"`
		CategoryID *string
	}
	tools := "tools"
	source, err := memory.New(memory.Config{
		Guard: edm.GuardNone, // everybody may read; the zero value demands a signed-in caller
		Sets: []memory.Set{
			{Name: "Categories", Rows: []Category{{"tools", "Tools"}}},
			{Name: "Products", Rows: []Product{{1, "Hammer", "10.50", &tools}, {2, "Apple", "0.30", nil}}, Navigations: []memory.Navigation{
				{Name: "Category", To: "Categories", On: map[string]string{"CategoryID": "ID"}},
			}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	service, err := odata.New(source.Model(), source, odata.Options{}) // an http.Handler
	if err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest("GET", "/Products?$filter=Price%20gt%201&$select=Name&$expand=Category($select=Name)", nil))
	fmt.Println(w.Body)
	// Output: {"@odata.context":"http://example.com/$metadata#Products(Name,Category(Name))","value":[{"@odata.id":"http://example.com/Products(1)","Name":"Hammer","Category":{"@odata.id":"http://example.com/Categories('tools')","Name":"Tools"}}]}
}
