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
		computesTo("remainder", "1", "-price mod 0.7", "0"),
		{name: "equal", target: "Things?$filter=price mul price mul price eq 1881676417468166744848.058070369999", ids: "4"},
		{name: "not quite equal", target: "Things?$filter=price mul price mul price eq 1881676417468166744848.058070369998", ids: "-"},
		{name: "a little more", target: "Things?$filter=price mul 1.0000000000000000000001 gt price and price gt 5", ids: "1 4 5 7 9"},
		{name: "a constant of more digits than a double", target: "Things?$filter=price lt 0.30000000000000000000001 and price gt 0.29999999999999999999999", ids: "10"},
		{name: "order", target: "Things?$orderby=price mul -100000000000000000000.5,id&$filter=price ne null", ids: "4 9 1 5 7 13 12 10 11 2 3"},
		{name: "beside a double", target: "Things?$filter=price add 0.00000000000000000000001 gt weight", ids: "1 2 4"},
		computesTo("rounded up without a sign of zero", "3", "ceiling(price)", "0"),
	}
}
