package odatatest

import "slices"

// access are guards and what does not exist for a client, on every way in.
func access() []check {
	return []check{
		{name: "users are not exposed", target: "users", status: 404},
		{name: "own tables are not exposed", target: "vestibule_sessions", status: 404},
		{name: "hidden property", target: "Things(1)/secret", status: 404},
		{name: "hidden in a filter", target: "Things?$filter=secret eq 's1'", status: 400},
		{name: "hidden in an order", target: "Things?$orderby=secret", status: 400},
		{name: "hidden in a lambda", target: "Things?$filter=children/any(c:c/secret eq 's2')", status: 400},
		{name: "hidden in a nested filter", target: "Things?$expand=children($filter=owner eq 1)", status: 400},
		{name: "hidden in a nested order", target: "Things?$expand=children($orderby=owner)", status: 400},
		{name: "hidden behind a link", target: "Lines?$filter=thing/owner eq 1", status: 400},
		{name: "hidden in $compute", target: "Things?$compute=secret as s", status: 400},
		{name: "hidden as a key", target: "Things(secret='s1')", status: 400},
		{name: "hidden is not searched", target: "Things?$search=s1", ids: "-"},
		{name: "set, nobody", target: "Mine", status: 401},
		{name: "key, nobody", target: "Mine(1)", status: 401},
		{name: "count, nobody", target: "Mine/$count", status: 401},
		{name: "navigation, nobody", target: "Things(1)/mine", status: 401},
		{name: "expand, nobody", target: "Things?$expand=mine", status: 401},
		{name: "filter through it, nobody", target: "Things?$filter=mine/any()", status: 401},
		{name: "count in an order, nobody", target: "Things?$orderby=mine/$count", status: 401},
		{name: "settled, nobody", target: "Settled", status: 401},
		{name: "settled, loop open", target: "Settled", as: "new", status: 403},
		{name: "settled, loop ended", target: "Settled?$select=name", as: "ada", body: `{"@odata.context":"~$metadata#Settled(name)","value":[{"@odata.id":"~Settled(00000000-0000-0000-0000-0000000000ff)","name":"low"},{"@odata.id":"~Settled(aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee)","name":"high"}]}`},
	}
}

// policies are row policies: what another owns is not there, whatever the way.
// Ada owns 1, 2 and 5; Bob 3, 4 and 7. Old is what was born before 2000: 2, 5.
func policies() []check {
	none := []string{"Accept", "application/json;odata.metadata=none"}
	return []check{
		{name: "set", target: "Mine", as: "ada", ids: "1 2 5"},
		{name: "set of another", target: "Mine", as: "bob", ids: "3 4 7"},
		{name: "no value for the caller", target: "Mine", as: "new", ids: "-"},
		{name: "key", target: "Mine(1)/name/$value", as: "ada", body: "Anvil"},
		{name: "another's key", target: "Mine(1)", as: "bob", status: 404},
		{name: "another's property", target: "Mine(1)/name", as: "bob", status: 404},
		{name: "count", target: "Mine/$count", as: "bob", body: "3"},
		{name: "count of a page", target: "Mine?$count=true&$top=1&$select=id", as: "bob", header: none, body: `{"@odata.count":3,"value":[{"id":3}]}`},
		{name: "navigation to many", target: "Things(1)/mine", as: "ada", ids: "2"},
		{name: "navigation to many of another", target: "Things(1)/mine", as: "bob", ids: "3"},
		{name: "another's by navigation and key", target: "Things(1)/mine(2)", as: "bob", status: 404},
		{name: "navigation from another's", target: "Mine(1)/below", as: "bob", status: 404},
		{name: "to one, hidden", target: "Mine(3)/above", as: "bob", status: 204},
		{name: "to one, visible", target: "Mine(2)/above/id/$value", as: "ada", body: "1"},
		{name: "expand to many", target: "Things(1)?$select=id&$expand=mine($select=id)", as: "ada", header: none, body: `{"id":1,"mine":[{"id":2}]}`},
		{name: "expand to one, hidden", target: "Mine(3)?$select=id&$expand=above($select=id)", as: "bob", header: none, body: `{"id":3,"above":null}`},
		{name: "expand count", target: "Things(1)?$select=id&$expand=mine/$count", as: "bob", header: none, body: `{"id":1,"mine@odata.count":1}`},
		{name: "lambda", target: "Things?$filter=mine/any(m:m/id eq 3)", as: "ada", ids: "-"},
		{name: "lambda of its owner", target: "Things?$filter=mine/any(m:m/id eq 3)", as: "bob", ids: "1"},
		{name: "filter through to one", target: "Mine?$filter=above/name eq 'Anvil'", as: "bob", ids: "-"},
		{name: "hidden target is null", target: "Mine?$filter=above eq null or above/id eq null", as: "bob", ids: "3 4 7"},
		{name: "order through to one", target: "Mine?$orderby=above/name desc,id", as: "ada", ids: "5 2 1"},
		{name: "policy over the data", target: "Old", ids: "2 5"},
		{name: "policy over the data, key", target: "Old(1)", status: 404},
		{name: "policy over the data, expand", target: "Lines?$select=qty&$expand=old($select=id)&$top=2", header: none, body: `{"value":[{"qty":5,"old":null},{"qty":0,"old":{"id":2}}]}`},
		{name: "policy over the data, $count in a filter", target: "Old?$filter=children/$count gt 0", ids: "5"},
	}
}

// refused are requests that are malformed, name what does not exist, or exceed a limit.
func refused() []check {
	bad := func(status int, targets ...string) []check {
		var list []check
		for _, target := range targets {
			list = append(list, check{name: target, target: target, status: status})
		}
		return list
	}
	return slices.Concat(bad(400,
		"Things?$foo=1", "Things?$top=1&$top=2", "Things?$top=-1", "Things?$skip=%2B5", "Things?$top=9223372036854775808",
		"Things?$filter=", "Things?$filter=name", "Things?$filter=name eq 1", "Things?$filter=nope eq 1", "Things?$filter=id eq 1 and",
		"Things?$filter=((((id eq 1)))", "Things?$filter=id div 0 eq 1", "Things?$filter=id mod 0 eq 1", "Things?$filter=nope(name)",
		"Things?$filter=contains(name)", "Things?$filter=name eq 'open", "Things?$filter=born eq 2023-02-29", "Things?$filter=ok eq 1",
		"Things?$orderby=nope", "Things?$orderby=home", "Things?$orderby=name up", "Things?$count=1", "Things?$format=", "Things?$filter=%zz",
		"Things?$filter=name eq '%ff'", "Things(nope=1)", "Lines(1)", "Lines(order_no=1)", "Things(1)?$top=1", "Things(1)?$filter=id eq 1",
		"Things?$expand=lines($foo=1)", "Things?$expand=parent($top=1)", "Things?$levels=1", "Things?$skiptoken=x", "Things?$search=",
		"Things?$filter=lines/any(l:x/qty eq 1)", "Things?$filter=Status eq Test.Status'Nope'",
	), bad(400, "Things(1)/lines(1)/nope", "Things(1)/$value/x", "Things?$filter=born gt now()"),
		bad(404, "Things('1')", "Devices(1)", "Things(1.5)", "Nope", "Things(1)/nope", "Things/nope(1)", "Things(1)/name/nope"),
		bad(501, "Things?$apply=join(lines as l)", "Things?$expand=lines($apply=aggregate($count as n))", "$all", "Things?$index=1", "$crossjoin(Things,Lines)", "Things?$deltatoken=1"))
}
