package odatatest

import (
	"slices"
	"strconv"
)

// conformity are sentences of the standard that are easily overlooked, and what
// clients send although the standard has it no more.
func conformity() []check { return slices.Concat(told(), addressed(), sent()) }

// told are control information and context URLs.
func told() []check {
	full := []string{"Accept", "application/json;odata.metadata=full"}
	none := []string{"Accept", "application/json;odata.metadata=none"}
	omit := []string{"Prefer", "omit-values=nulls"}
	return []check{
		// OData-JSON 4.5.8: an id where the answer does not tell the key.
		{name: "id without the key", target: "Tags?$select=label&$top=1", body: `{"@odata.context":"~$metadata#Tags(label)","value":[{"@odata.id":"~Tags('B')","label":"upper"}]}`},
		{name: "no id with the key", target: "Tags?$select=code&$top=1", body: `{"@odata.context":"~$metadata#Tags(code)","value":[{"code":"B"}]}`},
		{name: "no id of a singleton", target: "Company?$select=name", body: `{"@odata.context":"~$metadata#Company(name)","name":"Vestibule"}`},
		{name: "id without a part of the key", target: "Lines(order_no=1,line_no=1)?$select=order_no", body: `{"@odata.context":"~$metadata#Lines(order_no)/$entity","@odata.id":"~Lines(order_no=1,line_no=1)","order_no":1}`},
		{name: "id of what is expanded", target: "Things(2)?$select=id&$expand=parent($select=name)", body: `{"@odata.context":"~$metadata#Things(id,parent(name))/$entity","id":2,"parent":{"@odata.id":"~Things(1)","name":"Anvil"}}`},
		{name: "no id without metadata", target: "Tags('a')?$select=label", header: none, body: `{"label":"lower"}`},

		// OData-Protocol 10: context URLs.
		{name: "context of a part of a complex property", target: "Things(1)/home?$select=city", body: `{"@odata.context":"~$metadata#Things(1)/home(city)","city":"Bern"}`},
		{name: "context of all of a complex property", target: "Things(1)/home?$select=city,street", body: `{"@odata.context":"~$metadata#Things(1)/home","street":"Main St","city":"Bern"}`},
		{name: "context of all operations", target: "Tags('a')?$select=Test.*,label", body: `{"@odata.context":"~$metadata#Tags(label,Test.*)/$entity","@odata.id":"~Tags('a')","label":"lower"}`},
		{name: "context of nothing but operations", target: "Tags('a')?$select=Test.*", body: `{"@odata.context":"~$metadata#Tags(Test.*)/$entity","@odata.id":"~Tags('a')"}`},
		{
			name: "context of levels", target: "Things(4)?$select=id&$expand=parent($select=id;$levels=2)",
			body: `{"@odata.context":"~$metadata#Things(id,parent+(id))/$entity","id":4,"parent":{"id":2,"parent":{"id":1}}}`,
		},
		{
			name: "context of one level", target: "Things(4)?$select=id&$expand=parent($select=id;$levels=1)",
			body: `{"@odata.context":"~$metadata#Things(id,parent(id))/$entity","id":4,"parent":{"id":2}}`,
		},
		{
			name: "context of levels in 4.01", target: "Tags('a')?$select=label", header: []string{"OData-MaxVersion", "4.01"},
			body: `{"@odata.context":"~$metadata#Tags(label)/$entity","@odata.id":"~Tags('a')","label":"lower"}`,
		},

		// OData-Protocol 8.2.8.6
		{name: "nulls are left out", target: "Things(3)?$select=id,note,price,ok,home", header: omit, body: `{"@odata.context":"~$metadata#Things(id,note,price,ok,home)/$entity","id":3,"note":" ","price":-0.0001,"home":{}}`},
		{name: "nulls of what is expanded are left out", target: "Things(2)?$select=id&$expand=children($select=id,born)", header: omit, body: `{"@odata.context":"~$metadata#Things(id,children(id,born))/$entity","id":2,"children":[{"id":4,"born":"2024-03-01"}]}`},
		{name: "nothing is left", target: "Things?$filter=id eq 8&$select=note,price", header: append(none, omit...), body: `{"value":[{}]}`},
		{name: "a property that is all null", target: "Things(3)/home", header: omit, body: `{"@odata.context":"~$metadata#Things(3)/home"}`},
		{name: "null of a property is still 204", target: "Things(1)/note", header: omit, status: 204},

		// Full metadata names everything.
		{name: "full metadata of a collection", target: "Tags?$select=code&$top=1", header: full, body: `{"@odata.context":"~$metadata#Tags(code)","value":[{"@odata.type":"#Test.Tags","@odata.id":"~Tags('B')","@odata.readLink":"~Tags('B')","code":"B"}]}`},
	}
}

// addressed are paths, keys and malformed expressions.
func addressed() []check {
	return []check{
		// OData-URL 4.12, 5.1.1.14.1: paths and literals.
		{name: "key behind a filter", target: "Things/$filter(id gt 1)(2)/name", body: `{"@odata.context":"~$metadata#Things(2)/name","value":"anvil"}`},
		{name: "named key behind a filter", target: "Things/$filter(@f)(id=2)/id?@f=name eq 'anvil'", body: `{"@odata.context":"~$metadata#Things(2)/id","value":2}`},
		{name: "key that the filter leaves out", target: "Things/$filter(id gt 2)(2)", status: 404},
		{
			name: "key behind a filter in an expression", target: "Lines?$filter=thing/children/$filter(id gt 1)(2)/name eq 'anvil'&$select=order_no,line_no",
			body: `{"@odata.context":"~$metadata#Lines(order_no,line_no)","value":[{"order_no":1,"line_no":1},{"order_no":2,"line_no":1}]}`,
		},
		{
			name: "named key behind filters in an expression", target: "Things(1)?$select=id,n&$compute=children/$filter(id gt 1)/$filter(@f)(id=2)/name as n&@f=name ne 'x'",
			body: `{"@odata.context":"~$metadata#Things(id,n)/$entity","id":1,"n":"anvil"}`,
		},
		{name: "key behind a filter over a set", target: "Tags?$filter=$root/Things/$filter(id gt 1)(2)/name eq 'anvil' and code eq 'a'", body: `{"@odata.context":"~$metadata#Tags","value":[{"code":"a","label":"lower"}]}`},
		{name: "key in an expression that the filter leaves out", target: "Tags?$filter=$root/Things/$filter(id gt 2)(2)/name eq null and code eq 'a'", body: `{"@odata.context":"~$metadata#Tags","value":[{"code":"a","label":"lower"}]}`},
		{name: "key behind a type in an expression", target: "Tags?$filter=$root/Things/Test.Thing(2)/name eq 'anvil' and code eq 'a'", body: `{"@odata.context":"~$metadata#Tags","value":[{"code":"a","label":"lower"}]}`},
		{name: "two keys in an expression", target: "Tags?$filter=$root/Things(1)(2)/name eq 'anvil'", status: 400},
		{name: "an entity behind a filter as a value", target: "Things?$filter=children/$filter(id gt 1)(2) eq null", status: 501},
		{name: "no such key behind a filter", target: "Things?$filter=children/$filter(id gt 1)(nope=2)/name eq null", status: 400},
		{name: "key in a segment behind a filter", target: "Things/$filter(id gt 2)/2", status: 404},
		{name: "navigation behind a filter", target: "Things/$filter(id lt 2)(1)/lines/$count", body: "2"},
		{name: "navigation behind a filter in segments", target: "Things/$filter(id lt 2)/1/lines/$count", body: "2"},
		{name: "filter over a link, then a key", target: "Things/$filter(@f)(2)/id/$value?@f=parent/name eq 'Anvil'", body: "2"},
		{name: "$value of an entity", target: "Things(1)/$value", status: 400},
		{name: "$value of a collection", target: "Things/$value", status: 404},
		{name: "object as a condition", target: "Things?$filter={}", status: 400},
		{name: "object as an operand", target: `Things?$filter={"a":1} eq 1`, status: 400},
		{name: "in without a list", target: "Things?$filter=id in 1", status: 400},
		{name: "in a property", target: "Things?$filter=id in parent_id", status: 400},
		{name: "negative length", target: "Things?$filter=substring(name,1,-1) eq ''", status: 400},
		{name: "key of the wrong type", target: "Things('1')", status: 404},
		{name: "key out of range", target: "Things(99999999999999999999)", status: 404},
		{name: "key of the wrong type in an expression", target: "Things?$filter=$root/Things('1')/name eq 'x'", status: 400},
		{name: "binary key", target: "Marks(binary'AP8')", body: `{"@odata.context":"~$metadata#Marks/$entity","mark":"AP8","name":"two"}`},
		{name: "binary key with padding", target: "Marks(binary'AP8=')/name/$value", body: "two"},
		{name: "binary key in a link", target: "Marks?$select=name", body: `{"@odata.context":"~$metadata#Marks(name)","value":[{"@odata.id":"~Marks(binary'AP8')","name":"two"},{"@odata.id":"~Marks(binary'_-4B')","name":"three"}]}`},
		{name: "missing binary key", target: "Marks(binary'AA')", status: 404},
	}
}

// sent is what clients send: numbers with suffixes, a slash at the end.
func sent() []check {
	return []check{
		{name: "5L", target: "Things?$filter=id eq 5L", ids: "5"},
		{name: "key with a suffix", target: "Things(5l)/id/$value", body: "5"},
		{name: "100m", target: "Things?$filter=price eq 100m", ids: "9"},
		{name: "10.5M beside an integer", target: "Things?$filter=price ge 10.5M and id lt 3L", ids: "1"},
		{name: "1.5d", target: "Things?$filter=weight eq 1.5d", ids: "1"},
		{name: "1.5f", target: "Things?$filter=weight eq 1.5F", ids: "1"},
		{name: "suffixes in a list", target: "Things?$filter=id in (1L,2l,3m)", ids: "1 2 3"},
		{name: "no suffix in $top", target: "Things?$top=5L", status: 400},
		{name: "no suffix in $skip", target: "Things?$skip=5L", status: 400},
		{name: "slash behind a set", target: "Things/?$filter=id eq 1", ids: "1"},
		{name: "slash behind a key", target: "Things(1)/", body: `{"@odata.context":"~$metadata#Things/$entity",` + thing1 + `}`},
		{name: "slash behind $count", target: "Things/$count/", body: "13"},
		{name: "two slashes", target: "Things(1)//", status: 400},
		{name: "value help that selects all", target: "Things?$select=id&$filter=" + eitherOf(200), ids: "1 2 3 4 5 6 7 8 9 10 11 12 13"},
	}
}

// eitherOf is what OpenUI5's value help sends where everything was selected.
func eitherOf(n int) string {
	text := "id eq 1"
	for i := 2; i <= n; i++ {
		text += " or id eq " + strconv.Itoa(i)
	}
	return text
}
