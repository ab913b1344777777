package odatatest

import (
	"fmt"
	"strings"
)

// selects are projections (OData-URL 5.1.4).
func selects() []check {
	return []check{
		{name: "one", target: "Things(1)?$select=name", body: `{"@odata.context":"~$metadata#Things(name)/$entity","@odata.id":"~Things(1)","name":"Anvil"}`},
		{name: "all", target: "Things(1)?$select=*", body: `{"@odata.context":"~$metadata#Things(*)/$entity",` + thing1 + `}`},
		{name: "part of a complex property", target: "Things(1)?$select=home/city", body: `{"@odata.context":"~$metadata#Things(home/city)/$entity","@odata.id":"~Things(1)","home":{"city":"Bern"}}`},
		{name: "nested", target: "Things(1)?$select=home($select=city)", body: `{"@odata.context":"~$metadata#Things(home/city)/$entity","@odata.id":"~Things(1)","home":{"city":"Bern"}}`},
		{name: "unknown", target: "Things(1)?$select=nope", status: 400},
		{name: "hidden", target: "Things(1)?$select=secret", status: 400},
	}
}

// expands are expanded navigation properties with all nested options
// (OData-URL 5.1.3).
func expands() []check {
	none := []string{"Accept", "application/json;odata.metadata=none"}
	get := func(name, target, body string) check {
		return check{name: name, target: target, header: none, body: body}
	}
	return []check{
		get("to one", "Lines(order_no=1,line_no=2)?$select=qty&$expand=thing($select=name)", `{"qty":0,"thing":{"name":"anvil"}}`),
		get("to nothing", "Lines(order_no=2,line_no=2)?$select=qty&$expand=thing($select=name)", `{"qty":7,"thing":null}`),
		get("to many", "Things(1)?$select=id&$expand=lines($select=qty)", `{"id":1,"lines":[{"qty":5},{"qty":-3}]}`),
		get("to many, none there", "Things(3)?$select=id&$expand=lines", `{"id":3,"lines":[]}`),
		get("over a table between", "Things(1)?$select=id&$expand=tags($select=label)", `{"id":1,"tags":[{"label":"upper"},{"label":"lower"},{"label":"quote"}]}`),
		get("filter", "Things(1)?$select=id&$expand=lines($select=qty;$filter=qty gt 0)", `{"id":1,"lines":[{"qty":5}]}`),
		get("order and top", "Things(1)?$select=id&$expand=lines($select=qty;$orderby=qty;$top=1)", `{"id":1,"lines":[{"qty":-3}]}`),
		get("skip", "Things(1)?$select=id&$expand=lines($select=qty;$skip=1)", `{"id":1,"lines":[{"qty":-3}]}`),
		get("count", "Things(1)?$select=id&$expand=lines($select=qty;$count=true;$top=1)", `{"id":1,"lines@odata.count":2,"lines":[{"qty":5}]}`),
		get("count only", "Things(1)?$select=id&$expand=lines/$count", `{"id":1,"lines@odata.count":2}`),
		get("references", "Things(1)?$select=id&$expand=children/$ref", `{"id":1,"children":[{"@odata.id":"~Things(2)"},{"@odata.id":"~Things(3)"}]}`),
		get("two levels", "Things(1)?$select=id&$expand=children($select=id;$expand=children($select=id))", `{"id":1,"children":[{"id":2,"children":[{"id":4}]},{"id":3,"children":[]}]}`),
		get("levels", "Things(1)?$select=id&$expand=children($select=id;$levels=2)", `{"id":1,"children":[{"id":2,"children":[{"id":4}]},{"id":3,"children":[]}]}`),
		get("levels without end", "Things(1)?$select=id&$expand=children($select=id;$levels=max)",
			`{"id":1,"children":[{"id":2,"children":[{"id":4,"children":[]}]},{"id":3,"children":[]}]}`),
		get("all", "Tags('it''s')?$select=code&$expand=*", `{"code":"it's","thing_tags":[{"thing_id":1,"tag_code":"it's"}]}`),
		get("compute", "Things(1)?$select=id&$expand=lines($compute=qty add 1 as more;$select=more)", `{"id":1,"lines":[{"more":6},{"more":-2}]}`),
		get("a loop", "Things(5)?$select=id&$expand=parent($select=id;$expand=parent($select=id))", `{"id":5,"parent":{"id":5,"parent":{"id":5}}}`),
		get("many rows", "Things?$select=id&$top=3&$expand=children($select=id),lines($select=qty)",
			`{"value":[{"id":1,"children":[{"id":2},{"id":3}],"lines":[{"qty":5},{"qty":-3}]},{"id":2,"children":[{"id":4}],"lines":[{"qty":0}]},{"id":3,"children":[],"lines":[]}]}`),
		{name: "too deep", target: "Things?$expand=parent($expand=parent($expand=parent($expand=parent($expand=parent))))", status: 400},
		{name: "unknown", target: "Things?$expand=nope", status: 400},
	}
}

// searches are words in the configured columns (OData-URL 5.1.8).
func searches() []check {
	find := func(search, ids string) check {
		return check{name: search, target: "Things?$search=" + search, ids: ids}
	}
	return []check{
		find("anvil", "1 2 3"),
		find("it's", "4"),
		find("anvil NOT trail", "1 2 3"),
		find("trail OR %22100%25%22", "9 12 13"),
		find("a_b", "9"),
		find("ANVIL OR %C3%84PFEL", "1 2 3 4 5"),
		find("NOT anvil NOT trail", "4 5 6 7 8 9 10 11"),
		find("a_b OR (it's AND pfel)", "4 9"),
		find("NOT (a OR b)", "4 7 10 11"),
		find("trail&$filter=id gt 12", "13"),
		find("trail&$count=true&$top=1", "12"),
		{name: "count", target: "Things/$count?$search=anvil", body: "3"},
		{name: "set without search", target: "Tags?$search=a", status: 501},
	}
}

// computes are computed properties (OData-URL 5.1.10).
func computes() []check {
	none := []string{"Accept", "application/json;odata.metadata=none"}
	return []check{
		{name: "selected", target: "Things(1)?$compute=price mul 2 as double&$select=double", header: []string{"Accept", "application/json;odata.metadata=none"}, body: `{"double":21}`},
		{
			name: "zero has no sign", target: "Things(3)?$compute=ceiling(price) as c,-(weight sub weight) as z&$select=c,z",
			header: []string{"Accept", "application/json;odata.metadata=none"}, body: `{"c":0,"z":0}`,
		},
		{name: "ordered by", target: "Things?$compute=length(name) as len&$orderby=len desc,id&$top=3", ids: "7 12 1"},
		{name: "filtered by", target: "Things?$compute=length(name) as len&$filter=len eq 6", ids: "7 12"},
		{name: "doubling 41 times", target: "Things(1)?" + doubling("id add id", "add", 41) + "&$select=a41", header: none, body: `{"a41":4398046511104}`},
		{name: "doubling 41 times, page", target: "Things?" + doubling("id add id", "add", 41) + "&$select=id,a41&$orderby=name desc&$skip=1&$top=2", header: none, body: `{"value":[{"id":8,"a41":35184372088832},{"id":5,"a41":21990232555520}]}`},
		{name: "doubling 41 times, in filter and order", target: "Things?" + doubling("id add id", "add", 41) + "&$filter=a41 gt 40000000000000 and id ne 12&$orderby=a41 desc,a40&$select=id,a41&$count=true", header: none, body: `{"@odata.count":3,"value":[{"id":13,"a41":57174604644352},{"id":11,"a41":48378511622144},{"id":10,"a41":43980465111040}]}`},
		{name: "doubling 41 times, counted", target: "Things/$count?" + doubling("id add id", "add", 41) + "&$filter=a41 gt 40000000000000", body: "4"},
		{name: "doubling 41 times, over a join", target: "Things?" + doubling("parent/id add parent/id", "add", 41) + "&$filter=a41 gt 5&$orderby=parent/name,a41,id&$select=a41", header: none, body: `{"value":[{"a41":4398046511104},{"a41":4398046511104},{"a41":8796093022208},{"a41":21990232555520}]}`},
		{name: "doubling 41 times, expanded", target: "Things(1)?$select=id&$expand=lines(" + semicolons(doubling("qty add qty", "add", 41)) + ";$select=a41)", header: none, body: `{"id":1,"lines":[{"a41":21990232555520},{"a41":-13194139533312}]}`},
		{name: "a shared text over a table between", target: "Things(1)?$select=id&$expand=tags($compute=concat(concat(label,tolower(label)),concat(label,concat(label,toupper(label)))) as x,concat(x,concat(x,concat(x,concat(x,x)))) as y,length(concat(y,y)) as z;$select=z;$filter=z gt 10)", header: none, body: `{"id":1,"tags":[{"z":250},{"z":250},{"z":250}]}`},
		{name: "text that doubles 22 times", target: "Things?" + doubling("concat(name,name)", "concat", 22), status: 400},
		{name: "text that doubles 41 times", target: "Things?" + doubling("concat(name,name)", "concat", 41), status: 400},
		{name: "select all in a value help", target: "Things?$filter=" + strings.Repeat("name eq 'x' or ", 248) + "name eq 'anvil'", ids: "2"},
		{name: "32 steps to one", target: "Things?$filter=" + strings.Repeat("parent/", 32) + "id eq 5", ids: "5"},
		{name: "33 steps to one", target: "Things?$filter=" + strings.Repeat("parent/", 33) + "id eq 5", status: 400},
		{name: "a path of 16 steps", target: "Things(5)" + strings.Repeat("/parent", 16) + "/id/$value", body: "5"},
		{name: "a path of 17 steps", target: "Things(5)" + strings.Repeat("/parent", 17) + "/id/$value", status: 400},
		{name: "operators 49 deep", target: "Things(1)?$compute=id" + strings.Repeat(" add 1", 49) + " as x&$select=x", header: none, body: `{"x":50}`},
		{name: "operators 330 deep", target: "Things(1)?$compute=id" + strings.Repeat(" add 1", 330) + " as x&$select=x", status: 400},
		{name: "casts in casts", target: "Things?$filter=" + strings.Repeat("cast(", 20) + "id" + strings.Repeat(",Edm.Int32),Edm.Int16)", 10) + " eq 1", status: 400},
		{name: "taken name", target: "Things?$compute=1 as name", status: 400},
	}
}

// doubling is a $compute of which each expression uses the one before twice.
func doubling(first, op string, n int) string {
	var b strings.Builder
	b.WriteString("$compute=" + first + " as a0")
	for i := range n {
		if op == "concat" {
			_, _ = fmt.Fprintf(&b, ",concat(a%[1]d,a%[1]d) as a%[2]d", i, i+1)
		} else {
			_, _ = fmt.Fprintf(&b, ",a%[1]d %[3]s a%[1]d as a%[2]d", i, i+1, op)
		}
	}
	return b.String()
}

// quadrupling is as many transformations of which each uses the value of the one before four times.
func quadrupling(n int) string {
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, "/compute(a%[1]d add a%[1]d sub a%[1]d add a%[1]d as a%[2]d)", i, i+1)
	}
	return b.String()
}

func semicolons(options string) string { return strings.ReplaceAll(options, "&", ";") }

// names are tables and columns whose names are no identifiers.
func names() []check {
	return []check{
		{name: "properties", target: "Odd_Names(1)", body: `{"@odata.context":"~$metadata#Odd_Names/$entity","key_no":1,"first_name":"Ada","_1st":7,"select":"from","ordér":2}`},
		{name: "filter", target: "Odd_Names?$filter=_1st eq 7 and select eq 'from'&$select=key_no", body: `{"@odata.context":"~$metadata#Odd_Names(key_no)","value":[{"key_no":1}]}`},
		{name: "order", target: "Odd_Names?$orderby=ord%C3%A9r&$select=key_no", body: `{"@odata.context":"~$metadata#Odd_Names(key_no)","value":[{"key_no":2},{"key_no":1}]}`},
		{name: "view", target: "Cheap?$orderby=price", ids: "3 2 11 10"},
	}
}
