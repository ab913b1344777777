package odatatest

// writeAccess are guards, row policies and filters of what may be written.
func writeAccess() []rule {
	return []rule{
		{"who may write", []step{
			{request: "POST Makers", as: "-", body: `{"name":"New"}`, status: 401},
			{request: "POST Makers", as: "new", body: `{"name":"New"}`, status: 403, has: []string{`"code":"unsettled"`}},
			{request: "POST Makers", as: "reader", body: `{"name":"New"}`, status: 403, has: []string{`"code":"token_reads_only"`}},
			{request: "PATCH Makers(1)", as: "-", body: `{"name":`, status: 401},
			{request: "DELETE Notes(book='x',page=1)", as: "-", status: 401},
			{request: "GET Makers/$count", as: "reader", want: "3"},
		}},
		{"another's row", []step{
			{request: "PATCH Notes(book='y',page=1)", body: `{"text":"x","open":true}`, status: 409, has: []string{`"code":"duplicate"`}},
			{request: "PATCH Notes(book='y',page=1)", body: `{"text":"x"}`, header: anyTag(), status: 412},
			{request: "DELETE Notes(book='y',page=1)", header: []string{"If-Match", `W/"1"`}, status: 412},
			{request: "PATCH Notes(book='y',page=1)", body: `{"text":`, status: 400},
			{request: "GET Notes(book='y',page=1)", as: "bob", has: []string{`"text":"bob's"`, `"version":1`}},
		}},
		{"a row that may be read and not changed", []step{
			{request: "PATCH Parts('B')", body: `{"title":"x"}`, status: 428},
			{request: "PATCH Parts('B')", body: `{"title":"x"}`, header: []string{"If-Match", `"nope"`}, status: 412},
			{request: "PATCH Parts('B')", body: `{"title":"x"}`, header: anyTag(), status: 403, has: []string{`"code":"row_not_allowed"`}},
			{request: "PATCH Parts('B')", body: `{"title":null}`, header: anyTag(), status: 403},
			{request: "PATCH Parts('B')", body: `{"title":1}`, header: anyTag(), status: 400},
			{request: "PUT Parts('B')/title", body: `{"value":"x"}`, header: anyTag(), status: 403},
			{request: "DELETE Parts('B')", header: anyTag(), status: 403},
			{request: "PATCH Parts('B')", as: "bob", body: `{"title":"x"}`, header: anyTag()},
			{request: "PATCH Notes(book='x',page=2)", body: `{"text":"x"}`, header: anyTag(), status: 403},
		}},
		{"a change that leaves the filter", []step{
			{request: "PATCH Notes(book='x',page=1)", body: `{"open":false}`, header: anyTag(), status: 403, has: []string{`"code":"row_not_allowed"`}},
			{request: "POST Notes", body: `{"book":"x","page":9,"open":false}`, status: 403},
			{request: "POST Notes", body: `{"book":"x","page":1,"open":false}`, status: 403}, // before 409
			{request: "POST Notes", body: `{"book":"x","open":false}`, status: 403},          // before 422
			{request: "PATCH Notes(book='x',page=1)", body: `{"open":null}`, header: anyTag(), status: 403},
			{request: "GET Notes(book='x',page=1)", has: []string{`"version":1`, `"open":true`}},
		}},
		{"values of the service", []step{
			{request: "POST Parts", as: "bob", body: `{"code":"C","title":"T"}`, status: 201},
			{request: "PATCH Parts('C')", body: `{"title":"x"}`, header: anyTag(), status: 403},
			{request: "PATCH Parts('C')", as: "bob", body: `{"title":"x"}`, header: anyTag()},
			{request: "POST Notes", as: "bob", body: `{"book":"z","page":1,"open":true}`, status: 201},
			{request: "GET Notes(book='z',page=1)", status: 404},
		}},
		{"what does not exist", []step{
			{request: "POST Parts", body: `{"code":"C","title":"T","owner":2}`, status: 400, has: []string{`"owner"`}},
			{request: "POST Parts", body: `{"code":"C","title":"T","nope":2}`, status: 400},
			{request: "PUT Parts('A')/owner", body: `{"value":2}`, header: anyTag(), status: 404},
			{request: "POST Nope", body: `{}`, status: 404},
			{request: "GET Parts/$count", want: "2"},
		}},
		{"methods", []step{
			{request: "POST Units", body: `{"code":"g"}`, status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "DELETE Units('kg')", header: anyTag(), status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "PATCH Units('nope')", body: `{}`, header: anyTag(), status: 405},
			{request: "PATCH Replies(1)", body: `{"text":"x"}`, header: anyTag(), status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "DELETE Replies(1)", header: anyTag(), status: 405},
			{request: "PUT Replies", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD, POST"}},
			{request: "POST Makers(1)", body: `{}`, status: 405, has: []string{"Allow: GET, HEAD, PATCH, PUT, DELETE"}},
			{request: "DELETE Makers", status: 405},
			{request: "POST Makers/$count", status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "POST $metadata", status: 405},
			{request: "DELETE ", status: 405},
		}},
		{"what is not supported", []step{
			{request: "PATCH Makers(2)", body: `{"parts":[]}`, header: anyTag(), status: 400},
			{request: "PATCH Makers(2)", body: `{"parts":[]}`, header: anyTag("OData-Version", "4.01"), status: 501},
			{request: "GET Makers/$count", want: "3"},
		}},
	}
}

// writeLinks are foreign keys, which name rows that the person may read.
func writeLinks() []rule {
	return []rule{
		{"a link that leads nowhere", []step{
			{request: "POST Parts", body: `{"code":"C","title":"T","maker_id":99}`, status: 409, has: []string{`"code":"dead_link"`, `"details":[{"code":"dead_link","message":"maker_id names no entity that is there","target":"maker_id","@Common.numericSeverity":4}]`}},
			{request: "PATCH Parts('A')", body: `{"maker_id":99}`, header: anyTag(), status: 409, has: []string{`"target":"maker_id"`}},
			{request: "PATCH Parts('A')", body: `{"maker_id":2}`, header: anyTag(), has: []string{`"maker_id":2`}},
			{request: "PATCH Parts('A')", body: `{"maker_id":null}`, header: anyTag(), has: []string{`"maker_id":null`}},
		}},
		{"a link to what may not be read", []step{
			{request: "POST Replies", body: `{"text":"T","book":"y","page":1}`, status: 409, has: []string{`"target":"book"`, `"target":"page"`}},
			{request: "POST Replies", body: `{"text":"T","book":"y","page":2}`, status: 409},
			{request: "POST Replies", as: "bob", body: `{"text":"T","book":"y","page":1}`, status: 201},
			{request: "POST Replies", body: `{"text":"T","book":"x","page":2}`, status: 201},
			{request: "POST Replies", body: `{"text":"T","book":"x"}`, status: 201},
			{request: "POST Replies", body: `{"text":"T","page":5}`, status: 201},
			{request: "GET Replies/$count", want: "5"},
		}},
		{"one of two links", []step{
			{request: "POST Parts", body: `{"code":"C","title":"T","maker_id":1,"unit":"nope"}`, status: 409, has: []string{`"details":[{"code":"dead_link","message":"unit names`}},
			{request: "POST Parts", body: `{"code":"C","title":"T","maker_id":99,"unit":"kg"}`, status: 409, has: []string{`"details":[{"code":"dead_link","message":"maker_id names`}},
			{request: "PATCH Parts('A')", body: `{"maker_id":99,"unit":"nope"}`, header: anyTag(), status: 409, has: []string{`"target":"maker_id"`, `"target":"unit"`}},
			{request: "PATCH Parts('A')", body: `{"maker_id":2,"unit":"kg"}`, header: anyTag()},
		}},
		{"a duplicate comes before a dead link", []step{
			{request: "POST Parts", body: `{"code":"A","title":"T","maker_id":99}`, status: 409, has: []string{`"code":"duplicate"`}},
		}},
	}
}
