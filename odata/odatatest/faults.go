package odatatest

// faults are the messages of faults: where the fault is in the decoded request, what the name or the value should have been.
// None of them names what is hidden.
func faults() []check {
	fault := func(message, option string) string {
		return `{"error":{"code":"bad_request","message":"` + message + `","target":"` + option + `","innererror":{"request_id":"id"}}}`
	}
	bad := func(name, target, message, option string) check {
		return check{name: name, target: target, status: 400, body: fault(message, option)}
	}
	missing := func(name, target, message string) check {
		body := `{"error":{"code":"not_found","message":"` + message + `","innererror":{"request_id":"id"}}}`
		return check{name: name, target: target, status: 404, body: body}
	}
	malformed := func(name, target, message, option string) check {
		body := `{"error":{"code":"malformed","message":"` + message + `","target":"` + option + `","innererror":{"request_id":"id"}}}`
		return check{name: name, target: target, status: 400, body: body}
	}
	return []check{
		bad("a place as it is written", "Things?$filter=nope eq 1", `there is no property \"nope\"; did you mean \"note\"? (at position 15)`, "$filter"),
		bad("a place of an encoded option", "Things?%24filter=nope%20eq%201", `there is no property \"nope\"; did you mean \"note\"? (at position 15)`, "$filter"),
		bad("a place behind an encoded option", "Things?%24top=1&$filter=%28name%20eq%20%27%C3%BC%27%29%20and+gone eq 1", `there is no property \"gone\" (at position 41)`, "$filter"),
		malformed("what is quoted is decoded", "Things?%24filter=name%20eq%20%27a%27%20%C3%BC%20%27b%27", `unknown operator \"ü\" (at position 27: \"ü 'b'\")`, "$filter"),
		malformed("an end that is encoded", "Things?%24filter=name%20eq", `expected an operand behind eq (at position 20: \"eq\")`, "$filter"),
		bad("another case", "Things?$filter=Name eq 'x'", `there is no property \"Name\"; did you mean \"name\"? (at position 15)`, "$filter"),
		bad("a misspelt order", "Things?$orderby=prcie", `there is no property \"prcie\"; did you mean \"price\"? (at position 16)`, "$orderby"),
		bad("a misspelt selection", "Things?$select=weigth", `there is no property \"weigth\"; did you mean \"weight\"? (at position 15)`, "$select"),
		bad("a misspelt member", "Things?$filter=home/City eq 'x'", `there is no property \"City\"; did you mean \"city\"? (at position 20)`, "$filter"),
		bad("a misspelt navigation property", "Things?$expand=Lines", `there is no navigation property \"Lines\"; did you mean \"lines\"? (at position 15)`, "$expand"),
		bad("a computed name", "Things?$compute=price mul 2 as doubled&$filter=doubld gt 1", `there is no property \"doubld\"; did you mean \"doubled\"? (at position 47)`, "$filter"),
		bad("a misspelt set behind $root", "Things?$filter=$root/things/$count gt 1", `there is no resource \"things\"; did you mean \"Things\"? (at position 21)`, "$filter"),
		missing("a misspelt set", "things", `there is no resource \"things\"; did you mean \"Things\"? (at position 0)`),
		missing("a misspelt property in a path", "Things(1)/Name", `there is no property \"Name\"; did you mean \"name\"? (at position 10)`),
		missing("a misspelt property in an encoded path", "Things%281%29/Name", `there is no property \"Name\"; did you mean \"name\"? (at position 10)`),
		{
			name: "a misspelt function", target: "Things?$filter=contain(name,'x')", status: 400,
			body: `{"error":{"code":"unknown_function","message":"contain is no canonical function; did you mean contains? (at position 15: \"contain(name,'x')\")","target":"$filter","innererror":{"request_id":"id"}}}`,
		},
		bad("nothing near", "Things?$filter=velocity eq 1", `there is no property \"velocity\" (at position 15)`, "$filter"),
		bad("near to what is hidden", "Things?$filter=secrets eq 'x'", `there is no property \"secrets\" (at position 15)`, "$filter"),
		bad("what is hidden in another case", "Things?$orderby=Secret", `there is no property \"Secret\" (at position 16)`, "$orderby"),
		bad("what is hidden", "Things?$select=secret", `there is no property \"secret\" (at position 15)`, "$select"),
		missing("near to a table that is hidden", "user", `there is no resource \"user\" (at position 0)`),
		bad("a date in quotes", "Things?$filter=born gt '2020-01-01'", `gt does not work on Edm.Date and Edm.String; take the quotes away: write 2020-01-01 (at position 20)`, "$filter"),
		bad("a date without quotes beside a text", "Things?$filter=name gt 2020-01-01", `gt does not work on Edm.String and Edm.Date; put the text in single quotes: '2020-01-01' (at position 20)`, "$filter"),
		bad("an order by a date beside a text", "Things?$orderby=name gt 2020-01-01", `gt does not work on Edm.String and Edm.Date; put the text in single quotes: '2020-01-01' (at position 21)`, "$orderby"),
		bad("a date for an instant", "Things?$filter=seen ge 2020-01-01", `ge does not work on Edm.DateTimeOffset and Edm.Date; a point in time has a time and a zone: write 2020-01-01T00:00:00Z (at position 20)`, "$filter"),
		bad("a date in quotes for an instant", "Things?$filter='2020-01-01' lt seen", `lt does not work on Edm.String and Edm.DateTimeOffset; take the quotes away and add time and zone: write 2020-01-01T00:00:00Z (at position 28)`, "$filter"),
		bad("an instant for a date", "Things?$filter=born eq 2020-01-01T10:00:00Z", `eq does not work on Edm.Date and Edm.DateTimeOffset; a date has no time: write 2020-01-01 (at position 20)`, "$filter"),
		bad("a text that is no date", "Things?$filter=born eq 'soon'", `eq does not work on Edm.Date and Edm.String; a value of Edm.Date has no quotes, as in 2024-12-31 (at position 20)`, "$filter"),
		bad("a number in quotes", "Things?$filter=price eq '10.5'", `eq does not work on Edm.Decimal and Edm.String; take the quotes away: write 10.5 (at position 21)`, "$filter"),
		bad("a number without quotes", "Things?$filter=name eq 5", `eq does not work on Edm.String and Edm.Int64; put the text in single quotes: '5' (at position 20)`, "$filter"),
		bad("a number in quotes in a list", "Things?$filter=id in (1,'2')", `in does not work on Edm.Int64 and Edm.String; take the quotes away: write 2 (at position 18)`, "$filter"),
		bad("a truth in quotes", "Things?$filter=ok eq 'true'", `eq does not work on Edm.Boolean and Edm.String; take the quotes away: write true (at position 18)`, "$filter"),
		bad("two properties", "Things?$filter=born gt name", `gt does not work on Edm.Date and Edm.String (at position 20)`, "$filter"),
		malformed("double quotes", `Things?$filter=name eq "x"`, `text is put in single quotes, and dates and numbers in none (at position 23: \"\\\"x\\\"\")`, "$filter"),
	}
}
