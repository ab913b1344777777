package odatatest

// thing1 is the first row with everything in it.
const thing1 = `"id":1,"name":"Anvil","note":null,"price":10.5000,"weight":1.5,"big":9223372036854775807,"ok":true,"born":"2024-02-29",` +
	`"seen":"2024-02-29T23:59:59.5Z","opens":"08:00:00","token":"0a0b0c0d-0000-0000-0000-000000000001","data":"AP8","Status":"New",` +
	`"parent_id":null,"home":{"street":"Main St","city":"Bern"}`

// values are single entities, properties and raw values of every type
// (OData-JSON 7, OData-Protocol 11.2.2 and 11.2.4).
func values() []check {
	exact := []string{"Accept", "application/json;odata.metadata=none;IEEE754Compatible=true"}
	return []check{
		{name: "every type", target: "Things(1)", body: `{"@odata.context":"~$metadata#Things/$entity",` + thing1 + `}`},
		{
			name: "nulls and small numbers", target: "Things(2)?$select=note,price,weight,big,ok,Status,home,data",
			body: `{"@odata.context":"~$metadata#Things(note,price,weight,big,ok,data,Status,home)/$entity","@odata.id":"~Things(2)","note":"","price":0.0000,"weight":-0.1,` +
				`"big":-9223372036854775807,"ok":false,"data":null,"Status":"New,Sale","home":{"street":null,"city":"bern"}}`,
		},
		{name: "huge double, small decimal", target: "Things(3)?$select=price,weight", body: `{"@odata.context":"~$metadata#Things(price,weight)/$entity","@odata.id":"~Things(3)","price":-0.0001,"weight":100000000000000000000}`},
		{name: "exact numbers", target: "Things(4)?$select=price,big", body: `{"@odata.context":"~$metadata#Things(price,big)/$entity","@odata.id":"~Things(4)","price":12345678.9999,"big":9007199254740993}`},
		{name: "IEEE754Compatible", target: "Things(4)?$select=id,price,big,weight", header: exact, body: `{"id":"4","price":"12345678.9999","weight":0.1,"big":"9007199254740993"}`},
		{name: "quotes and backslashes", target: "Things(5)?$select=note,Status", body: `{"@odata.context":"~$metadata#Things(note,Status)/$entity","@odata.id":"~Things(5)","note":"\"dq\" \\ back","Status":"9"}`},
		{name: "control characters, empty text", target: "Things(6)?$select=name,note", body: `{"@odata.context":"~$metadata#Things(name,note)/$entity","@odata.id":"~Things(6)","name":"","note":"tab\tline\n"}`},
		{name: "beyond the basic plane", target: "Things(7)/name", body: `{"@odata.context":"~$metadata#Things(7)/name","value":"𝄞 clef"}`},
		{name: "complex property", target: "Things(1)/home", body: `{"@odata.context":"~$metadata#Things(1)/home","street":"Main St","city":"Bern"}`},
		{name: "inside a complex property", target: "Things(1)/home/city", body: `{"@odata.context":"~$metadata#Things(1)/home/city","value":"Bern"}`},
		{name: "null property", target: "Things(1)/note", status: 204},
		{name: "raw text", target: "Things(4)/note/$value", body: `it's`},
		{name: "raw decimal", target: "Things(4)/price/$value", body: `12345678.9999`},
		{name: "raw boolean", target: "Things(1)/ok/$value", body: `true`},
		{name: "raw date", target: "Things(1)/born/$value", body: `2024-02-29`},
		{name: "raw binary", target: "Things(1)/data/$value", body: "\x00\xff"},
		{name: "raw enumeration", target: "Things(2)/Status/$value", body: `New,Sale`},
		{name: "raw null", target: "Things(1)/note/$value", status: 204},
		{name: "singleton", target: "Company", body: `{"@odata.context":"~$metadata#Company","id":1,"name":"Vestibule"}`},
		{name: "property of a singleton", target: "Company/name", body: `{"@odata.context":"~$metadata#Company/name","value":"Vestibule"}`},
		{name: "raw count", target: "Things/$count", body: `13`},
		{name: "raw filtered count", target: "Things/$count?$filter=price gt 1", body: `6`},
		{name: "reference", target: "Things(1)/$ref", body: `{"@odata.context":"~$metadata#$ref","@odata.id":"~Things(1)"}`},
		{name: "references", target: "Things(1)/tags/$ref", body: `{"@odata.context":"~$metadata#Collection($ref)","value":[{"@odata.id":"~Tags('B')"},{"@odata.id":"~Tags('a')"},{"@odata.id":"~Tags('it''s')"}]}`},
		{name: "metadata=none", target: "Tags?$top=1&$count=true", header: []string{"Accept", "application/json;odata.metadata=none"}, body: `{"@odata.count":5,"value":[{"code":"B","label":"upper"}]}`},
		{
			name: "metadata=full", target: "Lines(order_no=1,line_no=1)?$select=qty&$expand=thing($select=born)", header: []string{"Accept", "application/json;odata.metadata=full"},
			body: `{"@odata.context":"~$metadata#Lines(qty,thing(born))/$entity","@odata.type":"#Test.Lines","@odata.id":"~Lines(order_no=1,line_no=1)",` +
				`"@odata.readLink":"~Lines(order_no=1,line_no=1)","qty@odata.type":"#Int64","qty":5,"thing":{"@odata.type":"#Test.Thing","@odata.id":"~Things(1)","@odata.readLink":"~Things(1)",` +
				`"born@odata.type":"#Date","born":"2024-02-29"}}`,
		},
	}
}

// keys are all ways to name one entity (OData-URL 4.3).
func keys() []check {
	const device = `{"@odata.context":"~$metadata#Devices/$entity","guid":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee","name":"high"}`
	const line = `{"@odata.context":"~$metadata#Lines(qty)/$entity","@odata.id":"~Lines(order_no=2,line_no=1)","qty":-3}`
	tag := func(code, label string) string {
		return `{"@odata.context":"~$metadata#Tags/$entity","code":"` + code + `","label":"` + label + `"}`
	}
	return []check{
		{name: "named", target: "Things(id=1)/name/$value", body: "Anvil"},
		{name: "as a segment", target: "Things/1/name/$value", body: "Anvil"},
		{name: "alias", target: "Things(@k)/name/$value?@k=1", body: "Anvil"},
		{name: "GUID", target: "Devices(aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee)", body: device},
		{name: "GUID in capitals", target: "Devices(AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE)", body: device},
		{name: "composite", target: "Lines(order_no=2,line_no=1)?$select=qty", body: line},
		{name: "composite in another order", target: "Lines(line_no=1,order_no=2)?$select=qty", body: line},
		{name: "composite as segments", target: "Lines/2/1?$select=qty", body: line},
		{name: "text", target: "Tags('a')", body: tag("a", "lower")},
		{name: "text in another case", target: "Tags('A')", status: 404},
		{name: "text with a trailing blank", target: "Tags('a ')", status: 404},
		{name: "quotation mark", target: "Tags('it''s')", body: tag("it's", "quote")},
		{name: "encoded quotation marks", target: "Tags(%27it%27%27s%27)", body: tag("it's", "quote")},
		{name: "encoded slash", target: "Tags('x%2Fy')", body: tag("x/y", "slash")},
		{name: "encoded slash in a segment", target: "Tags/x%2Fy", body: tag("x/y", "slash")},
		{name: "text that looks encoded", target: "Tags('%C3%BC%20%2541')", body: tag("ü %41", "escape")},
		{name: "navigation to one", target: "Lines(order_no=1,line_no=1)/thing/name/$value", body: "Anvil"},
		{name: "navigation to many", target: "Things(1)/lines?$select=qty", body: `{"@odata.context":"~$metadata#Lines(qty)","value":[{"@odata.id":"~Lines(order_no=1,line_no=1)","qty":5},{"@odata.id":"~Lines(order_no=2,line_no=1)","qty":-3}]}`},
		{name: "navigation over a table between", target: "Things(1)/tags?$select=label", body: `{"@odata.context":"~$metadata#Tags(label)","value":[{"@odata.id":"~Tags('B')","label":"upper"},{"@odata.id":"~Tags('a')","label":"lower"},{"@odata.id":"~Tags('it''s')","label":"quote"}]}`},
		{name: "navigation by key", target: "Things(1)/children(2)/name/$value", body: "anvil"},
		{name: "navigation by a key of another parent", target: "Things(1)/children(4)", status: 404},
		{name: "navigation to nothing", target: "Lines(order_no=2,line_no=2)/thing", status: 204},
		{name: "navigation from nothing", target: "Things(99)/lines", status: 404},
		{name: "property of nothing", target: "Things(99)/name", status: 404},
		{name: "count behind navigation", target: "Things(1)/lines/$count", body: "2"},
		{name: "missing", target: "Things(99)", status: 404},
		{name: "type cast of one", target: "Things(1)/Test.Thing/name/$value", body: "Anvil"},
		{name: "filter segment", target: "Things/$filter(@f)/$count?@f=id gt 11", body: "2"},
		{name: "entity by id", target: "$entity?$id=Tags('it''s')", body: tag("it's", "quote")},
	}
}
