package odatatest

import "strings"

// multipart makes a batch of parts, each of them a request, or a change set of several.
func multipart(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--b\r\n" + p + "\r\n")
	}
	return b.String() + "--b--\r\n"
}

// single is a part with a request. lines are the request line, headers, and behind an empty one the body.
func single(lines ...string) string {
	return "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + strings.Join(lines, "\r\n") + "\r\n"
}

// changeSet is a part with a change set, whose requests have the content ids 1, 2, 3…
func changeSet(requests ...string) string {
	var b strings.Builder
	b.WriteString("Content-Type: multipart/mixed;boundary=c\r\n\r\n")
	for i, r := range requests {
		b.WriteString("--c\r\nContent-ID: " + string(rune('1'+i)) + "\r\n" + r)
	}
	return b.String() + "--c--\r\n"
}

func inMultipart(parts ...string) step {
	return step{request: "POST $batch", body: multipart(parts...), header: []string{"Content-Type", "multipart/mixed;boundary=b"}}
}

func (st step) showing(parts ...string) step {
	st.has = parts
	return st
}

func (st step) unlessJudged() step {
	st.unjudged = true
	return st
}

const jsonPart = "Content-Type: application/json"

// writeGroups are change sets and atomicity groups: one transaction each (OData-Protocol 11.7, OData-JSON 19).
func writeGroups() []rule {
	return []rule{
		{"a change set", []step{
			inMultipart(changeSet(
				single("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`),
				single("PATCH $1 HTTP/1.1", jsonPart, "If-Match: *", "", `{"note":"of the change set"}`),
				single("POST Parts HTTP/1.1", jsonPart, "", `{"code":"C","title":"T","maker_id":4}`),
				single("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""),
			), single("GET Makers(4)?$expand=parts($select=code) HTTP/1.1", "")).showing(
				"multipart/mixed;boundary=changesetresponse_", "HTTP/1.1 201 Created\r\n", "Content-ID: 1\r\n", "Location: ~Makers(4)\r\n", "HTTP/1.1 204 No Content\r\n", `"note":"of the change set"`, `"parts":[{`),
			{request: "GET Makers?$select=id", want: `{"@odata.context":"~$metadata#Makers(id)","value":[{"id":1},{"id":2},{"id":4}]}`},
		}},
		{"a change set that fails", []step{
			inMultipart(changeSet(
				single("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`),
				single("PATCH Makers(2) HTTP/1.1", jsonPart, "If-Match: *", "", `{"name":"Acme"}`),
				single("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""),
			), single("GET Makers/$count HTTP/1.1", "")).showing("HTTP/1.1 409 Conflict\r\n", `"target":"name","@Common.numericSeverity":4,"@Core.ContentID":"2"}`),
			{request: "GET Makers/$count", want: "3"},
			{request: "GET Makers(2)", has: []string{`"name":"Bolt"`}},
		}},
		{"a change set that fails has one answer", []step{
			inMultipart(changeSet(
				single("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""),
				single("PATCH Makers(2) HTTP/1.1", jsonPart, "", `{"name":"x"}`),
			)).showing("HTTP/1.1 428 Precondition Required\r\n", `"@Core.ContentID":"2"`),
			{request: "GET Makers/$count", want: "3"},
		}},
		{"what follows a change set", []step{
			inMultipart(changeSet(single("DELETE Makers(9) HTTP/1.1", "If-Match: *", "")), changeSet(single("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""))).showing("HTTP/1.1 412 Precondition Failed\r\n"),
			{request: "GET Makers/$count", want: "3"},
			{
				request: "POST $batch", header: []string{"Content-Type", "multipart/mixed;boundary=b", "Prefer", "odata.continue-on-error"},
				body: multipart(changeSet(single("DELETE Makers(9) HTTP/1.1", "If-Match: *", "")), changeSet(single("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""))),
				has:  []string{"HTTP/1.1 412 Precondition Failed\r\n", "HTTP/1.1 204 No Content\r\n"},
			},
			{request: "GET Makers/$count", want: "2"},
		}},
		{"requests without a group", []step{
			inMultipart(
				single("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`), single("POST Makers HTTP/1.1", jsonPart, "", `{"name":"New"}`),
				single("POST Makers HTTP/1.1", jsonPart, "", `{"name":"Never"}`),
			).showing("HTTP/1.1 201 Created\r\n", "HTTP/1.1 409 Conflict\r\n"),
			{request: "GET Makers/$count", want: "4"},
		}},
		{"an atomicity group", []step{
			{
				request: "POST $batch", body: `{"requests":[
					{"id":"a","atomicityGroup":"g","method":"post","url":"Makers","body":{"name":"New"}},
					{"id":"b","atomicityGroup":"g","dependsOn":["a"],"method":"patch","url":"$a","headers":{"if-match":"*"},"body":{"note":"n"}},
					{"id":"c","atomicityGroup":"g","dependsOn":["a"],"method":"get","url":"$a/note/$value"},
					{"id":"d","method":"get","url":"Makers/$count"}]}`,
				has: []string{`"id":"a","atomicityGroup":"g","status":201`, `"id":"b","atomicityGroup":"g","status":200`, `"body":"n"`, `"body":"4"`},
			},
		}},
		{"an atomicity group that fails", []step{
			{
				request: "POST $batch", body: `{"requests":[
					{"id":"a","atomicityGroup":"g","method":"post","url":"Makers","body":{"name":"New"}},
					{"id":"b","atomicityGroup":"g","method":"post","url":"Makers","body":{"name":"Acme"}},
					{"id":"c","atomicityGroup":"g","method":"delete","url":"Makers(3)","headers":{"if-match":"*"}},
					{"id":"d","dependsOn":["g"],"method":"delete","url":"Makers(3)","headers":{"if-match":"*"}},
					{"id":"e","method":"get","url":"Makers/$count"}]}`,
				has: []string{`"id":"a","atomicityGroup":"g","status":424`, `"id":"b","atomicityGroup":"g","status":409`, `"target":"name","@Common.numericSeverity":4,"@Core.ContentID":"b"`, `"id":"c","atomicityGroup":"g","status":424`, `"id":"d","status":424`, `"body":"3"`},
			},
		}},
		{"changes of one row in a group", []step{
			inMultipart(changeSet(
				single("PATCH Notes(book='x',page=1) HTTP/1.1", jsonPart, `If-Match: W/"1"`, "", `{"text":"a"}`),
				single("PATCH Notes(book='x',page=1) HTTP/1.1", jsonPart, `If-Match: W/"2"`, "", `{"text":"b"}`),
				single("DELETE Notes(book='x',page=1) HTTP/1.1", `If-Match: W/"3"`, ""),
				single("POST Notes HTTP/1.1", jsonPart, "", `{"book":"x","page":1,"open":true}`),
			)).showing(`"version":2`, `"version":3`, "HTTP/1.1 204 No Content\r\n", `"version":1`),
			{request: "GET Notes(book='x',page=1)", has: []string{`"text":null`}},
		}},
		{"If-Match on the batch", []step{
			{request: "POST $batch", body: `{"requests":[]}`, header: anyTag(), status: 400},
		}},
	}
}

// writeRefused are requests that other parts of the suite do not come to.
func writeRefused() []rule {
	return []rule{
		{"targets", []step{
			{request: "POST Makers?$foo=1", body: `{"name":"New"}`, status: 400},
			{request: "POST Makers?$top=1", body: `{"name":"New"}`, status: 400},
			{request: "POST Makers?custom=1", body: `{"name":"New"}`, status: 201},
			{request: "PATCH Makers('x')", body: `{}`, header: anyTag(), status: 404},
			{request: "PATCH Makers(1)/nope", body: `{}`, header: anyTag(), status: 404},
			{request: "PATCH Makers/$filter(id eq 1)", body: `{}`, header: anyTag(), status: 405},
			{request: "POST Makers/$query", body: `$filter=id eq 1`, header: []string{"Content-Type", "text/plain"}, has: []string{`"id":1`}},
		}},
	}
}
