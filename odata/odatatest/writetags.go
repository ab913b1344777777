package odatatest

// entityTags are preconditions and entity tags (OData-Protocol 8.2.4, 11.4.1.1).
func entityTags() []rule {
	none := []string{"Accept", "application/json;odata.metadata=none"}
	return []rule{
		{"a tag of all properties", []step{
			{request: "GET Units('kg')", want: `{"@odata.context":"~$metadata#Units/$entity","code":"kg","name":"kilogram"}`},
			{request: "GET Makers(2)", has: []string{`"@odata.etag":"W/\"X-WCfn7kEzlqiDVM\""`, `ETag: W/"X-WCfn7kEzlqiDVM"`}},
			{request: "GET Makers(2)?$select=id", has: []string{`ETag: W/"X-WCfn7kEzlqiDVM"`, `"@odata.etag":"W/\"X-WCfn7kEzlqiDVM\""`}},
			{request: "GET Makers(2)/name", has: []string{`ETag: W/"X-WCfn7kEzlqiDVM"`}},
			{request: "GET Makers?$filter=id eq 2", has: []string{`"@odata.etag":"W/\"X-WCfn7kEzlqiDVM\""`}},
			{request: "GET Parts('A')", has: []string{`ETag: W/"2SXpMx67H1RwQTOc"`}},
			{request: "GET Parts('B')", as: "bob", has: []string{`ETag: W/"6aLMY5pXv_n6bPc3"`}},
			{request: "GET Makers(2)", header: none, want: `{"id":2,"name":"Bolt","country":"CH","note":"second"}`},
		}},
		{"formats share a tag, and caches keep none of them", []step{
			{request: "GET Makers(2)", has: []string{"Cache-Control: no-store"}},
			{request: "GET Makers(2)", header: none, has: []string{"Cache-Control: no-store"}},
			{request: "GET Makers(2)/name", has: []string{"Cache-Control: no-store"}},
			{request: "GET Makers", has: []string{"Cache-Control: no-cache"}},
		}},
		{"a tag of the version", []step{
			{request: "GET Notes(book='x',page=2)", want: `{"@odata.context":"~$metadata#Notes/$entity","@odata.etag":"W/\"7\"","book":"x","page":2,"text":"two","open":false,"version":7}`, has: []string{`ETag: W/"7"`}},
			{request: "GET Notes?$select=text&$top=1", has: []string{`"@odata.etag":"W/\"1\""`}},
			{request: "GET Replies?$expand=note($select=text)", has: []string{`"note":{"@odata.id":"~Notes(book='x',page=1)","@odata.etag":"W/\"1\"","text":"one"}`}},
		}},
		{"304", []step{
			{request: "GET Makers(2)"},
			{request: "GET Makers(2)", header: []string{"If-None-Match", "$tag"}, status: 304},
			{request: "GET Makers(2)?$select=id", header: []string{"If-None-Match", "$tag"}, status: 304},
			{request: "GET Makers(2)?$expand=parts", header: []string{"If-None-Match", "$tag"}},
			{request: "GET Makers(2)?$compute=now() as t", header: []string{"If-None-Match", "$tag"}},
			{request: "PATCH Makers(2)", body: `{"note":"x"}`, header: anyTag("Prefer", "return=minimal"), status: 204},
			{request: "GET Makers(2)", header: []string{"If-None-Match", "$tag"}, status: 304},
		}},
		{"If-Match", []step{
			{request: "PATCH Makers(2)", body: `{"note":"x"}`, status: 428, has: []string{`"code":"precondition_required"`}},
			{request: "DELETE Makers(2)", status: 428},
			{request: "PATCH Makers(2)", body: `{"note":"x"}`, header: []string{"If-Match", `W/"nope"`}, status: 412, has: []string{`"code":"precondition_failed"`}},
			{request: "GET Makers(2)"},
			{request: "PATCH Makers(2)", body: `{"note":"a"}`, header: []string{"If-Match", `"b", $tag`}},
			{request: "PATCH Makers(2)", body: `{"note":"b"}`, header: []string{"If-Match", "$tag"}},
			{request: "PATCH Makers(2)", body: `{"note":"c"}`, header: []string{"If-Match", "W/\"1\""}, status: 412},
			{request: "DELETE Makers(2)", header: []string{"If-Match", "W/\"1\""}, status: 412},
			{request: "PATCH Makers(2)", body: `{"note":"c"}`, header: []string{"If-Match", "x"}, status: 400},
			{request: "PATCH Makers(2)", body: `{"note":"c"}`, header: []string{"If-Match", ""}, status: 400},
			{request: "GET Makers(2)/note/$value", want: "b"},
			{request: "POST Makers", body: `{"name":"New"}`, header: []string{"If-Match", `"x"`}, status: 201},
		}},
		{"two people", []step{
			{request: "GET Notes(book='x',page=1)"},
			{request: "PATCH Notes(book='x',page=1)", body: `{"text":"first"}`, header: []string{"If-Match", `W/"1"`}, has: []string{`"version":2`}},
			{request: "PATCH Notes(book='x',page=1)", body: `{"text":"second"}`, header: []string{"If-Match", `W/"1"`}, status: 412},
			{request: "PATCH Notes(book='x',page=1)", body: `{"text":"second"}`, header: []string{"If-Match", `W/"2"`}, has: []string{`"version":3`}},
		}},
		{"If-None-Match", []step{
			{request: "PATCH Makers(2)", body: `{"note":"x"}`, header: []string{"If-None-Match", "*"}, status: 412},
			{request: "PUT Makers(9)", body: `{"name":"x","country":"CH","note":null}`, header: []string{"If-None-Match", "*"}, status: 404},
			{request: "POST Makers", body: `{"name":"New"}`, header: []string{"If-None-Match", "*"}, status: 201},
		}},
		{"tags in bodies", []step{
			{request: "PATCH Makers(2)", body: `{"@odata.etag":"W/\"nope\"","note":"x"}`, header: anyTag()},
			{request: "PATCH Makers(2)", body: `{"@odata.etag":"W/\"nope\"","note":"y"}`, header: anyTag("OData-MaxVersion", "4.01"), status: 412},
			{request: "PATCH Makers(2)", body: `{"@odata.etag":"$tag","note":"y","@etag":"$tag"}`, header: anyTag("OData-Version", "4.01"), status: 400, has: []string{"twice"}},
			{request: "PATCH Makers(2)", body: `{"@etag":"W/\"nope\"","note":"y"}`, header: anyTag("OData-Version", "4.01"), status: 412},
			{request: "PATCH Makers(2)", body: `{"@odata.etag":"W/\"nope\"","note":"y"}`, header: anyTag("OData-Version", "4.0", "OData-MaxVersion", "4.01")},
			{request: "PATCH Makers(2)", body: `{"@etag":"$tag","note":"z"}`, header: anyTag("OData-Version", "4.01")},
			{request: "PATCH Makers(2)", body: `{"@etag":"$tag","note":"z"}`, header: []string{"OData-Version", "4.01"}, status: 428},
			{request: "POST Makers", body: `{"@etag":"W/\"nope\"","name":"New"}`, header: []string{"OData-Version", "4.01"}, status: 201},
		}},
	}
}

// writeAnswers are preferences, formats and options of answers (OData-Protocol 8.2.8.7, 11.4.1.5).
func writeAnswers() []rule {
	return []rule{
		{"minimal", []step{
			{request: "POST Makers", body: `{"name":"New"}`, header: []string{"Prefer", "return=minimal"}, status: 204, want: "-", has: []string{"Location: ~Makers(4)", "OData-EntityId: ~Makers(4)", "Preference-Applied: return=minimal", "OData-Version: 4.0"}},
			{request: "PATCH Makers(4)", body: `{"note":"n"}`, header: []string{"Prefer", "return=minimal", "If-Match", "$tag"}, status: 204, want: "-", has: []string{"Preference-Applied: return=minimal", "Location: ", "OData-EntityId: "}},
			{request: "PATCH Makers(4)", body: `{"note":"o"}`, header: []string{"Prefer", "return=minimal", "If-Match", "$tag"}, status: 204},
			{request: "PUT Makers(4)/note", body: `{"value":"p"}`, header: []string{"Prefer", "return=minimal", "If-Match", "$tag"}, status: 204},
			{request: "GET Makers(4)/note/$value", want: "p"},
		}},
		{"representation", []step{
			{request: "POST Makers", body: `{"name":"New"}`, header: []string{"Prefer", "return=representation"}, status: 201, has: []string{"Preference-Applied: return=representation"}},
			{request: "POST Makers", body: `{"name":"Other"}`, status: 201, has: []string{"Preference-Applied: "}},
			{request: "PATCH Makers(4)?$select=name", body: `{"note":"n"}`, header: anyTag("Prefer", "return=minimal"), has: []string{`"name":"New"}`, "Preference-Applied: return=representation"}},
		}},
		{"$select and $expand", []step{
			{request: "POST Parts?$select=code&$expand=maker($select=name)", body: `{"code":"C","title":"T","maker_id":2}`, status: 201, want: `{"@odata.context":"~$metadata#Parts(code,maker(name))/$entity","code":"C","maker":{"@odata.id":"~Makers(2)","name":"Bolt"}}`},
			{request: "PATCH Makers(2)?$select=name&$expand=parts($select=code)", body: `{"name":"B"}`, header: anyTag(), want: `{"@odata.context":"~$metadata#Makers(name,parts(code))/$entity","@odata.id":"~Makers(2)","name":"B","parts":[{"code":"C"}]}`},
			{request: "POST Makers?$filter=id eq 1", body: `{"name":"New"}`, status: 400},
			{request: "POST Makers?$select=nope", body: `{"name":"New"}`, status: 400},
			{request: "DELETE Makers(3)?$select=id", header: anyTag(), status: 400},
			{request: "GET Makers/$count", want: "3"},
		}},
		{"formats", []step{
			{request: "POST Makers", body: `{"name":"a"}`, header: []string{"Accept", "application/json;odata.metadata=none"}, status: 201, want: `{"id":4,"name":"a","country":"DE","note":null}`},
			{request: "POST Makers", body: `{"name":"b"}`, header: []string{"Accept", "application/json;IEEE754Compatible=true"}, status: 201, has: []string{`"id":"5"`}},
			{request: "POST Makers", body: `{"name":"c"}`, header: []string{"Accept", "application/json;odata.metadata=full"}, status: 201, has: []string{`"@odata.type":"#Test.Makers","@odata.id":"~Makers(6)"`, `"@odata.etag":"W/`}},
			{request: "POST Makers", body: `{"name":"d"}`, header: []string{"Accept", "text/csv"}, status: 406},
			{request: "POST Makers", body: `{"name":"e"}`, header: []string{"OData-MaxVersion", "4.01"}, status: 201, has: []string{"OData-Version: 4.01"}},
			{request: "POST Makers", body: `{"name":"f"}`, header: []string{"OData-Version", "5.0"}, status: 400},
			{request: "GET Makers/$count", want: "7"},
		}},
	}
}
