package odatatest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// keyLinks checks that pages whose links carry tokens are the rows of one big request, for every type of value that rows are
// ordered by, ascending and descending.
func keyLinks(t *testing.T, h http.Handler) {
	orders := []string{
		"id", "name", "note", "price", "weight", "big", "ok", "born", "seen", "opens", "token", "data", "Status", "home/city", "parent/name", "parent/price",
		"length(name)", "tolower(name)", "price mul 3", "weight mul 3", "price gt 1", "year(born)", "date(seen)", "children/$count", "parent_id", "name eq null",
	}
	var targets []string
	for i, o := range orders {
		targets = append(targets, "Things?$orderby="+o, "Things?$orderby="+o+" desc", "Things?$orderby="+o+" desc,"+orders[(i+3)%len(orders)]+"&$select=id")
	}
	targets = append(
		targets, "Things", "Things?$skip=2", "Things?$count=true&$orderby=name&$skip=3", "Things?$filter=price gt 0&$orderby=price desc", "Things?$search=a&$orderby=note",
		"Things?$compute=price mul 2 as twice,length(name) as size&$orderby=size desc,twice", "Things?$expand=children($select=id;$top=9),lines($top=9)&$orderby=parent/name desc",
		"Things?$filter=name ne @n&$orderby=name&@n='Anvil'", "Things/$ref?$orderby=price", "Things/$filter(id gt 2)?$orderby=note", "Things(1)/children?$orderby=name desc",
		"Things(1)/lines?$orderby=qty", "Lines", "Lines?$orderby=qty desc", "Lines?$orderby=line_no desc,order_no", "Lines?$orderby=thing/name,qty desc", "Tags", "Tags?$orderby=label desc",
		"Tags?$orderby=code desc", "Devices?$orderby=name", "Devices?$orderby=guid desc", "Marks", "Marks?$orderby=mark desc", "Cheap?$orderby=price", "Odd_Names?$orderby=first_name", "Mine", "Mine?$orderby=name desc",
		"Things?$apply=groupby((home/city,ok),aggregate($count as n))", "Things?$apply=groupby((note),aggregate(price with sum as s))&$orderby=s desc",
		"Things?$apply=filter(id gt 1)/compute(price mul 2 as twice)&$orderby=twice desc", "Things?$apply=topcount(9,price)&$orderby=name",
		"Things?"+doubling("id add id", "add", 41)+"&$select=id,a41&$orderby=a41 desc", "Things?$apply=compute(id as a0)"+quadrupling(19)+"&$orderby=a19,id",
		"Things?$apply=concat(groupby((ok),aggregate($count as n)),aggregate($count as n))",
	)
	for _, target := range targets {
		w := get(h, escape(target), "ada")
		if w.Code != http.StatusOK {
			t.Errorf("GET %s gives %d: %.300s", target, w.Code, w.Body)
			continue
		}
		sign := "?"
		if strings.Contains(target, "?") {
			sign = "&"
		}
		want := read(t, h, escape(target+sign+"$top=1000")).Value
		for _, size := range []int{1, 3} {
			if got := walk(t, h, escape(target), size); !slices.EqualFunc(got, want, sameJSON) {
				t.Errorf("GET %s in pages of %d gives\n%s, want\n%s", target, size, got, want)
			}
		}
		d := read(t, h, escape(target), "Prefer", "maxpagesize=1")
		if counted := strings.Contains(d.Next, "$skip="); len(want) > 1 && counted != strings.Contains(target, "concat") {
			t.Errorf("GET %s leads to %s", target, d.Next)
		}
	}
}

// nestedKeyLinks checks the tokens of expanded collections, in pages of one row.
func nestedKeyLinks(t *testing.T, h http.Handler) {
	for _, options := range []string{
		"", "$orderby=name desc", "$orderby=price;$filter=id ne 3", "$orderby=note;$select=id", "$search=a", "$filter=name ne @n;$orderby=name desc", "$expand=lines($orderby=qty);$count=true",
	} {
		target := "Things?$expand=children(" + options + ")&$filter=id le 2&@n='none'"
		whole := strings.Replace(target, "children(", "children($top=1000;", 1) + "&$top=1000"
		var want, got []json.RawMessage
		for _, row := range read(t, h, escape(strings.Replace(whole, ";)", ")", 1))).Value {
			rows, _ := childrenOf(t, row)
			want = append(want, rows...)
		}
		for link := escape(strings.Replace(target, "()", "", 1)); link != ""; {
			d := read(t, h, link)
			link = strings.TrimPrefix(d.Next, base+"/odata/")
			for _, row := range d.Value {
				rows, next := childrenOf(t, row)
				got = append(got, rows...)
				for next != "" {
					if !strings.Contains(next, "$skiptoken=") {
						t.Errorf("GET %s leads to %s", target, next)
					}
					below := read(t, h, strings.TrimPrefix(next, base+"/odata/"))
					got, next = append(got, below.Value...), below.Next
				}
			}
		}
		if len(want) == 0 || !slices.EqualFunc(got, want, sameButNested) {
			t.Errorf("GET %s by its links gives\n%s, want\n%s", target, got, want)
		}
	}
}

func childrenOf(t *testing.T, row json.RawMessage) (rows []json.RawMessage, next string) {
	t.Helper()
	var parent struct {
		Rows []json.RawMessage `json:"children"`
		Next string            `json:"children@odata.nextLink"`
	}
	if err := json.Unmarshal(row, &parent); err != nil {
		t.Fatal(err)
	}
	return parent.Rows, parent.Next
}

// sameButNested compares rows without what they expand, which has pages of its own.
func sameButNested(a, b json.RawMessage) bool {
	before, _, _ := strings.Cut(string(a), `,"lines`)
	other, _, _ := strings.Cut(string(b), `,"lines`)
	return strings.TrimSuffix(before, "}") == strings.TrimSuffix(other, "}")
}
