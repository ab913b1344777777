package odatatest

// references are requests to $ref over foreign keys (OData-Protocol 11.4.6).
func references() []rule {
	to := func(id string) string { return `{"@odata.context":"~$metadata#$ref","@odata.id":"` + id + `"}` }
	return []rule{
		{"PUT and DELETE of one", []step{
			{request: "PUT Orders(2)/customer/$ref", body: to("Customers(2)"), status: 428},
			{request: "PUT Orders(2)/customer/$ref", body: to("Customers(2)"), header: []string{"If-Match", `W/"9"`}, status: 412},
			{request: "PUT Orders(2)/customer/$ref", body: to("Customers(2)"), header: []string{"If-Match", `W/"1"`}, status: 204, want: "-"},
			{request: "GET Orders(2)", has: []string{`"customer_id":2`, `"version":2`}},
			{request: "PUT Orders(2)/customer/$ref", body: `{"@id":"Customers(name='Acme')"}`, header: anyTag(), status: 204},
			{request: "GET Orders(2)", has: []string{`"customer_id":1`}},
			{request: "PUT Orders(2)/customer/$ref", body: to("Customers(3)"), header: anyTag(), status: 409, has: []string{`"target":"customer"`}},
			{request: "PUT Orders(2)/customer/$ref", body: to("Customers(99)"), header: anyTag(), status: 409},
			{request: "PUT Orders(3)/customer/$ref", body: to("Customers(2)"), header: anyTag(), status: 403},
			{request: "PUT Orders(99)/customer/$ref", body: to("Customers(2)"), header: anyTag(), status: 404},
			{request: "DELETE Orders(2)/customer/$ref", status: 428},
			{request: "DELETE Orders(2)/customer/$ref", header: anyTag(), status: 204, want: "-"},
			{request: "DELETE Orders(2)/customer/$ref", header: anyTag(), status: 404},
			{request: "GET Orders(2)", has: []string{`"customer_id":null`, `"version":4`}},
		}},
		{"one that has to be there", []step{
			{request: "DELETE Items(1)/product/$ref", header: anyTag(), status: 422, has: []string{`"target":"product"`}},
			{request: "DELETE Items(1)/product/$ref", status: 428},
			{request: "PUT Items(1)/product/$ref", body: to("Products('P2')"), header: anyTag(), status: 204},
			{request: "GET Items(1)?$select=product_id", has: []string{`"product_id":"P2"`}},
		}},
		{"of a column that is no key", []step{
			{request: "PUT Items(2)/money/$ref", body: to("Currencies(2)"), header: anyTag(), status: 204},
			{request: "GET Items(2)?$select=currency", has: []string{`"currency":"CHF"`}},
			{request: "PUT Items(2)/money/$ref", body: to("Currencies(9)"), header: anyTag(), status: 409},
			{request: "DELETE Items(2)/money/$ref", header: anyTag(), status: 204},
			{request: "GET Items(2)?$select=currency", has: []string{`"currency":null`}},
		}},
		{"POST and DELETE of many", []step{
			{request: "GET Items(3)"},
			{request: "POST Orders(1)/items/$ref", body: to("Items(3)"), status: 428},
			{request: "POST Orders(1)/items/$ref", body: to("Items(3)"), header: []string{"If-Match", "$tag"}, status: 204, want: "-"},
			{request: "POST Orders(1)/items/$ref", body: to("Items(3)"), header: []string{"If-Match", `W/"nope"`}, status: 412},
			{request: "POST Orders(1)/items/$ref", body: to("Items(3)"), header: anyTag(), status: 204},
			{request: "POST Orders(1)/items/$ref", body: to("Items(99)"), header: anyTag(), status: 409},
			{request: "POST Orders(1)/items/$ref", body: to("Items(4)"), header: anyTag(), status: 403},
			{request: "POST Orders(99)/items/$ref", body: to("Items(3)"), header: anyTag(), status: 404},
			{request: "GET Orders(1)/items/$count", want: "3"},
			{request: "DELETE Orders(1)/items(3)/$ref", status: 428},
			{request: "DELETE Orders(1)/items(3)/$ref", header: anyTag(), status: 204},
			{request: "DELETE Orders(1)/items(3)/$ref", header: anyTag(), status: 404},
			{request: "DELETE Orders(1)/items/$ref?$id=Items(1)", header: anyTag(), status: 204},
			{request: "DELETE Orders(1)/items/$ref?$id=~Items(1)", header: anyTag(), status: 404},
			{request: "DELETE Orders(1)/items/$ref?$id=Orders(1)", header: anyTag(), status: 400},
			{request: "DELETE Orders(1)/items/$ref", header: anyTag(), status: 400},
			{request: "DELETE Orders(99)/items/$ref", header: anyTag(), status: 404},
			{request: "GET Orders(1)/items?$select=id", has: []string{`[{"id":2}]`}},
			{request: "POST Currencies(2)/items/$ref", body: to("Items(2)"), header: anyTag(), status: 204},
			{request: "GET Items(2)?$select=currency", has: []string{`"currency":"CHF"`}},
			{request: "DELETE Products('P3')/items(2)/$ref", header: anyTag(), status: 422, has: []string{`"target":"items"`}},
		}},
	}
}

// deadReferences name rows that are not there, or not for the person, in each form of an address. What forbids the change comes
// before the dead link, in the order of faults.
func deadReferences() []rule {
	var rules []rule
	for _, id := range []string{"Customers(99)", "Customers(3)", "Customers(name='Nobody')", "Customers(name='Bob''s')", "Orders(2)/customer", "Orders(3)/customer", "Orders(99)/customer"} {
		steps := []step{
			{request: "PATCH Items(3)", body: `{"order_id":2}`, header: anyTag(), status: 200},
			{request: "PATCH Items(2)", body: `{"order_id":3}`, header: anyTag(), status: 200},
		}
		for _, request := range [][3]string{
			{"PUT Orders(2)/customer/$ref", `{"@odata.id":"` + id + `"}`, "PUT Orders(3)/customer/$ref"},
			{"PATCH Orders(2)", `{"customer@odata.bind":"` + id + `"}`, "PATCH Orders(3)"},
			{"PUT Items(3)/order/customer/$ref", `{"@odata.id":"` + id + `"}`, "PUT Items(2)/order/customer/$ref"},
			{"PATCH Items(3)/order", `{"customer@odata.bind":"` + id + `"}`, "PATCH Items(2)/order"},
		} {
			steps = append(
				steps,
				step{request: request[0], body: request[1], status: 428},
				step{request: request[0], body: request[1], header: []string{"If-Match", `W/"9"`}, status: 412},
				step{request: request[0], body: request[1], header: anyTag(), status: 409, has: []string{`"code":"dead_link"`, `"target":"customer`}},
				step{request: request[2], body: request[1], status: 428},
				step{request: request[2], body: request[1], header: anyTag(), status: 403},
			)
		}
		rules = append(rules, rule{"dead, " + id, append(steps, step{request: "GET Orders(2)", has: []string{`"customer_id":null`, `"version":1`}})})
	}
	const symbol = "Currencies(symbol='XXX')"
	return append(rules, rule{"dead, of rows with digests", []step{
		{request: "PUT Items(2)/money/$ref", body: `{"@odata.id":"` + symbol + `"}`, status: 428},
		{request: "PUT Items(2)/money/$ref", body: `{"@odata.id":"` + symbol + `"}`, header: []string{"If-Match", `W/"nope"`}, status: 412},
		{request: "PUT Items(2)/money/$ref", body: `{"@odata.id":"` + symbol + `"}`, header: anyTag(), status: 409},
		{request: "PUT Items(4)/money/$ref", body: `{"@odata.id":"` + symbol + `"}`, header: []string{"If-Match", `W/"nope"`}, status: 412},
		{request: "PUT Items(4)/money/$ref", body: `{"@odata.id":"` + symbol + `"}`, header: anyTag(), status: 403},
		{request: "PUT Items(99)/money/$ref", body: `{"@odata.id":"` + symbol + `"}`, status: 404},
	}}, rule{"dead, of many", []step{
		{request: "POST Orders(1)/items/$ref", body: `{"@odata.id":"Items(99)"}`, status: 428},
		{request: "POST Orders(1)/items/$ref", body: `{"@odata.id":"Items(99)"}`, header: anyTag(), status: 409},
		{request: "POST Currencies(1)/items/$ref", body: `{"@odata.id":"Items(99)"}`, status: 428},
		{request: "POST Makers(1)/products/$ref", body: `{"@odata.id":"Products('P9')"}`, status: 428},
		{request: "POST Makers(1)/products/$ref", body: `{"@odata.id":"Products('P2')/parent/parent"}`, status: 428},
		{request: "POST Makers(1)/products/$ref", body: `{"@odata.id":"Products('P2')/parent/parent"}`, header: anyTag(), status: 409},
		{request: "POST Products('P3')/children/$ref", body: `{"@odata.id":"Products('P2')/parent/parent"}`, header: []string{"If-Match", `W/"nope"`}, status: 412},
		{request: "POST Orders(1)/items/$ref", body: `{"@odata.id":"Items(99)"}`, header: []string{"If-Match", `W/"nope"`}, status: 412},
	}})
}

// specialReferences are references of hidden columns, of a row to itself, and what is refused.
func specialReferences() []rule {
	to := func(id string) string { return `{"@odata.id":"` + id + `"}` }
	return []rule{
		{"of hidden columns", []step{
			{request: "PUT Reviews(2)/product/$ref", body: to("Products('P1')"), header: anyTag(), status: 204},
			{request: "DELETE Products('P1')/reviews(1)/$ref", header: anyTag(), status: 204},
			{request: "GET Products('P1')/reviews?$select=id", has: []string{`[{"id":2}]`}},
		}},
		{"of the entity itself", []step{
			{request: "PUT Products('P3')/parent/$ref", body: to("Products('P3')"), header: anyTag(), status: 204},
			{request: "POST Products('P3')/children/$ref", body: to("Products('P3')"), header: anyTag(), status: 204},
			{request: "DELETE Products('P3')/children('P3')/$ref", header: anyTag(), status: 204},
			{request: "GET Products('P3')", has: []string{`"parent_id":null`}},
		}},
		{"what is no reference", []step{
			{request: "PUT Orders(2)/customer/$ref", body: `{}`, header: anyTag(), status: 400},
			{request: "PUT Orders(2)/customer/$ref", body: `{"name":"x"}`, header: anyTag(), status: 400},
			{request: "PUT Orders(2)/customer/$ref", body: `{"@odata.id":5}`, header: anyTag(), status: 400},
			{request: "PUT Orders(2)/customer/$ref", body: `{"@odata.id":"Orders(1)"}`, header: anyTag(), status: 400},
			{request: "PUT Orders(2)/customer/$ref", body: `[]`, header: anyTag(), status: 400},
		}},
		{"methods", []step{
			{request: "POST Orders(2)/customer/$ref", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD, PUT, DELETE"}},
			{request: "PUT Orders(2)/items/$ref", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD, POST, DELETE"}},
			{request: "PUT Orders(1)/items(1)/$ref", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD, DELETE"}},
			{request: "POST Orders(1)/remarks/$ref", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "PUT Remarks(order_id=1,no=1)/order/$ref", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "POST Orders/$ref", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "DELETE Orders(1)/$ref", status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "PUT Orders(2)/customer/$ref", as: "-", body: `{}`, status: 401},
			{request: "PUT Orders(2)/customer/$ref", as: "reader", body: `{}`, status: 403},
		}},
	}
}
