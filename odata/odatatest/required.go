package odatatest

// required are the requirements of OData-Protocol 13 that no other topic names, by
// their numbers there. CONFORMANCE.md has the table of all of them.
func required() []check {
	v401 := []string{"OData-MaxVersion", "4.01"}
	return []check{
		// 13.1.1: 4.0 Minimal
		{name: "13.1.1 custom options are passed over", target: "Things?x=1&sap-language=EN&$top=1", ids: "1"},
		{name: "13.1.1 enumeration with its type", target: "Things?$filter=Status eq Test.Status'New'", ids: "1"},
		{name: "13.1.1 duration with its type", target: "Things?$filter=seen add duration'PT0.5S' eq 2024-03-01T00:00:00Z", ids: "1"},
		// 13.1.2: 4.0 Intermediate
		{name: "13.1.2 $select and $top", target: "Things?$select=id&$top=2", ids: "1 2"},
		{name: "13.1.2 an alias", target: "Things?$filter=id eq @n&@n=4", ids: "4"},
		{name: "13.1.2 a filter on expanded rows", target: "Things(1)?$select=id&$expand=lines($filter=qty gt 0;$select=order_no,line_no)", body: `{"@odata.context":"~$metadata#Things(id,lines(order_no,line_no))/$entity","id":1,"lines":[{"order_no":1,"line_no":1}]}`},
		{name: "13.1.2 any and all", target: "Things?$filter=lines/any(l:l/qty gt 4) and lines/all(l:l/qty lt 9)", ids: "1"},
		{name: "13.1.2 a geographic value", target: "Things?$filter=geometry'SRID=0;Point(1 2)' eq null", status: 501},
		{name: "13.1.2 a geographic function", target: "Things?$filter=geo.length(name) gt 1", status: 501},
		{name: "13.1.1 the day of a literal that is not in UTC", target: "Things?$filter=day(2024-03-01T01:00:00%2B14:00) eq 29", status: 501},
		{name: "13.1.1 the hour of an alias that is not in UTC", target: "Things?$filter=hour(@t) eq 1&@t=2024-03-01T01:00:00-01:00", status: 501},
		{name: "13.1.1 the day of a literal in UTC", target: "Things?$filter=day(2024-03-01T01:00:00%2B00:00) eq 1 and year(2024-03-01T01:00:00Z) eq 2024 and id eq 1", ids: "1"},
		// 13.1.3: 4.0 Advanced
		{name: "13.1.3 references of expanded rows", target: "Things(1)?$select=id&$expand=tags/$ref", body: `{"@odata.context":"~$metadata#Things(id)/$entity","id":1,"tags":[{"@odata.id":"~Tags('B')"},{"@odata.id":"~Tags('a')"},{"@odata.id":"~Tags('it''s')"}]}`},
		{name: "13.1.3 $search where the set has it", target: "Things?$search=Anvil", ids: "1 2 3"},
		{name: "13.1.3 $search where it has not", target: "Tags?$search=a", status: 501},
		{name: "13.1.3 changes", target: "Things?$deltatoken=1", status: 501},
		{name: "13.1.3 cross joins", target: "$crossjoin(Things,Tags)", status: 501},
		{name: "13.1.3 all entities", target: "$all", status: 501},
		// 13.2.1: 4.01 Minimal
		{name: "13.2.1 options without a dollar, in any case", target: "Things?TOP=1&Filter=ID gt 0", header: v401, status: 400},
		{name: "13.2.1 options, operators and functions in any case", target: "Things?TOP=1&Filter=LENGTH(name) GT 4 AND id GT 1", header: v401, ids: "2"},
		{name: "13.2.1 a text as a number", target: "Things?$filter=id eq cast('4',Edm.Int64)", ids: "4"},
		{name: "13.2.1 a text as a date", target: "Things?$filter=born eq cast('2024-02-29',Edm.Date)", ids: "1"},
		{name: "13.2.1 a text that is no number", target: "Things?$filter=cast('x',Edm.Int32) eq null and id eq 1", ids: "1"},
		{name: "13.2.1 a property of texts as a number", target: "Things?$filter=cast(concat('00',cast(id,Edm.String)),Edm.Int64) eq 4 or cast(name,Edm.Int32) ne null", ids: "4"},
		{name: "13.2.1 an enumeration without its type", target: "Things?$filter=Status eq 'New'", ids: "1"},
		{name: "13.2.1 a duration without its type", target: "Things?$filter=seen add 'PT0.5S' eq 2024-03-01T00:00:00Z", ids: "1"},
		{name: "13.2.1 an alias as a key", target: "Tags(@k)/label/$value?@k='x/y'", body: "slash"},
		{name: "13.2.1 navigation and null", target: "Things?$filter=parent eq null and id lt 7", ids: "1 6"},
		{name: "13.2.1 in", target: "Things?$filter=id in (1,3)", ids: "1 3"},
		{name: "13.2.1 divby", target: "Things?$filter=id divby 2 eq 0.5", ids: "1"},
		{name: "13.2.1 a key in a segment", target: "Things/1/id/$value", body: "1"},
		{name: "13.2.1 a filtered count", target: "Things?$filter=lines/$count($filter=qty gt 0) eq 1", ids: "1 4"},
		{name: "13.2.1 comparison of structures", target: "Lines?$filter=thing eq thing&$select=qty&$top=1", body: `{"@odata.context":"~$metadata#Lines(qty)","value":[{"@odata.id":"~Lines(order_no=1,line_no=1)","qty":5}]}`},
		{name: "13.2.1 a negative index", target: "Things?$filter=substring(name,-2) eq 'il' and substring(name,-4,2) eq 'nv' and substring(name,-9) eq 'Anvil'", ids: "1"},
		{name: "13.2.1 a filter on an annotation", target: "Things?$filter=@Core.Messages eq null", status: 501},
		{name: "13.2.1 a version of the schema", target: "Things(1)/id/$value?$schemaversion=1", body: "1"},
		{name: "13.2.1 a name in another case", target: "things", header: v401, status: 404},
		// 13.2.2: 4.01 Intermediate
		{name: "13.2.2 $select in $select", target: "Things(1)?$select=id,home($select=city)", body: `{"@odata.context":"~$metadata#Things(id,home/city)/$entity","id":1,"home":{"city":"Bern"}}`},
		{name: "13.2.2 $compute", target: "Things?$compute=id mul 2 as twice&$filter=twice eq 4&$select=id,twice", ids: "2"},
		{name: "13.2.2 an alias in $expand", target: "Things(1)?$select=id&$expand=lines($filter=qty gt @q;@q=0;$select=order_no,line_no)", status: 200},
		{name: "13.2.2 a filter in the path", target: "Things/$filter(id lt 3)", ids: "1 2"},
		// 13.2.3: 4.01 Advanced
		{name: "13.2.3 a searched count", target: "Things?$filter=children/$count($search=anvil) gt 0", ids: "1"},
		{name: "13.2.3 other options in $select", target: "Things?$select=home($filter=city eq 'x')", status: 501},
		{name: "13.2.3 $index", target: "Things?$index=1", status: 501},
	}
}
