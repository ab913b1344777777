package odatatest

// computesTo checks what an expression gives for one row of Things.
func computesTo(name, id, expr, value string) check {
	return check{
		name: name, target: "Things?$filter=id eq " + id + "&$compute=" + expr + " as z&$select=z",
		header: []string{"Accept", "application/json;odata.metadata=none"}, body: `{"value":[{"z":` + value + `}]}`,
	}
}

// decimals are exact, however many digits they have (OData-CSDL 4.4).
func decimals() []check {
	return []check{
		computesTo("many digits", "1", "12345678901234567890.5", "12345678901234567890.5"),
		computesTo("product", "4", "price mul price mul price", "1881676417468166744848.058070369999"),
		computesTo("sum", "10", "price add 100000000000000000000.05", "100000000000000000000.35"),
		computesTo("quotient of ten digits", "10", "price div 0.7", "0.4285714286"),
		computesTo("36 digits before the point", "4", "price mul price mul price mul price mul price", "null"),
		computesTo("35 digits before the point", "1", "price mul 9523809523809523809523809523809523", "99999999999999999999999999999999991.5"),
		computesTo("30 digits behind the point", "3", "price mul 0.12345678901234567890123456789", "-0.000012345678901234567890123457"),
		computesTo("remainder", "1", "-price mod 0.7", "0"),
		{name: "equal", target: "Things?$filter=price mul price mul price eq 1881676417468166744848.058070369999", ids: "4"},
		{name: "not quite equal", target: "Things?$filter=price mul price mul price eq 1881676417468166744848.058070369998", ids: "-"},
		{name: "a little more", target: "Things?$filter=price mul 1.0000000000000000000001 gt price and price gt 5", ids: "1 4 5 7 9"},
		{name: "a constant of more digits than a double", target: "Things?$filter=price lt 0.30000000000000000000001 and price gt 0.29999999999999999999999", ids: "10"},
		{
			name: "a constant of 31 digits after the point", target: "Things?$filter=price lt 0.0000000000000000000000000000001", status: 400,
			body: `{"error":{"code":"bad_request","message":"the number has more than 65 digits, or more than 30 after the point (at position 24)","target":"$filter","innererror":{"request_id":"id"}}}`,
		},
		{name: "order", target: "Things?$orderby=price mul -100000000000000000000.5,id&$filter=price ne null", ids: "4 9 1 5 7 13 12 10 11 2 3"},
		{name: "beside a double", target: "Things?$filter=price add 0.00000000000000000000001 gt weight", ids: "1 2 4"},
		computesTo("rounded up without a sign of zero", "3", "ceiling(price)", "0"),
	}
}

// doubles follow IEEE 754, but for the sign of zero, and a result that is INF or NaN, which is null (OData-URL 5.1.1.2,
// OData-JSON 7.1).
func doubles() []check {
	return []check{
		computesTo("divided by zero", "1", "weight div (weight sub 1.5)", `null`),
		computesTo("negative, divided by zero", "2", "weight div (weight add 0.1e0)", `null`),
		computesTo("zero by zero", "1", "(weight sub 1.5) div 0e0", `null`),
		computesTo("remainder by zero", "1", "weight mod 0e0", `null`),
		computesTo("exact remainder", "4", "2e0 mod weight", `0.0999999999999999`),
		computesTo("remainder of a large one", "3", "weight mul 1e200 mod 7e0", `4`),
		computesTo("overflow of a product", "3", "weight mul weight mul 1e300", `null`),
		computesTo("overflow of a sum", "3", "weight mul -1e288 sub 1e308", `null`),
		computesTo("overflow of a quotient", "3", "weight div 5e-324", `null`),
		computesTo("underflow", "4", "weight mul 1e-200 mul 1e-200", `0`),
		computesTo("underflow of the least", "1", "(weight mul 5e-324) mul (weight mul 5e-324)", `0`),
		computesTo("overflow less overflow", "3", "weight mul 1e300 sub weight mul 1e300", `null`),
		computesTo("by an overflow", "3", "1 div (weight mul 1e300)", `null`),
		computesTo("a sum near the end of the range", "3", "weight mul 8e287 add 8e307 add 1.9769313486231e307", `1.7976931348623101e+308`),
		computesTo("a product near the end of the range", "3", "weight mul 1.797693134862315e288", `1.797693134862315e+308`),
		computesTo("a quotient near the end of the range", "3", "weight div 5.6e-289", `1.7857142857142858e+308`),
		{
			name: "overflow of constants", target: "Things?$filter=1e308 mul 10 gt weight", status: 400,
			body: `{"error":{"code":"bad_request","message":"the result of a computation is out of range (at position 21)","target":"$filter","innererror":{"request_id":"id"}}}`,
		},
		computesTo("constants divided by zero", "1", "1e0 div 0", `null`),
		computesTo("a constant infinity", "1", "INF", `null`),
		computesTo("beside a constant infinity", "1", "weight add INF", `null`),
		computesTo("by a constant infinity", "1", "weight div INF", `null`),
		computesTo("infinity chosen", "1", "case(weight gt 0:-INF,true:weight)", `null`),
		{name: "less than infinity", target: "Things?$filter=weight lt INF", ids: "1 2 3 4"},
		{name: "greater than negative infinity", target: "Things?$filter=-INF lt weight", ids: "1 2 3 4"},
		{name: "not less than infinity", target: "Things?$filter=weight ge INF or big gt INF or price le -INF", ids: "-"},
		{name: "infinity in a list", target: "Things?$filter=weight in (INF,NaN,1.5)", ids: "1"},
		{name: "equal to infinity", target: "Things?$filter=weight eq INF or weight mul 1e300 eq INF", ids: "-"},
		computesTo("round of a large one", "1", "round(weight sub 1.5 add 4503599627370497e0)", `4503599627370497`),
		computesTo("round of an overflow", "3", "round(weight mul 1e300)", `null`),
		computesTo("to text", "3", "cast(weight,Edm.String)", `"100000000000000000000"`),
		computesTo("large one to text", "3", "cast(weight mul 123,Edm.String)", `"1.23e+22"`),
		computesTo("small one to text", "4", "cast(weight div 700000,Edm.String)", `"1.4285714285714287e-07"`),
		computesTo("overflow to text", "3", "cast(weight mul -1e300,Edm.String)", `null`),
		computesTo("to an integer", "3", "cast(weight,Edm.Int64)", `null`),
		computesTo("to a decimal", "4", "cast(weight,Edm.Decimal)", `0.1`),
		computesTo("overflow to a decimal", "3", "cast(weight mul 1e300,Edm.Decimal)", `null`),
		computesTo("duration by a small one", "4", "duration'PT0.000003S' div (weight div 7e15)", `"P2430555DT13H19M59.999981S"`),
		computesTo("no duration by a tiny one", "4", "duration'PT0S' div (weight mul 1e-300)", `"PT0S"`),
		computesTo("to a single and back", "4", "cast(weight,Edm.Single) mul 1e0", `0.10000000149011612`),
		computesTo("single to text", "4", "cast(cast(weight div 7,Edm.Single),Edm.String)", `"0.014285714"`),
		computesTo("single out of range", "3", "cast(weight mul weight,Edm.Single)", `null`),
		{name: "no number equals null", target: "Things?$filter=(weight sub 1.5) div (weight sub 1.5) eq null and weight ne null", ids: "1"},
		{name: "no number is not greater", target: "Things?$filter=(weight sub 1.5) div (weight sub 1.5) gt 0", ids: "2 3 4"},
		{name: "no number is not less", target: "Things?$filter=not ((weight sub 1.5) div (weight sub 1.5) lt 2) and weight ne null", ids: "1"},
		{name: "no number before all numbers", target: "Things?$orderby=weight mul 1e300 sub (weight sub 0.1e0) mul 1e300&$filter=weight ne null", ids: "3 1 2 4"},
		{name: "no number last, descending", target: "Things?$orderby=1e0 div (weight sub 1.5) desc&$filter=weight ne null", ids: "3 2 4 1"},
		{name: "integers as doubles", target: "Things?$filter=big gt 9007199254740992e0", ids: "1"},
		{name: "integer beside a small double", target: "Things?$filter=big lt -0.5e0", ids: "2 5"},
	}
}
