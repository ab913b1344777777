package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

var (
	v40  = syntax.Options{Functions: function.Arity}
	v401 = syntax.Options{V401: true, Functions: function.Arity}
)

func TestExpressions(t *testing.T) {
	tests := []struct{ name, in, want string }{
		// OData-URL 5.1.1.17
		{"or is loosest", "a or b and c", "(a or (b and c))"},
		{"and before equality", "a eq 1 and b ne 2", "((a eq 1) and (b ne 2))"},
		{"equality after relational", "a gt 1 eq b lt 2", "((a gt 1) eq (b lt 2))"},
		{"additive before relational", "a add 1 ge b sub 2", "((a add 1) ge (b sub 2))"},
		{"multiplicative before additive", "a add b mul c", "(a add (b mul c))"},
		{"left to right", "a sub b sub c", "((a sub b) sub c)"},
		{"division left to right", "a div b mod c divby d", "(((a div b) mod c) divby d)"},
		{"parentheses", "(a add b) mul c", "((a add b) mul c)"},
		{"parentheses on the right", "a sub (b sub c)", "(a sub (b sub c))"},
		{"blanks in parentheses", "( a )", "a"},
		{"not before comparison", "not a eq b", "((not a) eq b)"},
		{"not before parentheses", "not(a eq b)", "(not (a eq b))"},
		{"not after in", "not a in (1,2)", "(not (a in (1,2)))"},
		{"not twice", "not not a", "(not (not a))"},
		{"minus", "-a mul -b", "((- a) mul (- b))"},
		{"minus a number in parentheses", "-(5)", "(- 5)"},
		{"minus after has", "-a has 'x'", "(- (a has 'x'))"},
		{"several blanks and tabs", "a  eq\t 1", "(a eq 1)"},
		{"a property named like an operator", "and eq or", "(and eq or)"},
		{"a property named like a function", "year eq length", "(year eq length)"},
		{"a property named like not", "nothing and notes", "(nothing and notes)"},

		// OData-URL 5.1.1.1.10, 5.1.1.1.11
		{"in with a list", "a in (1, 2 ,3)", "(a in (1,2,3))"},
		{"in with one item", "a in ('x')", "(a in ('x'))"},
		{"in with no item", "a in ()", "(a in ())"},
		{"in with a path", "a in b/c", "(a in b/c)"},
		{"in with a path in parentheses", "a in (b)", "(a in b)"},
		{"in with an array", `a in ["x",'y']`, "(a in ['x','y'])"},
		{"in with negative numbers", "a in (-1,-2.5)", "(a in (-1,-2.5))"},
		{"in before and", "a in (1) and b", "((a in (1)) and b)"},
		{"has", "a has Sales.Color'Red,Blue'", "(a has Sales.Color'Red,Blue')"},
		{"has with text", "a has 'Red'", "(a has 'Red')"},
		{"has with an alias", "a has @c", "(a has @c)"},

		// OData-URL 5.1.1.5 to 5.1.1.11
		{"no arguments", "now( )", "now()"},
		{"one argument", "tolower( Name )", "tolower(Name)"},
		{"two arguments", "contains(Name,'a,b')", "contains(Name,'a,b')"},
		{"three arguments", "substring(Name, 1 ,2)", "substring(Name,1,2)"},
		{"nested", "concat(concat(a,', '),b) eq 'x'", "(concat(concat(a,', '),b) eq 'x')"},
		{"mixed case", "matchesPattern(a,'^A')", "matchesPattern(a,'^A')"},
		{"geo", "geo.distance(a,b) lt 1", "(geo.distance(a,b) lt 1)"},
		{"cast of the instance", "cast(Edm.String)", "cast(Edm.String)"},
		{"cast", "cast(a add 1,Edm.Int64) eq 2", "(cast((a add 1),Edm.Int64) eq 2)"},
		{"cast of something called like a type", "cast(Edm,Edm.String)", "cast(Edm,Edm.String)"},
		{"cast to a collection", "cast(a, Collection(Model.T) )", "cast(a,Collection(Model.T))"},
		{"isof", "isof(Model.Customer)", "isof(Model.Customer)"},
		{"isof of a path", "isof(a/b,Model.T) and c", "(isof(a/b,Model.T) and c)"},
		{"case", "case(a gt 0:1, a lt 0 : -1,true:0)", "case((a gt 0) : 1,(a lt 0) : -1,true : 0)"},

		// OData-URL 5.1.1.13
		{"any without argument", "a/any()", "a/any()"},
		{"any", "a/any(x:x/b eq 1)", "a/any(x:(x/b eq 1))"},
		{"all with blanks", "a/all( x : x )", "a/all(x:x)"},
		{"any in all", "a/all(x:x/b/any(y:y eq x/c))", "a/all(x:x/b/any(y:(y eq x/c)))"},
		{"any on a variable", "$it/a/any(x:x eq $this)", "$it/a/any(x:(x eq $this))"},
		{"any behind a cast", "a/Model.T/any(x:x/b)", "a/Model.T/any(x:x/b)"},

		// OData-URL 5.1.1.14, 5.1.1.15, 4.8, 4.11, 4.12
		{"path", "a/b/c", "a/b/c"},
		{"cast in a path", "a/Model.T/b", "a/Model.T/b"},
		{"key in a path", "Items(1)/a", "Items(1)/a"},
		{"compound key in a path", "Items(A=1,B='x')/a", "Items(A=1,B='x')/a"},
		{"bound function", "Model.F()/a", "Model.F()/a"},
		{"function with arguments", "Model.F(a=1 add 2,b=@p,c=[1],d=$it/x)", "Model.F(a=(1 add 2),b=@p,c=[1],d=$it/x)"},
		{"function with a key behind", "Model.F(a=1)(2)/b", "Model.F(a=1)(2)/b"},
		{"count", "Items/$count gt 2", "(Items/$count gt 2)"},
		{"count with options", "Items/$count($filter=a gt 1;$search=blue) gt 2", `(Items/$count($filter=(a gt 1);$search="blue") gt 2)`},
		{"filter segment", "Items/$filter(a gt 3)/$count lt 10", "(Items/$filter((a gt 3))/$count lt 10)"},
		{"key behind a filter segment", "Items/$filter(a gt 3)(2)/b eq 1", "(Items/$filter((a gt 3))(2)/b eq 1)"},
		{"named key behind filter segments", "$root/Items/$filter(@p)/$filter(a)(A=1,B='x')/b", "$root/Items/$filter(@p)/$filter(a)(A=1,B='x')/b"},
		{"root", "$root/Items(1)/a eq b", "($root/Items(1)/a eq b)"},
		{"alias", "a eq @p", "(a eq @p)"},
		{"path behind an alias", "@p/a gt 3", "(@p/a gt 3)"},
		{"annotation", "@Core.Messages/any(m:m/severity eq 'e')", "@Core.Messages/any(m:(m/severity eq 'e'))"},
		{"annotation behind a path", "Price/@Measures.Currency eq 'EUR'", "(Price/@Measures.Currency eq 'EUR')"},
		{"annotation with qualifier", "Price/@Currency#Reporting eq 'EUR'", "(Price/@Currency#Reporting eq 'EUR')"},
		{"names beyond ASCII", "Größe gt 1 and 名前 eq 'x'", "((Größe gt 1) and (名前 eq 'x'))"},

		// ABNF array, object
		{"array", `[ 1 , a ,[],{} ]`, "[1,a,[],{}]"},
		{"object", `{"a":"x","b":{"c":[true,null]}}`, `{"a":'x',"b":{"c":[true,null]}}`},
		{"escapes", `["\"\\\/\n\r\t\u00e9\uD83D\uDE00'"]`, "['\"\\/\n\r\té😀''']"},
		{"arrays in an array", `[a,b] in [["x","y"]]`, "([a,b] in [['x','y']])"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := syntax.ParseFilter(tt.in, v40)
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(e); got != tt.want {
				t.Fatalf("got  %s\nwant %s", got, tt.want)
			}
			again, err := syntax.ParseFilter(canonical(e), v40)
			if err != nil {
				t.Fatalf("its own print %q: %v", canonical(e), err)
			}
			if got := tree(again); got != tt.want {
				t.Errorf("its own print %q: got %s", canonical(e), got)
			}
		})
	}
}

// wantError checks an error of this package.
func wantError(t *testing.T, err error, pos int, code, msg string) {
	t.Helper()
	var e *syntax.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v (%T), want a *syntax.Error", err, err)
	}
	if e.Pos != pos || e.Code != code || !strings.Contains(e.Msg, msg) {
		t.Errorf("got  %d %s %q\nwant %d %s %q", e.Pos, e.Code, e.Msg, pos, code, msg)
	}
}

func TestExpressionsRejected(t *testing.T) {
	tests := []struct {
		name, in string
		pos      int
		msg      string
	}{
		{"empty", "", 0, "expected an expression"},
		{"blank before", " true", 0, "expected an expression"},
		{"blank behind", "true ", 4, "blanks at the end"},
		{"no right operand", "a eq ", 5, "expected an expression"},
		{"no right operand in parentheses", "(a eq )", 6, "expected an expression"},
		{"no left operand", "eq 1", 2, "unexpected text"},
		{"unknown operator", "a like 'x'", 2, `unknown operator "like"`},
		{"operator in capitals", "a EQ 1", 2, "lower case in OData 4.0: write eq"},
		{"no blank before the operator", "'a'eq 'b'", 3, "a blank is needed before eq"},
		{"no blank behind the operator", "a eq'b'", 2, "a blank is needed behind eq"},
		{"nothing behind the operator", "a eq", 2, "expected an operand behind eq"},
		{"operator of another language", "a == 1", 1, "unexpected text"},
		{"two operands", "a b", 2, "unknown operator"},
		{"open parenthesis", "(a eq 1", 7, "close the parenthesis"},
		{"closing parenthesis", "a eq 1)", 6, "unexpected text"},
		{"open quote", "a eq 'x", 5, "no closing quote"},
		{"quote inside", "a eq 'O'Neil'", 8, "unexpected text"},
		{"double quotes", `a eq "x"`, 5, "text is put in single quotes, and dates and numbers in none"},
		{"any without a path", "any()", 3, "needs a collection"},
		{"all without a variable", "a/all()", 6, "a range variable"},
		{"any without a colon", "a/any(x)", 7, "behind the range variable"},
		{"path behind any", "a/any()/b", 7, "nothing can follow any"},
		{"path behind $count", "a/$count/b", 8, "nothing can follow $count"},
		{"empty segment", "a//b", 2, "expected a name"},
		{"slash at the end", "a/", 2, "expected a name"},
		{"$value in a path", "a/$value", 2, "$value cannot be part of an expression"},
		{"unknown variable", "$that/a", 0, `unknown variable "$that"`},
		{"$root alone", "$root", 5, "needs a path"},
		{"too few arguments", "contains(a)", 0, "contains takes two arguments"},
		{"too many arguments", "tolower(a,b)", 0, "tolower takes one argument"},
		{"arguments for none", "now(1)", 0, "now takes no arguments"},
		{"one argument for substring", "substring(a)", 0, "two or three arguments"},
		{"empty argument", "concat(a,)", 9, "expected an expression"},
		{"open argument list", "concat(a,b", 10, "behind an argument of concat"},
		{"blank before the arguments", "tolower (a)", 7, "unexpected text"},
		{"cast without a type", "cast(1)", 6, "a type in cast"},
		{"isof with three arguments", "isof(a,b,c)", 8, "behind the type in isof"},
		{"case without a colon", "case(a,b)", 6, "between condition and value"},
		{"list with paths", "a in (1,b)", 8, "literals only"},
		{"list with paths first", "a in (b,1)", 6, "literals only"},
		{"list with a comma at the end", "a in (1,)", 8, "expected an expression"},
		{"has with a number", "a has 1", 6, "enumeration value"},
		{"has with a path", "a has b", 6, "enumeration value"},
		{"array with a comma at the end", "[1,]", 3, "expected an expression"},
		{"open array", "[1", 2, "in the array"},
		{"object with a bare name", "{a:1}", 1, "start a member name"},
		{"object without a colon", `{"a" 1}`, 5, "behind the member name"},
		{"unknown escape", `["\x"]`, 2, "not a valid escape"},
		{"half a surrogate", `["\ud83d"]`, 2, "not a valid escape"},
		{"NUL escaped", `["\u0000"]`, 2, "not a valid escape"},
		{"open string", `["a]`, 1, "no closing double quote"},
		{"two values without names", "a(1,2)", 5, "different names"},
		{"two values of one name", "a(b=1,b=2)", 9, "different names"},
		{"null as a key", "a(null)/b", 2, "a key cannot be null"},
		{"alias without a name", "@ eq 1", 1, "a name after @"},
		{"annotation without a qualifier", "@A.B# eq 1", 5, "a qualifier"},
		{"a name that starts with a digit", "1a eq 2", 1, "cannot follow 1"},
		{"a name that ends with a dot", "Model. eq 1", 5, "unexpected text"},
		{"a name that is too long", strings.Repeat("a", 129), 0, "at most 128"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := syntax.ParseFilter(tt.in, v40)
			wantError(t, err, tt.pos, "malformed", tt.msg)
		})
	}
}

func TestUnknownFunctions(t *testing.T) {
	tests := []struct{ in, msg string }{
		{"foo(a)", "foo is no canonical function, and others need names"},
		{"Contains(a,'x')", "Contains is no canonical function; write contains"},
		{"matchespattern(a,'x')", "write matchesPattern"},
		{"substringof('x',a)", "write contains(text,part)"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			_, err := syntax.ParseFilter(tt.in, v40)
			wantError(t, err, 0, "unknown_function", tt.msg)
		})
	}
}

// Version 4.01 takes operators and functions in any case, 4.0 does not (OData-URL
// 5.1). Names and $it are case-sensitive in both.
func TestCaseOfKeywords(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a Eq 1 OR NOT b", "((a eq 1) or (not b))"},
		{"CONTAINS(ToLower(a),'X')", "contains(tolower(a),'X')"},
		{"MATCHESPATTERN(a,'X')", "matchesPattern(a,'X')"},
		{"a/ANY(x:x IN (1))", "a/any(x:(x in (1)))"},
		{"Cast(a,Edm.String) eq 'x'", "(cast(a,Edm.String) eq 'x')"},
		{"CASE(TRUE:1)", "case(true : 1)"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			e, err := syntax.ParseFilter(tt.in, v401)
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(e); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if _, err := syntax.ParseFilter(tt.in, v40); err == nil {
				t.Error("accepted in 4.0")
			}
		})
	}
	if _, err := syntax.ParseFilter("$IT/a", v401); err == nil {
		t.Error("$IT was accepted")
	}
}

// Every node tells where it stands in the text as it was sent.
func TestPositions(t *testing.T) {
	const in = "X?$filter=a%20eq%20%27%C3%A4%27%20and%20not%20contains(b/c,tolower('y'))%20or%20d%20in%20(1,%202)"
	r, err := syntax.Parse(in, v40)
	if err != nil {
		t.Fatal(err)
	}
	or := r.Filter.(*syntax.Binary)
	and := or.X.(*syntax.Binary)
	eq := and.X.(*syntax.Binary)
	not := and.Y.(*syntax.Unary)
	call := not.X.(*syntax.Call)
	list := or.Y.(*syntax.Binary).Y.(*syntax.List)
	tests := []struct {
		pos  int
		want string
	}{
		{or.Pos(), "or%20d"},
		{and.Pos(), "and%20not"},
		{eq.Pos(), "eq%20"},
		{eq.X.Pos(), "a%20eq"},
		{eq.Y.Pos(), "%27%C3"},
		{not.Pos(), "not%20"},
		{call.Pos(), "contains("},
		{call.Args[0].Pos(), "b/c"},
		{call.Args[0].(*syntax.Path).Segments[1].Pos, "c,to"},
		{call.Args[1].Pos(), "tolower("},
		{list.Pos(), "(1,"},
		{list.Items[1].Pos(), "2)"},
	}
	for _, tt := range tests {
		if !strings.HasPrefix(in[tt.pos:], tt.want) {
			t.Errorf("position %d is %q, want %q", tt.pos, in[tt.pos:], tt.want)
		}
	}
}
