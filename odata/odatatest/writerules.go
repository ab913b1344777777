package odatatest

// creates are POST to a set (OData-Protocol 11.4.2).
func creates() []rule {
	return []rule{
		{"a key of the database", []step{
			{request: "POST Makers", body: `{"name":"New","note":"n"}`, status: 201, want: `{"@odata.context":"~$metadata#Makers/$entity","id":4,"name":"New","country":"DE","note":"n"}`, has: []string{"Location: ~Makers(4)", "Content-Type: application/json;odata.metadata=minimal"}},
			{request: "GET Makers(4)", want: `{"@odata.context":"~$metadata#Makers/$entity","id":4,"name":"New","country":"DE","note":"n"}`},
			{request: "GET Makers?$filter=id gt 2&$select=id", want: `{"@odata.context":"~$metadata#Makers(id)","value":[{"id":3},{"id":4}]}`},
		}},
		{"a key of the client", []step{
			{request: "POST Parts", body: `{"code":"it's/é","title":"T","price":1.25,"kind":"k"}`, status: 201, has: []string{"Location: ~Parts('it''s%2F%C3%A9')", `"stock":0`, `"changed":"2026-03-04T05:06:07.890123Z"`}},
			{request: "GET Parts('it''s%2F%C3%A9')?$select=code,title,price,kind,home", want: `{"@odata.context":"~$metadata#Parts(code,title,price,kind,home)/$entity","code":"it's/é","title":"T","price":1.2500,"kind":"k","home":{"street":null,"city":null}}`},
		}},
		{"a key of two parts", []step{
			{request: "POST Notes", body: `{"book":"x","page":9,"open":true}`, status: 201, want: `{"@odata.context":"~$metadata#Notes/$entity","@odata.etag":"W/\"1\"","book":"x","page":9,"text":null,"open":true,"version":1}`, has: []string{"Location: ~Notes(book='x',page=9)", `ETag: W/"1"`}},
		}},
		{"what the service gives is ignored", []step{
			{request: "POST Makers", body: `{"id":77,"name":"New"}`, status: 201, has: []string{`"id":4`}},
			{request: "POST Parts", body: `{"code":"C","title":"T","changed":"2001-01-01T00:00:00Z"}`, status: 201, has: []string{`"changed":"2026-03-04T05:06:07.890123Z"`}},
			{request: "POST Notes", body: `{"book":"x","page":9,"open":true,"version":50}`, status: 201, has: []string{`"version":1`}},
		}},
		{"complex values", []step{
			{request: "POST Parts", body: `{"code":"C","title":"T","home":{"city":"Ulm"}}`, status: 201, has: []string{`"home":{"street":null,"city":"Ulm"}`}},
			{request: "GET Parts?$filter=home/city eq 'Ulm'&$select=code", has: []string{`"code":"C"`}},
		}},
		{"a duplicate", []step{
			{request: "POST Parts", body: `{"code":"A","title":"T"}`, status: 409, has: []string{`"code":"duplicate"`, `"details":[{"code":"duplicate","message":"code has a value that another entity has","target":"code","@Common.numericSeverity":4}]`}},
			{request: "POST Makers", body: `{"name":"Acme"}`, status: 409, has: []string{`"target":"name"`}},
			{request: "POST Notes", body: `{"book":"y","page":1,"open":true}`, status: 409, has: []string{`"target":"book"`, `"target":"page"`}}, // another's, which only the key tells
			{request: "GET Makers/$count", want: "3"},
		}},
		{"values that are missing", []step{
			{request: "POST Parts", body: `{"price":1}`, status: 422, has: []string{`"code":"invalid_value"`, `{"code":"required","message":"code is missing","target":"code","@Common.numericSeverity":4},{"code":"required","message":"title is missing","target":"title","@Common.numericSeverity":4}`}},
			{request: "POST Parts", body: `{"code":"C","title":null}`, status: 422, has: []string{`"message":"title cannot be null","target":"title"`}},
			{request: "POST Parts", body: `{"code":"C","title":"T","stock":null}`, status: 422, has: []string{`"target":"stock"`}},
			{request: "GET Parts/$count", want: "2"},
		}},
		{"annotations are skipped", []step{
			{request: "POST Makers", body: `{"@odata.type":"#Test.Makers","@odata.context":"x","@odata.id":null,"@my.term":{"a":[1,{"b":null}]},"name@odata.type":"#String","name":"New","parts@odata.navigationLink":"x"}`, status: 201},
		}},
	}
}

// updates are PATCH and PUT of an entity (OData-Protocol 11.4.3).
func updates() []rule {
	return []rule{
		{"PATCH", []step{
			{request: "GET Makers(2)"},
			{request: "PATCH Makers(2)", body: `{"note":null}`, header: []string{"If-Match", "$tag"}, want: `{"@odata.context":"~$metadata#Makers/$entity","id":2,"name":"Bolt","country":"CH","note":null}`},
			{request: "GET Makers(2)", has: []string{`"note":null`}},
			{request: "GET Makers(1)", has: []string{`"name":"Acme"`}},
		}},
		{"PATCH of nothing", []step{
			{request: "PATCH Makers(2)", body: `{}`, header: anyTag(), has: []string{`"note":"second"`}},
			{request: "PATCH Parts('A')", body: `{}`, header: anyTag(), has: []string{`"changed":"2026-03-04T05:06:07.890123Z"`}},
			{request: "PATCH Notes(book='x',page=1)", body: `{}`, header: anyTag(), has: []string{`"version":2`}},
		}},
		{"PATCH of a complex value", []step{
			{request: "PATCH Parts('A')", body: `{"home":{"city":"Ulm"}}`, header: anyTag(), has: []string{`"home":{"street":"Main St","city":"Ulm"}`}},
		}},
		{"PUT", []step{
			{request: "PUT Makers(2)", body: `{"name":"B","country":"AT","note":"n"}`, header: anyTag(), want: `{"@odata.context":"~$metadata#Makers/$entity","id":2,"name":"B","country":"AT","note":"n"}`},
			{request: "PUT Makers(2)", body: `{"name":"C"}`, header: anyTag(), status: 400, has: []string{`"target":"country"`, `"target":"note"`}},
			{request: "GET Makers(2)/name/$value", want: "B"},
		}},
		{"what does not change is ignored", []step{
			{request: "PATCH Makers(2)", body: `{"id":99,"name":"B"}`, header: anyTag(), has: []string{`"id":2`, `"name":"B"`}},
			{request: "PATCH Parts('A')", body: `{"code":"Z","kind":"other","title":"T","changed":null}`, header: anyTag(), has: []string{`"code":"A"`, `"kind":"tool"`, `"title":"T"`, `"changed":"2026`}},
			{request: "GET Parts('Z')", status: 404},
		}},
		{"by navigation", []step{
			{request: "PATCH Parts('A')/maker", body: `{"note":"by part"}`, header: anyTag(), has: []string{`"id":1`, `"note":"by part"`}},
			{request: "PATCH Makers(1)/parts('A')", body: `{"title":"T"}`, header: anyTag(), has: []string{`"code":"A"`, `"title":"T"`}},
			{request: "PATCH Parts('B')/maker", as: "bob", body: `{"note":"x"}`, header: anyTag(), status: 412},
			{request: "PATCH Parts('B')/maker", as: "bob", body: `{"note":"x"}`, status: 404},
			{request: "DELETE Makers(3)/parts('A')", status: 404},
		}},
		{"by an alternate key", []step{
			{request: "PATCH Makers(name='Bolt')", body: `{"name":"New name"}`, header: anyTag(), has: []string{`"id":2`, `"name":"New name"`}},
		}},
		{"null and duplicates", []step{
			{request: "PATCH Makers(2)", body: `{"name":null}`, header: anyTag(), status: 422, has: []string{`"target":"name"`}},
			{request: "PATCH Makers(2)", body: `{"name":"Acme"}`, header: anyTag(), status: 409, has: []string{`"target":"name"`}},
			{request: "PATCH Makers(2)", body: `{"name":"Bolt"}`, header: anyTag()},
		}},
	}
}

// deletes are DELETE of an entity (OData-Protocol 11.4.5).
func deletes() []rule {
	return []rule{
		{"DELETE", []step{
			{request: "GET Makers(3)"},
			{request: "DELETE Makers(3)", header: []string{"If-Match", "$tag"}, status: 204, want: "-", has: []string{"Content-Type: "}},
			{request: "GET Makers(3)", status: 404},
			{request: "GET Makers/$count", want: "2"},
			{request: "DELETE Makers(3)", status: 404},
			{request: "DELETE Makers(3)", header: anyTag(), status: 412},
		}},
		{"of what others refer to", []step{
			{request: "DELETE Makers(1)", header: anyTag(), status: 409, has: []string{`"code":"referenced"`}},
			{request: "DELETE Parts('A')", header: anyTag(), status: 204},
			{request: "DELETE Makers(1)", header: anyTag(), status: 204},
		}},
		{"and create again", []step{
			{request: "DELETE Parts('A')", header: anyTag(), status: 204},
			{request: "POST Parts", body: `{"code":"A","title":"again"}`, status: 201, has: []string{`"price":null`}},
		}},
	}
}

// writtenProperties are requests to single properties and their plain values (OData-Protocol 11.4.9).
func writtenProperties() []rule {
	text := []string{"Content-Type", "text/plain"}
	return []rule{
		{"PUT of a property", []step{
			{request: "GET Makers(2)/note"},
			{request: "PUT Makers(2)/note", body: `{"value":"new"}`, header: []string{"If-Match", "$tag"}, want: `{"@odata.context":"~$metadata#Makers(2)/note","value":"new"}`},
			{request: "PUT Makers(2)/note", body: `{"@odata.context":"x","value":null}`, header: anyTag(), status: 204, want: "-"},
			{request: "PUT Makers(2)/note", body: `{"value":"new"}`, status: 428},
			{request: "PUT Makers(2)/note", body: `{"note":"new"}`, header: anyTag(), status: 400},
			{request: "PUT Makers(2)/note", body: `{}`, header: anyTag(), status: 400},
			{request: "PUT Makers(2)/name", body: `{"value":null}`, header: anyTag(), status: 422},
			{request: "PATCH Makers(2)/note", body: `{"value":"new"}`, header: anyTag(), status: 405, has: []string{"Allow: GET, HEAD, PUT, DELETE"}},
		}},
		{"DELETE of a property", []step{
			{request: "DELETE Makers(2)/note", header: anyTag(), status: 204, want: "-"},
			{request: "GET Makers(2)/note", status: 204},
			{request: "DELETE Makers(2)/name", header: anyTag(), status: 405, has: []string{"Allow: GET, HEAD, PUT"}},
			{request: "DELETE Makers(9)/note", header: anyTag(), status: 412},
		}},
		{"a plain value", []step{
			{request: "PUT Makers(2)/note/$value", body: "a \"plain\" text", header: anyTag(text...), want: `a "plain" text`},
			{request: "GET Makers(2)/note", has: []string{`"value":"a \"plain\" text"`}},
			{request: "PUT Parts('A')/stock/$value", body: "17", header: anyTag(text...), want: "17"},
			{request: "PUT Parts('A')/stock/$value", body: "x", header: anyTag(text...), status: 400, has: []string{`"target":"stock"`}},
			{request: "PUT Parts('A')/stock/$value", body: "17", header: anyTag(), status: 415},
			{request: "PUT Parts('A')/data/$value", body: "\x00\xff", header: anyTag("Content-Type", "application/octet-stream"), want: "\x00\xff"},
			{request: "DELETE Parts('A')/data/$value", header: anyTag(), status: 204},
			{request: "GET Parts('A')/data/$value", status: 204},
		}},
		{"complex values", []step{
			{request: "PATCH Parts('A')/home", body: `{"city":"Ulm"}`, header: anyTag(), want: `{"@odata.context":"~$metadata#Parts('A')/home","street":"Main St","city":"Ulm"}`},
			{request: "PUT Parts('A')/home", body: `{"city":"Ulm"}`, header: anyTag(), status: 400, has: []string{`"target":"home/street"`}},
			{request: "PUT Parts('A')/home", body: `{"street":null,"city":null}`, header: anyTag(), has: []string{`"street":null`}},
			{request: "PUT Parts('A')/home/city", body: `{"value":"Bern"}`, header: anyTag(), want: `{"@odata.context":"~$metadata#Parts('A')/home/city","value":"Bern"}`},
			{request: "DELETE Parts('A')/home", header: anyTag(), status: 405},
		}},
		{"what cannot be changed", []step{
			{request: "PUT Makers(2)/id", body: `{"value":5}`, header: anyTag(), status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "PUT Parts('A')/kind", body: `{"value":"k"}`, header: anyTag(), status: 405},
			{request: "PUT Parts('A')/changed", body: `{"value":null}`, header: anyTag(), status: 405},
			{request: "PUT Notes(book='x',page=1)/version", body: `{"value":5}`, header: anyTag(), status: 405},
		}},
		{"the entity moves", []step{
			{request: "PUT Notes(book='x',page=1)/text", body: `{"value":"new"}`, header: []string{"If-Match", `W/"1"`}, has: []string{`ETag: W/"2"`}},
			{request: "PUT Parts('A')/title", body: `{"value":"new"}`, header: anyTag()},
			{request: "GET Parts('A')/changed/$value", want: "2026-03-04T05:06:07.890123Z"},
		}},
	}
}
