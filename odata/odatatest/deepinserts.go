package odatatest

import (
	"fmt"
	"strings"
)

// deepInserts are entities in the body of a POST (OData-Protocol 11.4.2.2).
func deepInserts() []rule {
	return []rule{
		{"to many", []step{
			{
				request: "POST Orders", body: `{"note":"n","items":[{"product_id":"P1","price":1.5},{"price":2,"product_id":"P3","amount":7}]}`, status: 201,
				want: `{"@odata.context":"~$metadata#Orders/$entity","@odata.etag":"W/\"1\"","id":4,"customer_id":null,"note":"n","version":1,"items":[` +
					`{"id":5,"order_id":4,"product_id":"P1","price":1.5000,"amount":1,"currency":null,"locked":null,"changed":"2026-03-04T05:06:07.890123Z"},` +
					`{"id":6,"order_id":4,"product_id":"P3","price":2.0000,"amount":7,"currency":null,"locked":null,"changed":"2026-03-04T05:06:07.890123Z"}]}`,
				has: []string{"Location: ~Orders(4)", `ETag: W/"1"`},
			},
			{request: "GET Orders(4)/items/$count", want: "2"},
			{request: "POST Orders", body: `{"items":[]}`, status: 201, has: []string{`"items":[]`}},
		}},
		{"to one", []step{
			{
				request: "POST Orders", body: `{"customer":{"name":"New"}}`, status: 201,
				want: `{"@odata.context":"~$metadata#Orders/$entity","@odata.etag":"W/\"1\"","id":4,"customer_id":4,"note":null,"version":1,"customer":{"id":4,"name":"New"}}`,
			},
			{request: "POST Orders", body: `{"customer":null}`, status: 201, has: []string{`"customer":null`}},
			{request: "POST Products", body: `{"id":"P9","name":"p","parent":{"id":"P8","name":"q","parent":{"id":"P7","name":"r"}}}`, status: 201, has: []string{`"parent_id":"P8"`, `"parent":{`, `"parent_id":"P7"`}},
			{request: "POST Items", body: `{"price":1,"product_id":"P1","money":{"symbol":"USD"}}`, status: 201, has: []string{`"currency":"USD"`, `"money":{`, `"symbol":"USD"`}},
		}},
		{"below", []step{
			{request: "POST Customers(1)/orders", body: `{"items":[{"price":1,"product":{"id":"P9","name":"p"}}]}`, status: 201, has: []string{`"customer_id":1`, `"items":[{`, `"product_id":"P9"`, `"product":{`}},
			{request: "POST Currencies", body: `{"symbol":"USD","items":[{"price":1,"product_id":"P1"}]}`, status: 201, has: []string{`"currency":"USD"`}},
			{request: "POST Products", body: `{"id":"P5","name":"p","reviews":[{"text":"t"}],"children":[{"id":"P6","name":"q","reviews":[{"text":"u"}]}]}`, status: 201, has: []string{`"text":"t"`, `"text":"u"`, `"parent_id":"P5"`}},
			{request: "POST Orders", body: `{"remarks":[{"no":1,"text":"a"},{"no":2,"text":"b"}]}`, status: 201, has: []string{`{"order_id":5,"no":2,"text":"b"}`}},
		}},
		{"with options", []step{
			{
				request: "POST Orders?$select=note&$expand=customer($select=name),items($select=id;$expand=order($select=note))", status: 201,
				body: `{"note":"n","customer@odata.bind":"Customers(1)","items":[{"price":1,"product":{"id":"P9","name":"p"}}]}`,
				has:  []string{`"note":"n"`, `"name":"Acme"}`, `"items":[{`, `"id":5,"order":{`, `"product":{`},
			},
			{request: "POST Orders", body: `{"items":[{"price":1,"product_id":"P1"}]}`, header: []string{"Prefer", "return=minimal"}, status: 204, want: "-", has: []string{"OData-EntityId: ~Orders(5)", `ETag: W/"1"`}},
			{request: "GET Orders(5)/items/$count", want: "1"},
		}},
		{"nothing by half", []step{
			{request: "POST Orders", body: `{"items":[{"product_id":"P1","price":1},{"product_id":"P99","price":1}]}`, status: 409, has: []string{`"target":"items/1/product_id"`}},
			{request: "POST Orders", body: `{"items":[{"product_id":"P1","price":1},{"product_id":"P1"}]}`, status: 422, has: []string{`"message":"items/1/price is missing","target":"items/1/price"`}},
			{request: "POST Orders", body: `{"items":[{"price":1},{"product_id":"P1","price":null}]}`, status: 422, has: []string{`"target":"items/0/product_id"`, `"target":"items/1/price"`}},
			{request: "POST Orders", body: `{"items":[{"product_id":"P1","price":"x"}]}`, status: 400, has: []string{`"target":"items/0/price"`}},
			{request: "POST Orders", body: `{"items":[{"product_id":"P1","price":1,"nope":1}]}`, status: 400, has: []string{`"target":"items/0/nope"`}},
			{request: "POST Orders", body: `{"items":[{"product_id":"P1","price":1,"locked":true}]}`, status: 403, has: []string{`"code":"row_not_allowed"`}},
			{request: "POST Orders", body: `{"items":[{"price":1,"locked":true}]}`, status: 403},
			{request: "POST Orders", body: `{"customer":{"name":"Acme"},"items":[{"product_id":"P1","price":1}]}`, status: 409, has: []string{`"target":"customer/name"`}},
			{request: "POST Products", body: `{"id":"P9","name":"n","maker":{"id":5,"name":"m"}}`, status: 400, has: []string{`"target":"maker"`}},
			{request: "POST Orders", body: `{"items":[{"product_id":"P1","price":1,"order_id":7}]}`, status: 400, has: []string{`"target":"items/0"`}},
			{request: "POST Orders", body: `{"items":{"product_id":"P1"}}`, status: 400, has: []string{`"target":"items"`}},
			{request: "POST Orders", body: `{"items":[5]}`, status: 400},
			{request: "POST Orders", body: `{"customer":[{}]}`, status: 400},
			{request: "POST Orders", body: `{"customer":"Customers(1)"}`, status: 400},
			{request: "GET Orders/$count", want: "3"},
			{request: "GET Items/$count", want: "4"},
			{request: "GET Customers/$count", want: "2"},
		}},
		{"in a group", []step{
			inMultipart(changeSet(
				single("POST Orders HTTP/1.1", jsonPart, "", `{"items":[{"product_id":"P1","price":1}]}`),
				single("POST Orders HTTP/1.1", jsonPart, "", `{"items":[{"product_id":"P1"}]}`),
			)).showing("HTTP/1.1 422 ", `"target":"items/0/price","@Common.numericSeverity":4,"@Core.ContentID":"2"`),
			{request: "GET Orders/$count", want: "3"},
		}},
	}
}

// nestedItems is a body with n items, each of which has a product inside of the other.
func nestedItems(n, depth int) string {
	product := ""
	for i := range depth {
		product += fmt.Sprintf(`,"children":[{"id":"P%d","name":"p"`, 100+i)
	}
	product += strings.Repeat("}]", depth)
	items := make([]string, n)
	for i := range items {
		items[i] = `{"product_id":"P1","price":1}`
	}
	if depth > 0 {
		return `{"id":"P99","name":"p"` + product + `}`
	}
	return `{"items":[` + strings.Join(items, ",") + `]}`
}

// linksRefused are limits.
func linksRefused() []rule {
	return []rule{
		{"depth", []step{
			{request: "POST Products", body: nestedItems(0, 5), status: 400, has: []string{`"code":"limit"`}},
			{request: "POST Products", body: nestedItems(0, 40), status: 400},
			{request: "GET Products/$count", want: "3"},
			{request: "POST Products", body: nestedItems(0, 4), status: 201},
			{request: "GET Products/$count", want: "8"},
		}},
		{"number", []step{
			{request: "POST Orders", body: nestedItems(1000, 0), status: 413},
			{request: "POST Orders", body: nestedItems(1001, 0), status: 413},
			{request: "GET Items/$count", want: "4"},
			{request: "POST Orders", body: nestedItems(999, 0), header: []string{"Prefer", "return=minimal"}, status: 204},
			{request: "GET Items/$count", want: "1003"},
			inMultipart(changeSet(
				single("POST Orders HTTP/1.1", jsonPart, "", nestedItems(600, 0)),
				single("POST Orders HTTP/1.1", jsonPart, "", nestedItems(600, 0)),
			)).showing("HTTP/1.1 413 "),
			{request: "GET Items/$count", want: "1003"},
		}},
	}
}
