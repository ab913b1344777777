package syntax_test

import (
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

func ExampleParse() {
	r, err := syntax.Parse("Products(1)/Reviews?$filter=Stars%20ge%203&$top=10", syntax.Options{Functions: function.Arity})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Segments {
		fmt.Println(s.Name, s.Args != nil)
	}
	fmt.Println(r.Filter.(*syntax.Binary).Op, *r.Top)
	// Output:
	// Products true
	// Reviews false
	// ge 10
}

func ExampleError() {
	_, err := syntax.Parse("Products?$filter=substringof('chair',Name)", syntax.Options{Functions: function.Arity})
	var e *syntax.Error
	if errors.As(err, &e) {
		fmt.Println(e.Pos, e.Code, e.NotImplemented())
	}
	fmt.Println(err)
	// Output:
	// 17 unknown_function false
	// substringof is no canonical function; write contains(text,part) (at position 17: "substringof('chair',Name…")
}

func ExampleParseFilter() {
	e, err := syntax.ParseFilter("tenant_id eq @user_partner_id", syntax.Options{Functions: function.Arity})
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := e.(*syntax.Binary)
	fmt.Println(policy.X.(*syntax.Path).Segments[0].Name, policy.Op, policy.Y.(*syntax.Path).Root)
	// Output: tenant_id eq @user_partner_id
}
