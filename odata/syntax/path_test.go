package syntax_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// showPath prints segments, with <text> for those that can only be keys.
func showPath(segments []syntax.Segment) string {
	var parts []string
	for _, s := range segments {
		if s.Err != nil {
			parts = append(parts, "<"+s.Text+">")
			continue
		}
		w := printer{full: true}
		w.segment(s)
		parts = append(parts, w.String())
	}
	return strings.Join(parts, " / ")
}

func TestPaths(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"service document", "", ""},
		{"metadata", "$metadata", "$metadata"},
		{"batch", "$batch", "$batch"},
		{"entity set", "Products", "Products"},
		{"count", "Products/$count", "Products / $count"},
		{"references", "Products/$ref", "Products / $ref"},
		{"query in the body", "People(42)/Addresses/$query", "People(42) / Addresses / $query"},

		// OData-URL 4.3
		{"key", "Products(1)", "Products(1)"},
		{"negative key", "Products(-1)", "Products(-1)"},
		{"key with a plus", "Products(+1)", "Products(1)"},
		{"text key", "Products('a,b')", "Products('a,b')"},
		{"binary key", "Products(binary'AP8=')", "Products(binary'AP8=')"},
		{"key with a suffix", "Products(1L)", "Products(1)"},
		{"key of a filtered collection", "Products/$filter(Price gt 1)(2)", "Products / $filter((Price gt 1))(2)"},
		{"encoded quotes and parentheses", "Customers%28%27O%27%27Neil%27%29", "Customers('O''Neil')"},
		{"plus in a path is a plus", "Products('a+b%2Bc%20d')", "Products('a+b+c d')"},
		{"encoded slash is data", "Categories('Tablet%2FSlate')", "Categories('Tablet/Slate')"},
		{"named key", "Products(ID=1)", "Products(ID=1)"},
		{"compound key", "Items(OrderID=1, ItemID='x')", "Items(OrderID=1,ItemID='x')"},
		{"key alias", "Products(@k)", "Products(@k)"},
		{"named key alias", "Products(ID=@k)", "Products(ID=@k)"},
		{"key of every kind", "A(a=true,b=2012-09-03T12:53Z,c=11:22,d=duration'PT1S',e=Sales.Color'Red',f=01234567-89ab-cdef-0123-456789abcdef)", "A(a=true,b=2012-09-03T12:53Z,c=11:22,d=duration'PT1S',e=Sales.Color'Red',f=01234567-89ab-cdef-0123-456789abcdef)"},
		{"navigation", "Products(1)/Category/Name/$value", "Products(1) / Category / Name / $value"},
		{"names beyond ASCII", "%C3%84pfel(1)", "Äpfel(1)"},

		// OData-URL 4.3.6, 4.10
		{"key as segment", "Orders/1/Items", "Orders / <1> / Items"},
		{"text key as segment", "People/O'Neil", "People / <O'Neil>"},
		{"encoded slash as segment", "Categories/Smartphone%2FTablet", "Categories / <Smartphone/Tablet>"},
		{"dollar in a key as segment", "Categories/%24count", "Categories / <$count>"},
		{"a key that looks like a call", "Categories/f(x)", "Categories / <f(x)>"},
		{"one slash at the end", "Categories/", "Categories"},
		{"one slash behind a key", "Products(1)/", "Products(1)"},
		{"empty key as segment", "Categories//", "Categories / <>"},
		{"ordinal", "Suppliers(1)/Addresses/-1", "Suppliers(1) / Addresses / <-1>"},

		// OData-URL 4.5, 4.11
		{"function", "ByColor(color='red',size=null)", "ByColor(color='red',size=null)"},
		{"function without arguments", "Best()", "Best()"},
		{"function and key", "ByColor(color='red')(2)", "ByColor(color='red')(2)"},
		{"bound function", "Products/Model.All()/$count", "Products / Model.All() / $count"},
		{"cast", "Products/Model.Best(1)", "Products / Model.Best(1)"},
		{"cast behind a key", "Products(1)/Model.Best/Name", "Products(1) / Model.Best / Name"},

		// OData-URL 4.12, 4.13
		{"filter segment", "Products/$filter(Age%20gt%203%20and%20a)/$count", "Products / $filter(((Age gt 3) and a)) / $count"},
		{"filter segments with aliases", "Products/$filter(@a)/$filter(@b)", "Products / $filter(@a) / $filter(@b)"},
		{"key behind a filter segment", "Products/$filter(@a)/1", "Products / $filter(@a) / <1>"},
		{"each", "Products/$filter(@a)/$each/Model.Act", "Products / $filter(@a) / $each / Model.Act"},

		// OData-URL 4.15, 4.16
		{"crossjoin", "$crossjoin(Products, Sales)", "$crossjoin(Products=,Sales=)"},
		{"crossjoin with options in the body", "$crossjoin(Products,Sales)/$query", "$crossjoin(Products=,Sales=) / $query"},
		{"all", "$all", "$all"},
		{"all of a type", "$all/Model.Customer", "$all / Model.Customer"},
		{"entity", "$entity?$id=Products(1)", "$entity"},
		{"entity with a cast", "$entity/Model.Customer?$id=Products(1)", "$entity / Model.Customer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := syntax.Parse(tt.in, v40)
			if err != nil {
				t.Fatal(err)
			}
			if got := showPath(r.Segments); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if path, _, _ := strings.Cut(tt.in, "?"); r.RawPath != path {
				t.Errorf("got raw path %q", r.RawPath)
			}
		})
	}
}

func TestPathsRejected(t *testing.T) {
	tests := []struct {
		name, in string
		pos      int
		msg      string
	}{
		{"slash first", "/Products", 0, "a path segment is empty"},
		{"nothing but a slash", "/", 0, "a path segment is empty"},
		{"two slashes behind a key", "Products(1)//", 12, "a path segment is empty"},
		{"no name first", "1", 0, "expected the name of an entity set"},
		{"dot first", ".Products('foo')", 0, "expected the name"},
		{"qualified name first", "Model.Rejection", 5, "unexpected text in a path segment"},
		{"open key", "Products(1", 10, "behind the value"},
		{"open quote", "Products('a/b')", 9, "no closing quote"},
		{"text without quotes", "Products(wrong)", 9, "expected a key"},
		{"named text without quotes", "Products(ID=wrong)", 12, "the value of ID must be a literal"},
		{"array", "ByColors(c=[1])", 11, "the value of c must be a literal"},
		{"expression", "Products(1 add 2)", 11, "behind the value"},
		{"semicolon", "Items(A=1;B=2)", 9, "behind the value"},
		{"two keys", "Items(1,2)", 9, "different names"},
		{"null key", "Products(null)", 9, "a key cannot be null"},
		{"geographical key", "Products(geography'SRID=0;Point(1 2)')", 9, "a key cannot be null or geographical"},
		{"text behind the key", "Products(1)x", 11, "unexpected text in a path segment"},
		{"three groups", "F()(1)(2)", 6, "unexpected text in a path segment"},
		{"key behind a key", "Products(1)/2", 12, "expected the name of a property"},
		{"unknown system segment", "Products/$foo", 9, "there is no segment $foo"},
		{"system segment in another case", "Products/$Count", 9, "there is no segment $Count"},
		{"count first", "$count", 0, "$count needs a resource before it"},
		{"metadata later", "Products/$metadata", 9, "$metadata must be the first segment"},
		{"segment behind $metadata", "$metadata/Products", 10, "nothing can follow $metadata"},
		{"segment behind $count", "Products/$count/a", 16, "nothing can follow $count"},
		{"count behind $ref", "Products/$ref/$count", 14, "nothing can follow $ref"},
		{"segment behind $value", "Products(1)/Name/$value/a", 24, "nothing can follow $value"},
		{"text behind $count", "Products/$count(1)", 15, "unexpected text behind $count"},
		{"count behind $all", "$all/$count", 5, "$count cannot follow $all"},
		{"count behind $each", "Products/$each/$count", 15, "$count cannot follow $each"},
		{"segment behind $crossjoin", "$crossjoin(A,B)/a", 16, "nothing can follow $crossjoin"},
		{"crossjoin of nothing", "$crossjoin()", 11, "an entity set"},
		{"crossjoin without parentheses", "$crossjoin", 10, "behind $crossjoin"},
		{"filter without parentheses", "Products/$filter", 16, "behind $filter"},
		{"open filter", "Products/$filter(a/b eq 1)", 18, "to close $filter"},
		{"entity without id", "$entity", 7, "needs the option $id"},
		{"fragment", "Products#a", 8, "a fragment is never sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := syntax.Parse(tt.in, v401)
			wantError(t, err, tt.pos, "malformed", tt.msg)
		})
	}
}

// A segment that is no name keeps its text for use as a key, and carries what is wrong with it otherwise. One that is
// a name can be a key as well.
func TestKeyAsSegment(t *testing.T) {
	r, err := syntax.Parse("Categories/f(x)/Smart%2FPhone", v40)
	if err != nil {
		t.Fatal(err)
	}
	call, key := r.Segments[1], r.Segments[2]
	if call.Text != "f(x)" || call.Name != "" || call.Args != nil {
		t.Errorf("got %+v", call)
	}
	wantError(t, call.Err, 13, "malformed", "expected a key")
	if key.Text != "Smart/Phone" || key.Pos != 16 {
		t.Errorf("got %+v", key)
	}
	wantError(t, key.Err, 21, "malformed", "unexpected text in a path segment")
	if name := r.Segments[0]; name.Text != "Categories" || name.Err != nil {
		t.Errorf("got %+v", name)
	}
}
