package odatatest

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// document is a collection as a client reads it.
type document struct {
	Count *int64            `json:"@odata.count"`
	Value []json.RawMessage `json:"value"`
	Next  string            `json:"@odata.nextLink"`
}

func read(t *testing.T, h http.Handler, target string, header ...string) document {
	t.Helper()
	w := get(h, target, "ada", header...)
	var d document
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s gives %d: %.300s", target, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("GET %s: %v", target, err)
	}
	return d
}

// walk follows next links to the end and gives all rows.
func walk(t *testing.T, h http.Handler, target string, size int) []json.RawMessage {
	t.Helper()
	var rows []json.RawMessage
	for pages := 0; target != ""; pages++ {
		if pages > 100 {
			t.Fatal("the links do not end")
		}
		d := read(t, h, target, "Prefer", "odata.maxpagesize="+strconv.Itoa(size))
		if len(d.Value) > size || d.Next != "" && len(d.Value) != size {
			t.Fatalf("GET %s: a page of %d rows, want %d", target, len(d.Value), size)
		}
		rows = append(rows, d.Value...)
		target = strings.TrimPrefix(d.Next, base+"/odata/")
	}
	return rows
}

// pages checks, for random sets, filters, orders and page sizes, that following
// next links gives the rows of one big request.
func pages(t *testing.T, h http.Handler) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	for range 150 {
		target := pick("Things", "Things", "Mine", "Things(1)/children", "Cheap") + "?x=1"
		target += pick("", "", "&$filter="+pick("id gt 3", "name ne ''", "not (price gt 1)", "contains(name,'a')", "name ge 'Z'"))
		target += pick("", "&$orderby="+pick("name", "name desc", "price desc", "price", "length(name) desc,price"))
		target += pick("", "", "&$select=id,name", "&$count=true", "&$skip=2")
		if !strings.HasPrefix(target, "Cheap") {
			target += pick("", "", "", "&$expand=children($select=id)", "&$search=a")
		}
		if strings.HasPrefix(target, "Mine") {
			target = strings.NewReplacer("children", "below", "&$search=a", "").Replace(target)
		}
		target = escape(target)
		size := 1 + random.IntN(6)
		want := read(t, h, target+"&$top=1000").Value
		got := walk(t, h, target, size)
		if len(got) != len(want) {
			t.Errorf("GET %s in pages of %d: %d rows, want %d", target, size, len(got), len(want))
			continue
		}
		for i := range got {
			if string(got[i]) != string(want[i]) {
				t.Errorf("GET %s in pages of %d: row %d is\n%s, want\n%s", target, size, i, got[i], want[i])
				break
			}
		}
	}
}

// nestedPages checks the links of expanded collections, with a page size of 1.
func nestedPages(t *testing.T, h http.Handler) {
	body := func(target string) string {
		return get(h, escape(target), "", "Accept", "application/json;odata.metadata=none").Body.String()
	}
	first := body("Things(1)?$select=id&$expand=lines($orderby=qty desc;$select=qty;$count=true)")
	want := `{"id":1,"lines@odata.count":2,"lines":[{"qty":5}],"lines@odata.nextLink":"` + base +
		`/odata/Things(1)/lines?$orderby=qty%20desc&$select=qty&$count=true&$skip=1"}`
	if first != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	rest := body("Things(1)/lines?$orderby=qty desc&$select=qty&$count=true&$skip=1")
	if rest != `{"@odata.count":2,"value":[{"qty":-3}]}` {
		t.Errorf("the next page is %s", rest)
	}
	for _, target := range []string{"Things(2)?$select=id&$expand=lines($select=qty)", "Things(1)?$select=id&$expand=lines($select=qty;$top=1)"} {
		if got := body(target); strings.Contains(got, "nextLink") {
			t.Errorf("%s has a link without need: %s", target, got)
		}
	}
	all := 0
	for target := "Things(1)/lines?$select=qty"; target != ""; all++ {
		target = strings.TrimPrefix(read(t, h, target).Next, base+"/odata/")
	}
	if all != 2 {
		t.Errorf("%d pages of lines, want 2", all)
	}
}

// batchAnswers checks that a part of a batch gets what the request alone gets.
func batchAnswers(t *testing.T, h http.Handler) {
	targets := []string{
		"Things(1)", "Things?$top=2&$expand=lines", "Tags('it''s')", "Mine", "Mine(3)", "Settled", "Things?$filter=secret eq 's1'", "Nope", "Things/$count",
		"Things(1)/note", "Things(1)/mine", "Lines?$expand=old",
	}
	for _, as := range []string{"", "ada", "bob", "new"} {
		var requests []map[string]string
		for i, target := range targets {
			requests = append(requests, map[string]string{"id": strconv.Itoa(i), "method": "GET", "url": escape(target)})
		}
		body, err := json.Marshal(map[string]any{"requests": requests})
		if err != nil {
			t.Fatal(err)
		}
		w := send(h, http.MethodPost, "$batch", as, string(body), "Content-Type", "application/json", "Prefer", "continue-on-error")
		var doc struct {
			Responses []struct {
				Status int
				Body   json.RawMessage
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || len(doc.Responses) != len(targets) {
			t.Fatalf("%v, %d answers: %.300s", err, len(doc.Responses), w.Body)
		}
		for i, target := range targets {
			alone := get(h, escape(target), as)
			part := doc.Responses[i]
			if part.Status != alone.Code || alone.Code == 200 && strings.Trim(string(part.Body), `"`) != alone.Body.String() {
				t.Errorf("GET %s as %q: %d %.200s in a batch, %d %.200s alone", target, as, part.Status, part.Body, alone.Code, alone.Body)
			}
		}
	}
}
