package odatatest

import (
	"net/http"
	"slices"
)

// writeRepeats are requests whose clients repeat them (OASIS Repeatable Requests 1.0).
func writeRepeats() []rule {
	first := writeTime().UTC().Format(http.TimeFormat)
	with := func(id string, more ...string) []string {
		return append([]string{"Repeatability-Request-ID", id, "Repeatability-First-Sent", first}, more...)
	}
	accepted, rejected := "Repeatability-Result: accepted", "Repeatability-Result: rejected"
	create := step{request: "POST Makers", body: `{"name":"New"}`, header: with("a"), status: 201, has: []string{`"name":"New"`, accepted, "Location: ~Makers(4)"}}
	count := func(n string) step { return step{request: "GET Makers/$count", want: n} }
	other := func(s step, change func(*step)) step {
		s.header, s.has = slices.Clone(s.header), nil
		change(&s)
		return s
	}
	refused := func(status int, change func(*step)) step {
		return other(create, func(s *step) {
			s.status, s.has = status, []string{`"code":"repeatability_rejected"`, rejected}
			change(s)
		})
	}
	at := func(time string) func(*step) { return func(s *step) { s.header[3] = time } }
	rules := []rule{
		{"a create", []step{create, create, create, count("4")}},
		{"another id", []step{create, other(create, func(s *step) {
			s.header[1], s.status, s.has = "b", 409, []string{`"code":"duplicate"`, accepted}
		}), count("4")}},
		{"another user", []step{create, other(create, func(s *step) {
			s.as, s.status, s.has = "bob", 409, []string{`"code":"duplicate"`, accepted}
		})}},
		{"another client", []step{create, other(create, func(s *step) {
			s.header, s.status, s.has = append(s.header, "Repeatability-Client-ID", "c"), 409, []string{`"code":"duplicate"`}
		})}},
		{"another body", []step{create, refused(400, func(s *step) { s.body = `{"name":"Newer"}` }), count("4")}},
		{"another method", []step{create, refused(400, func(s *step) { s.request = "PATCH Makers(1)"; s.header = append(s.header, "If-Match", "*") })}},
		{"another target", []step{create, refused(400, func(s *step) { s.request = "POST Makers?$select=id" })}},
		{"what failed is tried again", []step{
			{request: "DELETE Makers(4)", header: with("d", "If-Match", "*"), status: 412, has: []string{accepted}},
			create,
			{request: "DELETE Makers(4)", header: with("d", "If-Match", "*"), status: 204, want: "-", has: []string{accepted}},
			{request: "DELETE Makers(4)", header: with("d", "If-Match", "*"), status: 204, want: "-", has: []string{accepted}},
			count("3"),
		}},
		{"a change behind its own tag", []step{
			{request: "GET Makers(1)", has: []string{`"id":1`}},
			{request: "PATCH Makers(1)", body: `{"note":"n"}`, header: with("p", "If-Match", "$tag"), status: 200, has: []string{`"note":"n"`}},
			{request: "PATCH Makers(1)", body: `{"note":"o"}`, header: []string{"If-Match", "*"}, status: 200, has: []string{`"note":"o"`}},
			{request: "PATCH Makers(1)", body: `{"note":"n"}`, header: with("p", "If-Match", "$tag"), status: 200, has: []string{`"note":"n"`, accepted}},
			{request: "GET Makers(1)", has: []string{`"note":"o"`}},
		}},
		{"one header alone", []step{
			refused(400, func(s *step) { s.header = s.header[:2] }), refused(400, func(s *step) { s.header = s.header[2:] }),
			refused(400, at("yesterday")), refused(400, func(s *step) { s.header[1] = "" }), count("3"),
		}},
		{"too old", []step{refused(412, at("Tue, 03 Mar 2026 05:06:06 GMT")), other(create, at("Tue, 03 Mar 2026 05:06:08 GMT")), count("4")}},
		{"too far ahead", []step{
			refused(400, func(s *step) {
				at("Thu, 05 Mar 2026 05:06:08 GMT")(s)
				s.has = append(s.has, "more than a day ahead of this host, which has Wed, 04 Mar 2026 05", "set the clock of the client")
			}),
			other(create, at("Thu, 05 Mar 2026 05:06:07 GMT")), count("4"),
		}},
		{"a read", []step{{request: "GET Makers(1)", header: with("a"), has: []string{`"id":1`, "Repeatability-Result: "}}}},
	}
	return append(rules, repeatedGroups(with)...)
}

// repeatedGroups are batches with requests that are repeated.
func repeatedGroups(with func(id string, more ...string) []string) []rule {
	h := with("g")
	lines := func(request string, more ...string) string {
		return single(append([]string{request, h[0] + ": " + h[1], h[2] + ": " + h[3]}, more...)...)
	}
	set := inMultipart(changeSet(
		lines("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`),
		lines("PATCH $1 HTTP/1.1", jsonPart, "If-Match: *", "", `{"note":"of the change set"}`),
		lines("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""),
	), single("GET Makers/$count HTTP/1.1", "")).showing("HTTP/1.1 201 Created\r\n", `"note":"of the change set"`, "HTTP/1.1 204 No Content\r\n", "Repeatability-Result: accepted\r\n", "\r\n3\r\n")
	uneven := inMultipart(changeSet(
		lines("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`),
		single("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""),
	)).showing("HTTP/1.1 400 Bad Request\r\n", `"code":"repeatability_rejected"`)
	whole := set
	whole.header, whole.status, whole.has = append(slices.Clone(set.header), h...), 400, []string{`"code":"repeatability_rejected"`, "Repeatability-Result: rejected"}
	return []rule{
		{"a change set", []step{set, set, {request: "GET Makers?$select=id", want: `{"@odata.context":"~$metadata#Makers(id)","value":[{"id":1},{"id":2},{"id":4}]}`}}},
		{"a change set with a header on one request", []step{uneven, {request: "GET Makers/$count", want: "3"}}},
		{"a batch as a whole", []step{whole}},
		{"requests of a batch", []step{
			inMultipart(lines("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`)).showing("HTTP/1.1 201 Created\r\n"),
			inMultipart(lines("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`)).showing("HTTP/1.1 201 Created\r\n"),
			{request: "GET Makers/$count", want: "4"},
		}},
	}
}
