package odatatest

// filters are expressions over the data, with the rows that satisfy them
// (OData-URL 5.1.1). Three-valued logic: a row counts when the filter is true.
func filters() []check { return append(append(comparisons(), functions()...), shared()...) }

func expr(filter, ids string) check {
	return check{name: filter, target: "Things?$filter=" + filter, ids: ids}
}

func comparisons() []check {
	return []check{
		expr("id eq 4", "4"),
		expr("name eq 'Anvil'", "1"),
		expr("name eq 'anvil'", "2"),
		expr("name ne 'anvil'", "1 3 4 5 6 7 8 9 10 11 12 13"),
		expr("name eq ''", "6"),
		expr("name eq 'trail'", "13"),
		expr("name eq 'trail '", "12"),
		expr("name eq 'Zo%C3%AB'", "10"),
		expr("name gt 'Anvil' and name lt 'anvil'", "10 11"),
		expr("note eq null", "1 7 8 10 11 12 13"),
		expr("note ne null", "2 3 4 5 6 9"),
		expr("note eq ''", "2"),
		expr("note ne ''", "1 3 4 5 6 7 8 9 10 11 12 13"),
		expr("not (note eq '')", "1 3 4 5 6 7 8 9 10 11 12 13"),
		expr("note eq 'it''s'", "4"),
		expr("note eq 'a_b'", "9"),
		expr("price eq 10.5", "1 5"),
		expr("price eq 10.50", "1 5"),
		expr("price gt 10.4999", "1 4 5 9"),
		expr("price ge 12345678.9999", "4"),
		expr("price lt 0", "3"),
		expr("price add 0.1 eq 0.2", "11"),
		expr("price mul 3 eq 0.9", "10"),
		expr("not (price gt 1)", "2 3 6 8 10 11 12"),
		expr("weight eq 0.1", "4"),
		expr("weight gt 1e19", "3"),
		expr("big eq 9223372036854775807", "1"),
		expr("big eq 9007199254740993", "4"),
		expr("big eq 9007199254740992", "-"),
		expr("ok", "1 4"),
		expr("ok eq false", "2 5"),
		expr("ok ne true", "2 3 5 6 7 8 9 10 11 12 13"),
		expr("not ok", "2 5"),
		expr("born eq 2024-02-29", "1"),
		expr("born lt 2000-01-01", "2 5"),
		expr("year(born) eq 2024 and month(born) eq 2", "1"),
		expr("seen ge 2024-02-29T23:59:59.5Z", "1 4"),
		expr("seen eq 2024-03-01T01:00:00%2B01:00", "4"),
		expr("second(seen) eq 59", "1"),
		expr("opens lt 08:00:00", "4"),
		expr("token eq FFFFFFFF-ffff-ffff-ffff-ffffffffffff", "2"),
		expr("data eq binary'AP8='", "1"),
		expr("Status eq Test.Status'Sale'", "4"),
		expr("Status has Test.Status'Sale'", "2 4"),
		expr("Status has 'New'", "1 2 5"),
		expr("home/city eq 'Bern'", "1"),
		expr("parent/name eq 'Anvil'", "2 3"),
		expr("parent/name ne 'Anvil'", "1 4 5 6 7 8 9 10 11 12 13"),
		expr("parent/parent/id eq 1", "4"),
		expr("id in (2,3,99)", "2 3"),
		expr("name in ('Anvil','trail ')", "1 12"),
	}
}

func functions() []check {
	return []check{
		expr("contains(name,'nvi')", "1 2"),
		expr("contains(name,'%25')", "9"),
		expr("contains(note,'_')", "9"),
		expr("contains(note,'\\')", "5"),
		expr("startswith(name,'an')", "2"),
		expr("endswith(name,' ')", "12"),
		expr("length(name) eq 6", "7 12"),
		expr("indexof(name,'clef') eq 2", "7"),
		expr("substring(name,1,2) eq 'nv'", "1 2"),
		expr("tolower(name) eq 'anvil'", "1 2 3"),
		expr("toupper(name) eq '%C3%84PFEL'", "4 5"),
		expr("trim(name) eq 'trail'", "12 13"),
		expr("concat(concat(name,'-'),note) eq 'anvil-'", "2"),
		expr("id mod 5 eq 1", "1 6 11"),
		expr("id div 5 eq 2", "10 11 12 13"),
		expr("id divby 5 eq 2.2", "11"),
		expr("-id lt -11", "12 13"),
		expr("round(weight) eq 2", "1"),
		expr("round(0.49999999999999994e0) eq 0 and id eq 1", "1"),
		expr("round(-2.5e0) eq -3 and round(4503599627370497e0) eq 4503599627370497 and id eq 1", "1"),
		expr("totalseconds(duration'PT1S' divby 3) eq 0.333333 and id eq 1", "1"),
		expr("floor(price) eq 10", "1 5 7"),
		expr("ceiling(price) eq 11", "1 5 7"),
		expr("lines/any()", "1 2 4"),
		expr("lines/any(l:l/qty lt 0)", "1"),
		expr("lines/all(l:l/qty gt 0)", "3 4 5 6 7 8 9 10 11 12 13"),
		expr("not lines/any() and id lt 6", "3 5"),
		expr("tags/any(t:t/code eq 'a' and t/label eq 'lower')", "1 2"),
		expr("lines/$count gt 1", "1"),
		expr("children/any(c:c/children/any(g:g/id eq 4))", "1"),
		expr("id eq @x or name eq @y&@x=3&@y='100%25'", "3 9"),
		expr("cast(id,Edm.String) eq '7'", "7"),
		expr("id lt 3 or id gt 4 and id lt 6", "1 2 5"),
		expr("null eq null", "1 2 3 4 5 6 7 8 9 10 11 12 13"),
		expr("null gt 1", "-"),
		expr("seen gt now()", "-"),
		expr("id in ()", "-"),
		expr("$it/id eq 4", "4"),
		expr("id eq $root/Company/id", "1"),
		expr("isof(Test.Thing) and id lt 3", "1 2"),
		expr("Test.Thing/id eq 4", "4"),
		expr("matchesPattern(name,'^[Aa]nvil$')", "1 2"),
		expr("matchesPattern(name,'(?i)ANV')", "1 2 3"),
		expr("matchesPattern(name,'(?i)%C3%84PFEL')", "4 5"),
		expr("matchesPattern(name,'^[[:upper:]][[:alpha:]]{3,}%24')", "1 3"),
		expr("matchesPattern(name,'^(?P%3Cn%3Etr)a.l\\z')", "13"),
		expr("matchesPattern(name,'\\d{2,}%25|^%24')", "6 9"),
		expr("matchesPattern(name,'%5E[%5Ea-z]%2B%24')", "3 9"),
		expr("matchesPattern(note,'line%24')", "-"),             // a newline follows
		expr("matchesPattern(note,'line.')", "-"),               // which a dot is not
		expr("matchesPattern(note,'(?s)line.%24')", "6"),        // unless it is asked to be
		expr("matchesPattern(note,'[%5C%5C%22]%5Cs%5Cw')", "5"), // a blank behind a quote
		expr("matchesPattern(name,'a*?')", "1 2 3 4 5 6 7 8 9 10 11 12 13"),
		expr("lines/$count($filter=qty gt 0) eq 1", "1 4"),
		expr("case(id eq 3:true,id gt 12:true)", "3 13"),
		expr("length(concat('a','b')) eq 2 and id eq 1", "1"),
		expr("'New' in (Test.Status'Sale','New')", "1 2 3 4 5 6 7 8 9 10 11 12 13"),
		expr("case(ok:null)", "-"),
		expr("duration'P1D' div ceiling(price) lt duration'PT3H' and id in (1,5)", "1 5"),
		expr("year(cast('x',Edm.Date)) eq null and case(ok:cast('x',Edm.Guid)) ne token", "1 2"),
		expr("substring(name,9223372036854775807) eq '' and id lt 3", "1 2"),
		expr("substring(name,id sub 4,id) eq 'v'", "1"),
		expr("seen sub duration'PT23H59M59.5S' eq 2024-02-29T00:00:00Z", "1"),
	}
}

// shared are any and all over the collections of a target that several rows share, or that a row does not have.
func shared() []check {
	return []check{
		expr("parent/children/any()", "2 3 4 5"),
		expr("parent/children/any(c:c/name eq 'ANVIL')", "2 3"),
		expr("not parent/children/any(c:c/name eq 'ANVIL')", "1 4 5 6 7 8 9 10 11 12 13"),
		expr("parent/children/any(c:c/name eq 'ANVIL') eq false", "1 4 5 6 7 8 9 10 11 12 13"),
		expr("parent/children/all(c:c/ok)", "1 4 6 7 8 9 10 11 12 13"),
		expr("parent/children/all(c:c/ok) ne true", "2 3 5"),
		expr("parent/tags/any(t:t/label eq 'quote')", "2 3"),
		expr("parent/tags/all(t:t/code ne 'B')", "1 4 5 6 7 8 9 10 11 12 13"),
		expr("parent/children/any(c:c/id gt id)", "2"),
		expr("parent/children/any(c:c/lines/any(l:l/qty eq 1))", "4"),
		expr("parent/children/any(c:c/parent/parent/id eq 1)", "4"),
		expr("parent/children/any(c:c/parent/children/any(d:d/name eq 'ANVIL'))", "2 3"),
		expr("parent/children/$filter(id eq 3)/any(c:c/ok eq null)", "2 3"),
		expr("$root/Things(2)/parent/children/any(c:c/name eq 'ANVIL') and id lt 3", "1 2"),
		expr("not $root/Things(1)/parent/children/any() and id eq 1", "1"),
	}
}

// order are orders, each with the key behind it: nulls first ascending, last
// descending, text by code point.
func order() []check {
	by := func(orderby, ids string) check {
		return check{name: orderby, target: "Things?$orderby=" + orderby, ids: ids}
	}
	return []check{
		by("name", "6 9 3 1 11 10 2 13 12 4 5 8 7"),
		by("name desc", "7 8 5 4 12 13 2 10 11 1 3 9 6"),
		by("price", "6 8 3 2 11 10 12 13 7 1 5 9 4"),
		by("price desc", "4 9 1 5 7 13 12 10 11 2 3 6 8"),
		by("price desc,id desc", "4 9 5 1 7 13 12 10 11 2 3 8 6"),
		by("ok desc,born", "1 4 5 2 3 6 7 8 9 10 11 12 13"),
		by("big", "6 7 8 9 10 11 12 13 2 5 3 4 1"),
		by("weight desc", "3 1 4 2 5 6 7 8 9 10 11 12 13"),
		by("length(name) desc,id", "7 12 1 2 3 4 5 8 13 9 11 10 6"),
		by("parent/name desc,id", "5 4 2 3 1 6 7 8 9 10 11 12 13"),
		by("lines/$count desc", "1 2 4 3 5 6 7 8 9 10 11 12 13"),
		by("home/city", "3 5 6 7 8 9 10 11 12 13 1 4 2"),
		by("Status", "3 6 7 8 9 10 11 12 13 1 4 2 5"),
		by("born&$filter=born ne null", "5 2 1 4"),
		by("id desc&$top=3&$skip=2", "11 10 9"),
		by("floor(id) desc&$select=id&$top=2", "13 12"), // both items of the order are one column
		by("id,id", "1 2 3 4 5 6 7 8 9 10 11 12 13"),
		by("id desc,id", "13 12 11 10 9 8 7 6 5 4 3 2 1"),
		by("price,price desc,price&$filter=price gt 10", "7 1 5 9 4"),
		by("toupper(name),toupper(name) desc,id&$filter=id lt 4", "1 2 3"),
		by("price mul 2 desc,price mul 2&$filter=id le 4", "4 1 2 3"),
		by("p,p desc,price mul 2&$compute=price mul 2 as p&$filter=id le 4", "3 2 1 4"),
		by("q desc,p,q&$compute=price mul 2 as p,p add p as q&$filter=id le 4", "4 1 2 3"),
		by("name,name desc&$search=anvil", "3 1 2"),
		by("parent/name,parent/name,id&$filter=id le 4", "1 2 3 4"),
		by("lines/$count,lines/$count desc,id&$filter=id le 3", "3 2 1"),
		by("1,1,id desc&$filter=id le 3", "3 2 1"),
	}
}
