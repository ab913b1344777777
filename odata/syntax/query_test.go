package syntax_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// showQuery prints the parsed options in a fixed order.
func showQuery(q *syntax.Query) string {
	var parts []string
	put := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if q.Filter != nil {
		put("filter %s", tree(q.Filter))
	}
	for _, o := range q.OrderBy {
		put("orderby %s desc=%t", tree(o.Expr), o.Desc)
	}
	if q.Top != nil {
		put("top %d", *q.Top)
	}
	if q.Skip != nil {
		put("skip %d", *q.Skip)
	}
	if q.Count != nil {
		put("count %t", *q.Count)
	}
	for _, s := range q.Select {
		put("select %s", showSelect(s))
	}
	for _, e := range q.Expand {
		put("expand %s", showExpand(e))
	}
	if q.Levels != 0 {
		put("levels %d", q.Levels)
	}
	if q.Search != nil {
		put("search %s", search(q.Search, ""))
	}
	for _, c := range q.Compute {
		put("compute %s as %s", tree(c.Expr), c.As)
	}
	for _, a := range q.Aliases {
		put("%s=%s", a.Name, tree(a.Value))
	}
	if q.Index != nil {
		put("index %d", *q.Index)
	}
	for _, s := range []string{q.Format, q.SkipToken, q.SchemaVersion, q.ID} {
		if s != "" {
			put("text %s", s)
		}
	}
	return strings.Join(parts, "; ")
}

func showIdents(ids []syntax.Ident) string {
	var parts []string
	for _, id := range ids {
		parts = append(parts, id.Name)
	}
	return strings.Join(parts, "/")
}

func showSelect(s syntax.SelectItem) string {
	out := showIdents(s.Path)
	if s.Star {
		out += "*"
	}
	if s.Params != nil {
		out += fmt.Sprint(s.Params)
	}
	return out + showNested(s.Options)
}

func showExpand(e syntax.ExpandItem) string {
	out := showIdents(e.Path)
	for _, mark := range []struct {
		set  bool
		text string
	}{{e.Star, "*"}, {e.Ref, "/$ref"}, {e.Count, "/$count"}, {e.Value, "$value"}} {
		if mark.set {
			out += mark.text
		}
	}
	return out + showNested(e.Options)
}

func showNested(q *syntax.Query) string {
	if q == nil {
		return ""
	}
	return "{" + showQuery(q) + "}"
}

func TestQueries(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"none", "", ""},
		{"empty pairs", "&&$top=1&", "top 1"},
		{"all of a page", "$top=10&$skip=20&$count=true&$orderby=ID%20asc", "orderby ID desc=false; top 10; skip 20; count true"},
		{"largest", "$top=9223372036854775807&$skip=0", "top 9223372036854775807; skip 0"},
		{"leading zeros", "$top=007", "top 7"},
		{"count in another case", "$count=FALSE", "count false"},
		{"encoded dollar", "%24top=1", "top 1"},
		{"custom options", "a=b&c&d=e=f", ""},

		// OData-URL 5.1.5
		{"orderby", "$orderby=Name desc,Price add 1,Items/$count asc", "orderby Name desc=true; orderby (Price add 1) desc=false; orderby Items/$count desc=false"},
		{"orderby with blanks", "$orderby=Name%20desc,%20Price", "orderby Name desc=true; orderby Price desc=false"},
		{"orderby a property called asc", "$orderby=asc asc", "orderby asc desc=false"},

		// OData-URL 5.1.4
		{"select", "$select=ID,Address/Street,*", "select ID; select Address/Street; select *"},
		{"select with blanks", "$select=ID,%20Name", "select ID; select Name"},
		{"select a cast", "$select=Model.T/Name,Address/Model.A", "select Model.T/Name; select Address/Model.A"},
		{"select operations", "$select=Model.*,Model.Act,Model.F(a,b)", "select Model*; select Model.Act; select Model.F[a b]"},
		{"select with options", "$select=Addresses($filter=City eq 'X';$top=5;$orderby=City;$select=City,Street)", "select Addresses{filter (City eq 'X'); orderby City desc=false; top 5; select City; select Street}"},
		{"select an annotation", "$select=@Core.Messages($top=5),@Measures.Currency", "select @Core.Messages{top 5}; select @Measures.Currency"},

		// OData-URL 5.1.3
		{"expand", "$expand=Category,Address/Country", "expand Category; expand Address/Country"},
		{"expand with options", "$expand=Items($expand=Product($select=ID;$levels=3);$filter=a eq ';)';$count=true;$top=1;$skip=2;$search=x)", `expand Items{filter (a eq ';)'); top 1; skip 2; count true; expand Product{select ID; levels 3}; search "x"}`},
		{"expand with blanks", "$expand=Items( $top=1 ; $skip=2 ), Category", "expand Items{top 1; skip 2}; expand Category"},
		{"expand with encoded punctuation", "$expand=Items%28$top=1%3B$skip=2%29%2CCategory", "expand Items{top 1; skip 2}; expand Category"},
		{"expand a cast", "$expand=Model.T/Items,Items/Model.U", "expand Model.T/Items; expand Items/Model.U"},
		{"expand references", "$expand=Items/$ref,Items/$ref($top=1)", "expand Items/$ref; expand Items/$ref{top 1}"},
		{"expand counts", "$expand=Items/$count,Items/$count($filter=a)", "expand Items/$count; expand Items/$count{filter a}"},
		{"expand star", "$expand=*,*/$ref,Address/*($levels=2)", "expand *; expand */$ref; expand Address*{levels 2}"},
		{"expand to the end", "$expand=Boss($levels=max)", "expand Boss{levels -1}"},
		{"expand the stream", "$expand=$value,Photo", "expand $value; expand Photo"},
		{"expand an annotation", "$expand=@Ns.Term/Items($top=2)", "expand @Ns.Term/Items{top 2}"},
		{"expand with an alias", "$expand=Items(@p=$this;$filter=@p/a gt 3)", "expand Items{filter (@p/a gt 3); @p=$this}"},
		{"expand with compute", "$expand=Items($compute=a mul 2 as b;$select=b)", "expand Items{select b; compute (a mul 2) as b}"},

		{"compute", "$compute=a mul b as c,tolower(d) as e", "compute (a mul b) as c; compute tolower(d) as e"},
		{"alias", "$filter=a eq @p&@p='x%20y'", "filter (a eq @p); @p='x y'"},
		{"encoded alias", "%40p=1", "@p=1"},
		{"alias of an object", `@p={"a":[1,"x"]}`, `@p={"a":[1,'x']}`},
		{"index", "$index=-1", "index -1"},
		{"format", "$format=json", "text json"},
		{"format as a media type", "$format=application/json;odata.metadata=full;IEEE754Compatible=true", "text application/json;odata.metadata=full;IEEE754Compatible=true"},
		{"format with a plus", "$format=application/atom+xml", "text application/atom+xml"},
		{"skiptoken", "$skiptoken=Start@Next_Chunk:From?=Here!", "text Start@Next_Chunk:From?=Here!"},
		{"schema version", "$schemaversion=1.0-a_~", "text 1.0-a_~"},
		{"latest schema version", "$schemaversion=*", "text *"},
		{"id", "$id=http://host/A('a+b')", "text http://host/A('a+b')"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := parseQuery(tt.in, v40)
			if err != nil {
				t.Fatal(err)
			}
			if got := showQuery(q); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestQueriesRejected(t *testing.T) {
	const malformed, unknown, twice, later = "malformed", "unknown_option", "duplicate_option", "not_implemented"
	tests := []struct {
		name, in string
		pos      int
		code     string
		msg      string
	}{
		{"unknown option", "a=b&$foo=1", 4, unknown, "unknown option $foo; custom options start neither"},
		{"option of OData 2", "$inlinecount=allpages", 0, unknown, "write $count=true"},
		{"option in another case", "$Top=1", 0, unknown, "write $top"},
		{"top twice", "$top=1&$top=1", 7, twice, "$top is given twice"},
		{"alias twice", "@p=1&@p=2", 5, twice, "@p is given twice"},
		{"levels at the top", "$levels=1", 0, unknown, "cannot stand here"},
		{"apply", "$apply=nest(groupby((a)) as b)", 7, later, "the transformation nest"},
		{"groupby without parentheses", "$apply=groupby(a)", 15, malformed, "around the properties of groupby"},
		{"rollup of a name", "$apply=groupby((rollup(a)))", 16, later, "a named hierarchy"},
		{"a method of one's own", "$apply=aggregate(a with My.sum as b)", 24, later, "the aggregation method My.sum"},
		{"top of no number", "$apply=top(a)", 11, malformed, "whole number"},
		{"concat of one", "$apply=concat(identity)", 22, malformed, "two sequences"},
		{"these alone", "$filter=$these gt 1", 14, malformed, "expected /aggregate(…) or /$count"},
		{"deltatoken", "$deltatoken=x", 0, later, "$deltatoken"},
		{"no name", "=1", 0, malformed, "needs a name"},
		{"at sign alone", "@=1", 0, malformed, "alias is @ and a name"},
		{"alias that is no name", "@1=1", 0, malformed, "a parameter alias is @ and a name"},
		{"alias with a dot", "@a.b=1", 0, malformed, "a parameter alias is @ and a name"},
		{"no equals sign", "$count", 6, malformed, "$count needs a value"},

		{"negative top", "$top=-1", 5, malformed, "0 or more, without a sign"},
		{"top with a plus", "$top=+5", 5, malformed, "without a sign"},
		{"top with an encoded plus", "$top=%2B5", 5, malformed, "without a sign"},
		{"top with a blank", "$top=5%20", 6, malformed, "unexpected text in the value of $top"},
		{"top with a point", "$top=5.0", 6, malformed, "unexpected text"},
		{"top with a semicolon", "$top=5;", 6, malformed, "unexpected text"},
		{"top over int64", "$top=9223372036854775808", 5, malformed, "at most 9223372036854775807"},
		{"top in full-width digits", "$top=５", 5, malformed, "whole number"},
		{"empty skip", "$skip=", 6, malformed, "whole number"},
		{"skip over int64", "$skip=99999999999999999999", 6, malformed, "at most"},
		{"count as a number", "$count=1", 7, malformed, "true or false"},
		{"count with more", "$count=true,", 11, malformed, "unexpected text"},
		{"index as text", "$index=fortytwo", 7, malformed, "whole number"},
		{"index with a sign alone", "$index=-", 7, malformed, "whole number"},

		{"empty filter", "$filter=", 8, malformed, "expected an expression"},
		{"filter with more", "$filter=a;b", 9, malformed, "unexpected text"},
		{"empty orderby", "$orderby=", 9, malformed, "expected an expression"},
		{"orderby with a comma at the end", "$orderby=a,", 11, malformed, "expected an expression"},
		{"orderby in a direction of its own", "$orderby=a up", 11, malformed, "unknown operator"},
		{"orderby in capitals", "$orderby=a DESC", 11, malformed, "unknown operator"},
		{"compute without a name", "$compute=a mul 2", 16, malformed, "as"},
		{"compute without as", "$compute=a b", 11, malformed, "as"},
		{"compute as a path", "$compute=a as b/c", 15, malformed, "unexpected text"},

		{"empty select", "$select=", 8, malformed, "expected a name"},
		{"select a number", "$select=1", 8, malformed, "expected a name"},
		{"select with a slash at the end", "$select=a/", 10, malformed, "expected a name"},
		{"select a star in a path", "$select=a/*", 10, malformed, "expected a name"},
		{"select with expand inside", "$select=a($expand=b)", 10, unknown, "$expand cannot stand here"},
		{"select with empty parentheses", "$select=a()", 10, malformed, "expected a query option"},
		{"select with open names", "$select=M.F(a", 13, malformed, "close the parameter names"},

		{"empty expand", "$expand=", 8, malformed, "expected a name"},
		{"expand $count alone", "$expand=$count", 8, malformed, "$count cannot be expanded"},
		{"select behind $ref", "$expand=a/$ref($select=b)", 15, unknown, "$select cannot stand here"},
		{"count behind $count", "$expand=a/$count($count=true)", 17, unknown, "$count cannot stand here"},
		{"path behind $ref", "$expand=a/$ref/b", 14, malformed, "unexpected text"},
		{"filter behind a star", "$expand=*($filter=a)", 10, unknown, "$filter cannot stand here"},
		{"count behind a star", "$expand=*/$count", 9, malformed, "unexpected text"},
		{"custom option inside", "$expand=a(b=1)", 10, unknown, "unknown option b"},
		{"option inside without $", "$expand=a(top=1)", 10, unknown, "write $top"},
		{"format inside", "$expand=a($format=json)", 10, unknown, "cannot stand here"},
		{"apply inside", "$expand=a($apply=x)", 10, later, "$apply"},
		{"option twice inside", "$expand=a($top=1;$top=1)", 17, twice, "$top is given twice"},
		{"open options", "$expand=a($top=1", 16, malformed, "to close the options"},
		{"semicolon at the end inside", "$expand=a($top=1;)", 17, malformed, "expected a query option"},
		{"comma inside", "$expand=a($top=1,$skip=1)", 16, malformed, "unexpected text"},
		{"levels zero", "$expand=a($levels=0)", 18, malformed, "from 1, or max"},
		{"levels as text", "$expand=a($levels=x)", 18, malformed, "from 1, or max"},
		{"empty levels", "$expand=a($levels=)", 18, malformed, "from 1, or max"},

		{"format as a word", "$format=text", 8, malformed, "$format must be json"},
		{"format without a subtype", "$format=text/", 8, malformed, "$format must be json"},
		{"empty skiptoken", "$skiptoken=", 11, malformed, "needs a value"},
		{"empty schema version", "$schemaversion=", 15, malformed, "$schemaversion must be"},
		{"schema version with a slash", "$schemaversion=1/0", 15, malformed, "$schemaversion must be"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseQuery(tt.in, v40)
			wantError(t, err, tt.pos, tt.code, tt.msg)
			var e *syntax.Error
			if errors.As(err, &e) && e.NotImplemented() != (tt.code == later) {
				t.Error("NotImplemented is wrong")
			}
			if !strings.HasPrefix(tt.in[e.Pos:], strings.TrimSuffix(e.Near, "…")) {
				t.Errorf("%q is not what stands at %d", e.Near, e.Pos)
			}
		})
	}
}

// OData-URL 4.2, 4.3.4: which options go with the resources of a service itself.
func TestOptionsOfPath(t *testing.T) {
	tests := []struct {
		in string
		ok bool
	}{
		{"$metadata?$format=xml&a=b", true},
		{"$metadata?$schemaversion=*", true},
		{"$metadata?$top=1", false},
		{"$batch?$format=json", true},
		{"$batch?$filter=a", false},
		{"$entity?$id=A(1)&$format=json", true},
		{"$entity?$id=A(1)&$select=a", false},
		{"$entity/M.T?$id=A(1)&$select=a&$expand=b", true},
		{"$entity/M.T?$id=A(1)&$top=1", false},
		{"?$format=json", true},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			_, err := syntax.Parse(tt.in, v40)
			if (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The pairs are kept as they were sent, in order, for the next link.
func TestRawOptions(t *testing.T) {
	const in = "A?b=%C3%A4+c&$filter=a%20eq%20%27;%27&$skip=1&&@p=1&%24top=2&b=d&$expand=x($top=1;%24skip=2)"
	r, err := syntax.Parse(in, v40)
	if err != nil {
		t.Fatal(err)
	}
	want := []syntax.Option{
		{Name: "b", Value: "ä c", Raw: "b=%C3%A4+c", Pos: 2, ValuePos: 4},
		{Name: "$filter", Value: "a eq ';'", Raw: "$filter=a%20eq%20%27;%27", Pos: 13, ValuePos: 21},
		{Name: "$skip", Value: "1", Raw: "$skip=1", Pos: 38, ValuePos: 44},
		{Name: "@p", Value: "1", Raw: "@p=1", Pos: 47, ValuePos: 50},
		{Name: "$top", Value: "2", Raw: "%24top=2", Pos: 52, ValuePos: 59},
		{Name: "b", Value: "d", Raw: "b=d", Pos: 61, ValuePos: 63},
		{Name: "$expand", Value: "x($top=1;$skip=2)", Raw: "$expand=x($top=1;%24skip=2)", Pos: 65, ValuePos: 73},
	}
	if diff := cmp.Diff(want, r.Options); diff != "" {
		t.Error(diff)
	}
	wantNested := []syntax.Option{
		{Name: "$top", Value: "1", Raw: "$top=1", Pos: 75, ValuePos: 80},
		{Name: "$skip", Value: "2", Raw: "%24skip=2", Pos: 82, ValuePos: 90},
	}
	if diff := cmp.Diff(wantNested, r.Expand[0].Options.Options); diff != "" {
		t.Error(diff)
	}
	if r.RawQuery != in[2:] {
		t.Errorf("got raw query %q", r.RawQuery)
	}
}

// Without "$" and in another case an option is a system query option in 4.01 only
// (OData-URL 5.1).
func TestOptionNamesByVersion(t *testing.T) {
	tests := []struct{ in, in40, in401 string }{
		{"top=5", "", "top 5"},
		{"$Top=5", "error", "top 5"},
		{"OrderBy=a%20DESC", "", "orderby a desc=true"},
		{"skiptoken=x", "", ""},
		{"$SkipToken=x", "error", "text x"},
		{"levels=2", "", ""},
		{"top=5&$top=5", "top 5", "error"},
		{"apply=x", "", "error"},
		{"expand=a(select=b;Top=1;levels=2)", "", "expand a{top 1; select b; levels 2}"},
		{"$expand=a(select=b)", "error", "expand a{select b}"},
		{"format=JSON", "", "text JSON"},
		{"select=M.F(a)", "", "select M.F[a]"},
	}
	for _, tt := range tests {
		for _, v := range []struct {
			o    syntax.Options
			want string
		}{{v40, tt.in40}, {v401, tt.in401}} {
			got := "error"
			if q, err := parseQuery(tt.in, v.o); err == nil {
				got = showQuery(q)
			}
			if got != v.want {
				t.Errorf("%s, 4.01 is %t: got %q, want %q", tt.in, v.o.V401, got, v.want)
			}
		}
	}
}

// parseQuery parses the options of a set. Places count from the first option.
func parseQuery(query string, o syntax.Options) (*syntax.Query, error) {
	r, err := syntax.Parse("A?"+query, o)
	var fault *syntax.Error
	if errors.As(err, &fault) {
		fault.Pos -= len("A?")
	}
	if err != nil {
		return nil, err
	}
	return &r.Query, nil
}
