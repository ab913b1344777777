package syntax_test

import "testing"

func TestSearch(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"word", "blue", `"blue"`},
		{"number", "3.14", `"3.14"`},
		{"punctuation", "08/15!*,:@?$=-_~", `"08/15!*,:@?$=-_~"`},
		{"escaped", "more%26%231%3B", `"more&#1;"`},
		{"apostrophe", "O'Neil", `"O'Neil"`},
		{"beyond ASCII", "%CE%94", `"Δ"`},
		{"phrase", `"blue green"`, `"blue green"`},
		{"blanks around", "%20blue%20", `"blue"`},
		{"implicit AND", "blue green", `"blue" AND "green"`},
		{"AND", "a AND b AND c", `"a" AND "b" AND "c"`},
		{"AND before OR", "a AND b OR c d", `("a" AND "b") OR ("c" AND "d")`},
		{"NOT before AND", "NOT a b", `NOT "a" AND "b"`},
		{"group", "a (b OR c)", `"a" AND ("b" OR "c")`},
		{"group with blanks", "( a )", `"a"`},
		{"NOT a group", "NOT (a OR b)", `NOT ("a" OR "b")`},
		{"NOT NOT", "NOT NOT", `NOT "NOT"`},
		{"keywords alone are words", "OR AND", `"OR" AND "AND"`},
		{"a keyword at the end is a word", "blue AND", `"blue" AND "AND"`},
		{"a keyword in a phrase", `"NOT" a`, `"NOT" AND "a"`},
		{"keywords are case-sensitive", "a or b", `"a" AND "or" AND "b"`},
		{"word that starts like a keyword", "NOTE ORDER ANDROID", `"NOTE" AND "ORDER" AND "ANDROID"`},
		{"incomplete", `'"bl'`, `"bl"`},
		{"incomplete with a phrase", `'"blue sky" "green'`, `"blue sky" AND "green"`},
		{"incomplete group", "'(a OR'", `"a" AND "OR"`},
		{"incomplete with a quote", "'O''Ne'", `"O'Ne"`},
		{"incomplete and empty", "''", "''"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := parseQuery("$search="+tt.in, v40)
			if err != nil {
				t.Fatal(err)
			}
			if got := search(q.Search, ""); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	q, err := parseQuery("$expand=A($search=a%3Bb (c);$top=1%3B$skip=1)", v40)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := showQuery(q), `expand A{top 1; skip 1; search "a;b" AND "c"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSearchRejected(t *testing.T) {
	tests := []struct {
		name, in string
		pos      int
		msg      string
	}{
		{"empty", "$search=", 8, "expected a word"},
		{"open phrase", `$search="blue`, 8, "closing double quote"},
		{"empty phrase", `$search=""`, 8, "a phrase needs text"},
		{"open group", "$search=(a", 10, "to close the group"},
		{"empty group", "$search=()", 9, "unbalanced parenthesis"},
		{"closing parenthesis", "$search=a)", 9, "unbalanced parenthesis"},
		{"parenthesis in a word", "$search=gr(een", 10, "unbalanced parenthesis"},
		{"parenthesis in a nested word", "$expand=A($search=gr(een)", 20, "unbalanced parenthesis"},
		{"semicolon", "$search=a;b", 9, "sent as %3B"},
		{"double quote in a word", `$search=a"b"`, 9, "closing double quote"},
		{"text behind the quote", "$search='a'b", 11, "unexpected text"},
		{"open quote", "$search='a", 8, "no closing quote"},
		{"quote behind an operator", "$search=NOT 'a'", 12, "cannot start with a quote"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseQuery(tt.in, v40)
			wantError(t, err, tt.pos, "malformed", tt.msg)
		})
	}
}
