package odatatest

import (
	"slices"
	"testing"
)

// RunLinkRules checks the rules for links and deep inserts. fresh makes a subject with the data of LinkTables and the model of
// LinkMapping, which nobody else writes, for each rule.
func RunLinkRules(t *testing.T, fresh func(testing.TB) Subject) {
	t.Helper()
	runRules(t, fresh, map[string][]rule{
		"below": createsBelow(), "bind": slices.Concat(binds(), bindsOfMany()), "references": slices.Concat(references(), specialReferences(), deadReferences()), "in between": inBetween(), "deep": deepInserts(), "one to one": oneToOne(), "refused": linksRefused(),
	})
}

// createsBelow are POST to a collection below an entity (OData-Protocol 11.4.2).
func createsBelow() []rule {
	return []rule{
		{"of a foreign key", []step{
			{
				request: "POST Orders(1)/items", body: `{"product_id":"P3","price":4}`, status: 201, has: []string{"Location: ~Items(5)"},
				want: `{"@odata.context":"~$metadata#Items/$entity","id":5,"order_id":1,"product_id":"P3","price":4.0000,"amount":1,"currency":null,"locked":null,"changed":"2026-03-04T05:06:07.890123Z"}`,
			},
			{request: "GET Orders(1)/items?$select=id", want: `{"@odata.context":"~$metadata#Items(id)","value":[{"id":1},{"id":2},{"id":5}]}`},
			{request: "POST Items(1)/order/items", body: `{"product_id":"P3","price":4,"order_id":1}`, status: 201, has: []string{`"order_id":1`}},
			{request: "POST Orders(1)/items", body: `{"product_id":"P3","price":4,"order_id":2}`, status: 400, has: []string{`contradicts`}},
			{request: "POST Orders(1)/items", body: `{"product_id":"P3","price":4}`, header: []string{"Prefer", "return=minimal"}, status: 204, has: []string{"OData-EntityId: ~Items(7)"}},
		}},
		{"of a key", []step{
			{request: "POST Orders(1)/remarks", body: `{"no":2,"text":"t"}`, status: 201, want: `{"@odata.context":"~$metadata#Remarks/$entity","order_id":1,"no":2,"text":"t"}`, has: []string{"Location: ~Remarks(order_id=1,no=2)"}},
			{request: "POST Orders(1)/remarks", body: `{"no":2,"text":"t"}`, status: 409, has: []string{`"code":"duplicate"`}},
		}},
		{"of a column that is no key", []step{
			{request: "POST Currencies(2)/items", body: `{"product_id":"P3","price":4}`, status: 201, has: []string{`"currency":"CHF"`}},
			{request: "POST Currencies(symbol='EUR')/items", body: `{"product_id":"P3","price":4}`, status: 201, has: []string{`"currency":"EUR"`}},
		}},
		{"of a hidden column", []step{
			{request: "POST Products('P3')/reviews", body: `{"text":"t"}`, status: 201, want: `{"@odata.context":"~$metadata#Reviews/$entity","id":3,"text":"t"}`},
			{request: "GET Products('P3')/reviews?$select=id", has: []string{`[{"id":3}]`}},
		}},
		{"below nothing", []step{
			{request: "POST Orders(99)/items", body: `{"product_id":"P3","price":4}`, status: 404},
			{request: "POST Orders(99)/items", body: `{"product_id":`, status: 404},
			{request: "POST Customers(3)/orders", body: `{}`, status: 404},
			{request: "POST Customers(3)/orders", as: "bob", body: `{}`, status: 201, has: []string{`"customer_id":3`}},
			{request: "POST Orders(99)/items", as: "-", body: `{}`, status: 401},
			{request: "PUT Orders(1)/items", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD, POST"}},
			{request: "GET Items/$count", want: "4"},
		}},
		{"of a set that takes none", []step{
			{request: "POST Products('P1')/maker", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "POST Makers(1)/products", body: `{"id":"P9","name":"n"}`, status: 201, has: []string{`"maker_id":1`}},
		}},
		{"in a group", []step{
			inMultipart(changeSet(
				single("POST Orders HTTP/1.1", jsonPart, "", `{"note":"n"}`),
				single("POST $1/items HTTP/1.1", jsonPart, "", `{"product_id":"P1","price":1}`),
			)).showing("Location: ~Items(5)\r\n", `"order_id":4`),
		}},
	}
}

// binds are addresses of entities in bodies (OData-JSON 4.0, 8.5).
func binds() []rule {
	return []rule{
		{"to one", []step{
			{request: "POST Orders", body: `{"note":"n","customer@odata.bind":"Customers(2)"}`, status: 201, want: `{"@odata.context":"~$metadata#Orders/$entity","@odata.etag":"W/\"1\"","id":4,"customer_id":2,"note":"n","version":1}`},
			{request: "POST Orders", body: `{"customer@odata.bind":"~Customers(2)"}`, status: 201, has: []string{`"customer_id":2`}},
			{request: "POST Orders", body: `{"customer@odata.bind":"/odata/Customers/2"}`, status: 201, has: []string{`"customer_id":2`}},
			{request: "POST Orders", body: `{"customer@odata.bind":"Customers(name='Bolt')"}`, status: 201, has: []string{`"customer_id":2`}},
			{request: "POST Orders", body: `{"customer@odata.bind":"Orders(1)/customer"}`, status: 201, has: []string{`"customer_id":1`}},
			{request: "POST Orders", body: `{"customer@bind":"Customers(id=1)"}`, status: 201, has: []string{`"customer_id":1`}},
			{request: "PATCH Orders(1)", body: `{"customer@odata.bind":"Customers(2)"}`, header: []string{"If-Match", `W/"1"`}, has: []string{`"customer_id":2`, `"version":2`}},
			{request: "PATCH Orders(1)", body: `{"customer@odata.bind":"Customers(2)"}`, status: 428},
			{request: "PATCH Orders(1)", body: `{"customer@odata.bind":"Customers(2)"}`, header: []string{"If-Match", `W/"1"`}, status: 412},
			{request: "PATCH Orders(1)", body: `{"customer@odata.bind":null}`, header: anyTag(), has: []string{`"customer_id":null`}},
		}},
		{"to one, with the key", []step{
			{request: "POST Orders", body: `{"customer_id":2,"customer@odata.bind":"Customers(2)"}`, status: 201},
			{request: "POST Orders", body: `{"customer_id":1,"customer@odata.bind":"Customers(2)"}`, status: 400, has: []string{`"target":"customer"`}},
			{request: "POST Orders", body: `{"customer_id":null,"customer@odata.bind":"Customers(2)"}`, status: 400},
			{request: "PATCH Orders(1)", body: `{"customer_id":1,"customer@odata.bind":null}`, header: anyTag(), status: 400},
			{request: "PUT Orders(1)", body: `{"note":null,"customer@odata.bind":"Customers(2)"}`, header: anyTag(), has: []string{`"customer_id":2`}},
		}},
		{"to one, of a column that is no key", []step{
			{request: "POST Items", body: `{"product_id":"P1","price":1,"money@odata.bind":"Currencies(2)"}`, status: 201, has: []string{`"currency":"CHF"`}},
			{request: "PATCH Items(1)", body: `{"money@odata.bind":"Currencies(2)"}`, header: anyTag(), has: []string{`"currency":"CHF"`}},
			{request: "PATCH Items(1)", body: `{"money@odata.bind":"Currencies(9)"}`, header: anyTag(), status: 409, has: []string{`"message":"money names no entity that is there","target":"money"`}},
			{request: "PATCH Items(1)", body: `{"money@odata.bind":"Currencies(9)"}`, status: 428},
			{request: "PATCH Items(9)", body: `{"money@odata.bind":"Currencies(9)"}`, status: 404},
			{request: "PATCH Items(4)", body: `{"money@odata.bind":"Currencies(9)"}`, header: anyTag(), status: 403},
			{request: "PATCH Items(1)", body: `{"price":null,"money@odata.bind":"Currencies(9)"}`, header: anyTag(), status: 422},
			{request: "PATCH Items(1)", body: `{"money@odata.bind":"Currencies(symbol='EUR')"}`, header: anyTag(), has: []string{`"currency":"EUR"`}},
		}},
		{"to one, hidden", []step{
			{request: "PATCH Reviews(1)", body: `{"product@odata.bind":"Products('P3')"}`, header: anyTag()},
			{request: "GET Products('P3')/reviews?$select=id", has: []string{`[{"id":1}]`}},
			{request: "PATCH Reviews(1)", body: `{"product@odata.bind":"Products('P9')"}`, header: anyTag(), status: 409, has: []string{`"target":"product"`}},
		}},
		{"to what may not be read", []step{
			{request: "POST Orders", body: `{"customer@odata.bind":"Customers(3)"}`, status: 409, has: []string{`"code":"dead_link","message":"customer names no entity that is there","target":"customer"`}},
			{request: "POST Orders", body: `{"customer@odata.bind":"Customers(99)"}`, status: 409},
			{request: "POST Orders", body: `{"customer@odata.bind":"Customers(name='Bob''s')"}`, status: 409, has: []string{`"target":"customer"`}},
			{request: "POST Orders", as: "bob", body: `{"customer@odata.bind":"Customers(3)"}`, status: 201},
			{request: "GET Orders/$count", want: "4"},
		}},
		{"what is no entity", []step{
			{request: "POST Orders", body: `{"customer@odata.bind":"Orders(1)"}`, status: 400, has: []string{`"target":"customer"`}},
			{request: "POST Orders", body: `{"customer@odata.bind":"Customers"}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":"Customers(1)/name"}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":"http://elsewhere/odata/Customers(1)"}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":"Nope(1)"}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":""}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":"$1"}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":["Customers(1)"]}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":5}`, status: 400},
			{request: "POST Orders", body: `{"items@odata.bind":"Items(3)"}`, status: 400},
			{request: "POST Orders", body: `{"nope@odata.bind":"Items(3)"}`, status: 400},
			{request: "POST Orders", body: `{"customer@odata.bind":"Customers(1)","customer":{"name":"n"}}`, status: 400},
		}},
	}
}

// bindsOfMany are addresses for properties to many, and inline.
func bindsOfMany() []rule {
	tag401 := anyTag("OData-Version", "4.01")
	return []rule{
		{"to many", []step{
			{request: "POST Orders", body: `{"note":"n","items@odata.bind":["Items(3)","Items(2)"]}`, status: 201, want: `{"@odata.context":"~$metadata#Orders/$entity","@odata.etag":"W/\"1\"","id":4,"customer_id":null,"note":"n","version":1}`},
			{request: "GET Orders(4)/items?$select=id,changed", has: []string{`{"id":2,"changed":"2026-03-04T05:06:07.890123Z"},`, `{"id":3,`}},
			{request: "PATCH Orders(2)?$expand=items($select=id)", body: `{"items@odata.bind":["Items(3)"]}`, header: []string{"If-Match", `W/"1"`}, want: `{"@odata.context":"~$metadata#Orders(items(id))/$entity","@odata.etag":"W/\"2\"","id":2,"customer_id":null,"note":"second","version":2,"items":[{"id":3}]}`},
			{request: "POST Orders", body: `{"items@odata.bind":["Items(3)","Items(99)"]}`, status: 409, has: []string{`"target":"items"`}},
			{request: "POST Orders", body: `{"items@odata.bind":["Items(4)"]}`, status: 403},
			{request: "POST Orders", body: `{"remarks@odata.bind":["Remarks(order_id=1,no=1)"]}`, status: 400, has: []string{`"target":"remarks"`}},
			{request: "GET Orders(2)/items/$count", want: "1"},
			{request: "GET Orders/$count", want: "4"},
		}},
		{"inline, under 4.01", []step{
			{request: "POST Orders", header: []string{"OData-Version", "4.01"}, body: `{"customer":{"@id":"Customers(2)"},"items":[{"@id":"Items(3)"}]}`, status: 201, has: []string{`"customer_id":2`, `"customer":{`, `"items":[{`}},
			{request: "PATCH Orders(1)", header: tag401, body: `{"customer":{"@id":"Customers(2)"}}`, has: []string{`"customer_id":2`}},
			{request: "PATCH Orders(1)", header: tag401, body: `{"customer":null}`, has: []string{`"customer_id":null`}},
			{request: "PATCH Items(1)", header: tag401, body: `{"product":null}`, status: 422, has: []string{`"target":"product"`}},
			{request: "PATCH Orders(1)", header: tag401, body: `{"customer":{"name":"n"}}`, status: 501},
			{request: "PATCH Orders(1)", header: tag401, body: `{"items":[]}`, status: 501},
			{request: "PATCH Orders(1)", header: tag401, body: `{"items@delta":[]}`, status: 501},
			{request: "PATCH Orders(1)", header: anyTag(), body: `{"customer":{"@odata.id":"Customers(2)"}}`, status: 400},
			{request: "PATCH Orders(1)", header: anyTag(), body: `{"items":[]}`, status: 400},
		}},
		{"to a request of the group", []step{
			inMultipart(changeSet(
				single("POST Customers HTTP/1.1", jsonPart, "", `{"name":"New"}`),
				single("POST Orders HTTP/1.1", jsonPart, "", `{"customer@odata.bind":"$1"}`),
				single("PUT Orders(2)/customer/$ref HTTP/1.1", jsonPart, "If-Match: *", "", `{"@odata.id":"$1"}`),
				single("POST $1/orders HTTP/1.1", jsonPart, "", `{"items":[{"product_id":"P1","price":1}]}`),
				single("POST $4/items HTTP/1.1", jsonPart, "", `{"product_id":"P3","price":2}`),
				single("PUT $2/note HTTP/1.1", jsonPart, "If-Match: *", "", `{"value":"n"}`),
			)).showing(`"id":4,"customer_id":4`, `"id":5,"customer_id":4`, `"order_id":5,"product_id":"P1"`, `"order_id":5,"product_id":"P3"`, `"value":"n"`),
			{request: "GET Customers(4)/orders?$select=id,note&$expand=items($select=id,product_id)", has: []string{`"id":2,"note":"second","items":[]},`, `"id":4,"note":"n","items":[]},`, `"id":5,"note":null,"items":[{"id":5,"product_id":"P1"},{"id":6,"product_id":"P3"}]}`}},
			{
				request: "POST $batch", body: `{"requests":[
					{"id":"a","atomicityGroup":"g","method":"post","url":"Customers","body":{"name":"Newer"}},
					{"id":"b","atomicityGroup":"g","dependsOn":["a"],"method":"patch","url":"Orders(2)","headers":{"if-match":"*"},"body":{"customer@odata.bind":"$a"}}]}`,
				has: []string{`"id":"a","atomicityGroup":"g","status":201`, `"customer_id":5`},
			},
		}},
		{"by way of a request of the group", []step{
			inMultipart(changeSet(
				single("POST Customers HTTP/1.1", jsonPart, "", `{"name":"New"}`),
				single("POST Orders HTTP/1.1", jsonPart, "", `{"customer@odata.bind":"$1"}`),
				single("POST Orders HTTP/1.1", jsonPart, "", `{"customer@odata.bind":"$2/customer"}`),
			)).showing(`"id":4,"customer_id":4`, `"id":5,"customer_id":4`).unlessJudged(),
		}},
		{"of the entity itself", []step{
			{request: "PATCH Products('P3')", body: `{"parent@odata.bind":"Products('P3')"}`, header: anyTag(), has: []string{`"parent_id":"P3"`}},
			{request: "PATCH Products('P1')", body: `{"children@odata.bind":["Products('P1')"]}`, header: anyTag(), has: []string{`"parent_id":"P1"`}},
		}},
	}
}
