package odatatest

import "strings"

// badBodies are bodies that are no JSON, or do not fit the model. Nothing is written by half.
func badBodies() []rule {
	post := func(body string, has ...string) step {
		return step{request: "POST Parts", body: body, status: 400, has: has}
	}
	with := func(member string, has ...string) step {
		return post(`{"code":"C","title":"T",`+member+`}`, has...)
	}
	count := step{request: "GET Parts/$count", want: "2"}
	return []rule{
		{"JSON", []step{
			post(``), post(`[]`), post(`null`), post(`{`), post(`{"code":"C","title":"T"} x`), post(`{"code":"C","title":"T"}{}`),
			post(`{"code":"C","code":"D","title":"T"}`, "code", "twice"), post(`{code:"C"}`), post(`{"code":'C'}`), post(`{"code":"C",}`),
			post("{\"code\":\"C\x01\",\"title\":\"T\"}"), post("{\"code\":\"C\xff\",\"title\":\"T\"}", "UTF-8"), post(`{"code":"\ud800","title":"T"}`),
			post(`{"code":"\x","title":"T"}`), post(`{"code":"C`), post(`{"code":"C","title":"T","stock":01}`), post(`{"code":"C","title":"T","stock":1.}`),
			post(`{"code":"C","title":"T","stock":NaN}`), post(`{"code":"C","title":"T","@a.b":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`),
			post(`{"code":"C","title":"T","home":{"city":"a","city":"b"}}`, "twice"), post(`{"@odata.type":"#Test.Makers","code":"C","title":"T"}`),
			count,
		}},
		{"wrong types", []step{
			post(`{"code":5,"title":"T"}`, `"target":"code"`), with(`"price":"x"`, `"target":"price"`), with(`"price":true`), with(`"stock":1.5`), with(`"stock":"x"`),
			with(`"stock":9223372036854775808`), with(`"ok":1`), with(`"ok":"true"`), with(`"weight":"1"`), with(`"weight":1e400`), with(`"made":"2023-02-29"`), with(`"made":5`),
			with(`"seen":"2024-01-01"`), with(`"seen":"2024-01-01 00:00:00Z"`), with(`"seen":"2024-01-01T00:00:00"`), with(`"opens":"25:00"`), with(`"token":"x"`),
			with(`"data":"*"`), with(`"Status":"Nope"`), with(`"Status":1`), with(`"home":"x"`), with(`"home":null`), with(`"home":{"nope":1}`, `"target":"home/nope"`), with(`"title":["x"]`),
			with(`"home":{"city":5}`, `"target":"home/city"`), with(`"price":{}`),
			count,
		}},
		{"what does not fit", []step{
			with(`"price":123456789`, "digits before the point"), with(`"price":0.00001`, "digits behind the point"), with(`"price":1e30`),
			with(`"kind":"`+strings.Repeat("x", 81)+`"`, "characters"), with(`"kind":"a\u0000b"`, "NUL"), with(`"seen":"2024-01-01T00:00:00.1234567Z"`),
			{request: "POST Parts", body: `{"code":"` + strings.Repeat("é", 80) + `","title":"T"}`, status: 201},
			{request: "GET Parts/$count", want: "3"},
		}},
		{"too large", []step{
			{request: "POST Parts", body: `{"code":"C","title":"T","@a.b":"` + strings.Repeat("x", 1<<20) + `"}`, status: 413},
			{request: "POST Parts", body: `{"code":"C","title":"T","@a.b":"` + strings.Repeat("x", 1<<20-100) + `"}`, status: 201},
		}},
		{"media types", []step{
			{request: "POST Makers", body: `{"name":"a"}`, header: []string{"Content-Type", "text/plain"}, status: 415},
			{request: "POST Makers", body: `{"name":"a"}`, header: []string{"Content-Type", ""}, status: 415},
			{request: "POST Makers", body: `{"name":"a"}`, header: []string{"Content-Type", "application/json;charset=latin1"}, status: 415},
			{request: "POST Makers", body: `{"name":"a"}`, header: []string{"Content-Type", "application/json;charset=UTF-8;IEEE754Compatible=true"}, status: 201},
			{request: "POST Makers", body: `name=a`, header: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415},
		}},
		{"404 before 400", []step{
			{request: "PATCH Makers(9)", body: `{"nope":1}`, status: 404},
			{request: "PATCH Makers(9)", body: `{"nope":1}`, header: anyTag(), status: 400},
			{request: "PATCH Makers(1)", body: `{"nope":1}`, status: 400},
			{request: "PUT Makers(9)", body: `{}`, status: 404},
			{request: "PUT Makers(1)", body: `{}`, status: 400},
		}},
	}
}

// writtenTypes are values of each type, as they are written and read again.
func writtenTypes() []rule {
	same := func(name, member string) rule {
		return rule{name, []step{
			{request: "POST Parts", body: `{"code":"C","title":"T",` + member + `}`, status: 201, has: []string{member}},
			{request: "GET Parts('C')", has: []string{member}},
			{request: "PATCH Parts('A')", body: `{` + member + `}`, header: anyTag(), has: []string{member}},
			{request: "PATCH Parts('A')", body: `{` + member + `}`, header: anyTag(), has: []string{member}}, // which the row has
			{request: "GET Parts('A')", has: []string{member}},
		}}
	}
	becomes := func(name, member, want string) rule {
		return rule{name, []step{
			{request: "POST Parts", body: `{"code":"C","title":"T",` + member + `}`, status: 201, has: []string{want}},
			{request: "GET Parts('C')", has: []string{want}},
		}}
	}
	return []rule{
		same("decimal", `"price":12345678.9999`), same("negative decimal", `"price":-0.0001`), becomes("short decimal", `"price":"1.5"`, `"price":1.5000`),
		becomes("decimal with exponent", `"price":1e2`, `"price":100.0000`), same("largest", `"stock":9223372036854775807`), same("least", `"stock":-9223372036854775808`),
		becomes("Int64 in quotes", `"stock":"-5"`, `"stock":-5`), same("text", `"remark":"\"ä\" 𝄞 \\ \n trail "`), same("empty text", `"remark":""`),
		becomes("escapes", `"remark":"\u00e4\ud834\udd1e\/"`, `"remark":"ä𝄞/"`), same("true", `"ok":true`), same("false", `"ok":false`), same("double", `"weight":0.1`),
		becomes("large double", `"weight":1E20`, `"weight":100000000000000000000`), same("date", `"made":"0001-01-01"`), same("last date", `"made":"9999-12-31"`),
		becomes("instant with offset", `"seen":"2024-03-01T00:30:00.5+01:00"`, `"seen":"2024-02-29T23:30:00.5Z"`), same("instant", `"seen":"2024-02-29T23:59:59.123456Z"`),
		same("instant before 1970", `"seen":"1969-12-31T23:59:59.999999Z"`), same("time of day", `"opens":"23:59:59.999999"`), becomes("time without seconds", `"opens":"07:05"`, `"opens":"07:05:00"`),
		becomes("GUID", `"token":"FFFFFFFF-0000-0000-0000-00000000000A"`, `"token":"ffffffff-0000-0000-0000-00000000000a"`), same("binary", `"data":"AP8-_w"`),
		becomes("padded binary", `"data":"AP8="`, `"data":"AP8"`), same("empty binary", `"data":""`), same("enumeration", `"Status":"New,Sale"`), becomes("number of an enumeration", `"Status":"2"`, `"Status":"Sale"`),
		same("nulls", `"remark":null`),
	}
}
