package odatatest

import (
	"net/http"
	"strings"
	"testing"
)

// tables are answers as CSV: the same bytes from every source.
func tables() []check {
	asCSV := []string{"Accept", "text/csv"}
	lines := func(list ...string) string {
		all := ""
		for _, s := range list {
			all += s + "\r\n"
		}
		return all
	}
	return []check{
		{name: "text and key", target: "Tags", header: asCSV, body: lines("code,label", "B,upper", "a,lower", "it's,quote", "x/y,slash", "ü %41,escape")},
		{name: "nulls, blanks, decimals", target: "Things?$select=id,name,note,price&$filter=id le 4&$format=csv", body: lines("id,name,note,price", "1,Anvil,,10.5000", `2,anvil,"",0.0000`, `3,ANVIL," ",-0.0001`, "4,Äpfel,it's,12345678.9999")},
		{name: "complex properties", target: "Things?$select=id,home&$filter=id le 3", header: asCSV, body: lines("id,home/street,home/city", "1,Main St,Bern", "2,,bern", "3,,")},
		{name: "as chosen", target: "Things?$select=home/city,note,home/street,id&$filter=id le 2", header: asCSV, body: lines("home/city,note,home/street,id", "Bern,,Main St,1", `bern,"",,2`)},
		{name: "a complex one as chosen", target: "Things?$select=home,id&$filter=id eq 1", header: asCSV, body: lines("home/street,home/city,id", "Main St,Bern,1")},
		{name: "as chosen inside", target: "Things?$select=id,home($select=city,street)&$filter=id eq 1", header: asCSV, body: lines("id,home/city,home/street", "1,Bern,Main St")},
		{name: "computed before", target: "Tags?$compute=concat('=',label) as formula&$select=formula,code&$top=1", header: asCSV, body: lines("formula,code", "'=upper,B")},
		{name: "groups as chosen", target: "Lines?$apply=groupby((order_no),aggregate(qty with sum as s))&$select=s,order_no&$top=1", header: asCSV, body: lines("s,order_no", "5,1")},
		{name: "computed", target: "Tags?$compute=concat('=',label) as formula&$select=code,formula&$top=1", header: asCSV, body: lines("code,formula", "B,'=upper")},
		{name: "one column", target: "Things?$select=note&$top=3", header: asCSV, body: lines("note", `""`, `""`, `" "`)},
		{name: "related", target: "Things(2)/children?$select=id,name", header: asCSV, body: lines("id,name", "4,Äpfel")},
		{name: "groups", target: "Things?$apply=filter(id le 4)/groupby((home/city),aggregate($count as n,id with sum as total))&$orderby=home/city", header: asCSV, body: lines("home/city,n,total", ",1,3", "Bern,1,1", "Ulm,1,4", "bern,1,2")},
		{name: "rows of several structures", target: "Things?$apply=filter(id le 2)/concat(groupby((id,name)),aggregate($count as n))", header: asCSV, body: lines("id,name,n", "1,Anvil,", "2,anvil,", ",,2")},
		{name: "expanded rows", target: "Things?$expand=children", header: asCSV, status: 406},
		{name: "one entity", target: "Things(1)", header: asCSV, status: 406},
		{name: "navigation alone", target: "Things?$select=children", header: asCSV, status: 406},
		{name: "a hidden column", target: "Things?$select=secret", header: asCSV, status: 400},
		{name: "rows of others", target: "Mine?$select=id", header: asCSV, as: "ada", body: lines("id", "1", "2", "5")},
		{name: "a guard", target: "Mine", header: asCSV, status: 401},
	}
}

// wholeTables checks that a table without $top has all rows, although pages have one.
func wholeTables(t *testing.T, h, ofOne http.Handler) {
	for _, target := range []string{
		"Things", "Things?$orderby=price desc&$select=id,price", "Things?$filter=id gt 2", "Things(1)/children", "Things?$search=a", "Mine?$select=id",
		"Things?$apply=groupby((home/city),aggregate($count as n))", "Things?$compute=id add 1 as next&$orderby=next desc", "Cheap", "Tags",
	} {
		sign := "?"
		if strings.Contains(target, "?") {
			sign = "&"
		}
		want := get(h, escape(target+sign+"$top=1000&$format=csv"), "ada")
		got := get(ofOne, escape(target+sign+"$format=csv"), "ada")
		if got.Code != http.StatusOK || got.Body.String() != want.Body.String() || strings.Count(got.Body.String(), "\n") < 2 {
			t.Errorf("GET %s as a table gives %d %s\nwant %s", target, got.Code, got.Body, want.Body)
		}
	}
}
