package odatatest

// inBetween are links over a table in between.
func inBetween() []rule {
	to := func(id string) string { return `{"@odata.id":"` + id + `"}` }
	return []rule{
		{"POST and DELETE", []step{
			{request: "POST Orders(1)/tags/$ref", body: to("Tags('new')"), status: 204, want: "-"},
			{request: "POST Orders(1)/tags/$ref", body: to("Tags('new')"), status: 204, want: "-"},
			{request: "GET Orders(1)/tags?$select=code", want: `{"@odata.context":"~$metadata#Tags(code)","value":[{"code":"new"},{"code":"old"}]}`},
			{request: "GET Tags('new')/orders?$select=id", has: []string{`"id":1}]`}},
			{request: "POST Tags('it''s%2F%C3%A9')/orders/$ref", body: to("Orders(1)"), status: 204},
			{request: "DELETE Orders(1)/tags('it''s%2F%C3%A9')/$ref", status: 204},
			{request: "DELETE Orders(1)/tags('old')/$ref", status: 204},
			{request: "DELETE Orders(1)/tags('old')/$ref", status: 404},
			{request: "DELETE Orders(1)/tags/$ref?$id=Tags('new')", status: 204},
			{request: "DELETE Orders(1)/tags/$ref?$id=Tags('new')", status: 404},
			{request: "DELETE Orders(1)/tags/$ref?$id=Tags('nope')", status: 404},
			{request: "GET Orders(1)/tags/$count", want: "0"},
			{request: "GET Orders(1)", has: []string{`"version":1`}},
		}},
		{"refused", []step{
			{request: "POST Orders(1)/tags/$ref", body: to("Tags('nope')"), status: 409, has: []string{`"code":"dead_link"`}},
			{request: "POST Orders(99)/tags/$ref", body: to("Tags('new')"), status: 404},
			{request: "POST Orders(3)/tags/$ref", body: to("Tags('new')"), status: 403},
			{request: "POST Tags('new')/orders/$ref", body: to("Orders(3)"), status: 403},
			{request: "PUT Orders(1)/tags/$ref", body: to("Tags('new')"), status: 405, has: []string{"Allow: GET, HEAD, POST, DELETE"}},
			{request: "GET Tags('new')/orders/$count", want: "0"},
		}},
		{"of the entity itself", []step{
			{request: "POST Products('P1')/related/$ref", body: to("Products('P1')"), status: 204},
			{request: "GET Products('P1')/related?$select=id", has: []string{`[{"id":"P1"},{"id":"P3"}]`}},
			{request: "DELETE Products('P1')/related('P1')/$ref", status: 204},
			{request: "GET Products('P1')/related?$select=id", has: []string{`[{"id":"P3"}]`}},
		}},
		{"POST below", []step{
			{request: "POST Orders(1)/tags", body: `{"code":"c","name":"n"}`, status: 201, want: `{"@odata.context":"~$metadata#Tags/$entity","code":"c","name":"n"}`, has: []string{"Location: ~Tags('c')"}},
			{request: "GET Orders(1)/tags/$count", want: "2"},
			{request: "POST Orders(1)/tags", body: `{"code":"c"}`, status: 409},
			{request: "POST Orders(99)/tags", body: `{"code":"d"}`, status: 404},
			{request: "POST Orders(3)/tags", body: `{"code":"d"}`, status: 403},
			{request: "GET Tags/$count", want: "4"},
		}},
		{"in bodies", []step{
			{request: "POST Orders", body: `{"tags@odata.bind":["Tags('old')","Tags('new')"]}`, status: 201, has: []string{`"id":4`}},
			{request: "GET Orders(4)/tags/$count", want: "2"},
			{request: "PATCH Orders(1)?$expand=tags($select=code)", body: `{"note":"x","tags@odata.bind":["Tags('new')"]}`, header: anyTag(), has: []string{`"tags":[{"code":"new"},{"code":"old"}]`}},
			{request: "POST Orders", body: `{"tags@odata.bind":["Tags('nope')"]}`, status: 409, has: []string{`"target":"tags"`}},
			{request: "POST Orders", body: `{"tags@odata.bind":["Tags('new')?$filter=code eq 'old'"]}`, status: 400, has: []string{`"target":"tags`, "takes no options"}},
			{request: "POST Orders", body: `{"note":"deep","tags":[{"code":"x"},{"@odata.id":"Tags('old')"}]}`, status: 201, has: []string{`"tags":[{`, `"code":"old"`, `"code":"x"`}},
			{request: "GET Orders/$count", want: "5"},
		}},
	}
}
