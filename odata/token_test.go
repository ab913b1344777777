package odata_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
)

// keyed is a service over ten items, of which nine are of one group, with pages of three and links that carry tokens.
func keyed(t *testing.T, change func(*odata.Options)) *odata.Service {
	t.Helper()
	type Item struct {
		ID    int
		Group string
		Long  string
		Boss  *int
	}
	boss := 1
	var rows []Item
	for id := 1; id <= 10; id++ {
		rows = append(rows, Item{ID: id, Group: "g", Long: strings.Repeat("x", 5000) + fmt.Sprint(id%3), Boss: &boss})
	}
	rows[4].Group = "a b/ü"
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{
		{Name: "Items", Rows: rows, Navigations: []memory.Navigation{{Name: "Team", To: "Items", Many: true, On: map[string]string{"ID": "Boss"}}}},
		{Name: "Others", Rows: rows},
	}})
	if err != nil {
		t.Fatal(err)
	}
	o := odata.Options{Root: "/odata/", Limits: odata.Limits{PageSize: 3}, KeyLinks: true}
	if change != nil {
		change(&o)
	}
	s, err := odata.New(source.Model(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// follow gives the ids of all pages, joined by blanks, and the links between them.
func follow(t *testing.T, h http.Handler, target string, header ...string) (ids string, links []string) {
	t.Helper()
	for target != "" {
		w := get(t, h, target, header...)
		if w.Code != http.StatusOK || len(links) > 20 {
			t.Fatalf("GET %s gives %d %s", target, w.Code, w.Body)
		}
		p := pageOf(t, w.Body.String())
		for _, row := range p.Value {
			ids += fmt.Sprintf("%d ", row.ID)
		}
		target = strings.TrimPrefix(p.Next, "http://h")
		links = append(links, p.Next)
	}
	return strings.TrimSpace(ids), links[:len(links)-1]
}

// TestTokenLinks walks by tokens and looks at the links.
func TestTokenLinks(t *testing.T) {
	t.Parallel()
	s := keyed(t, nil)
	tests := []struct {
		name, target, ids, begins string // begins is how each link does
		header                    []string
	}{
		{"nothing else", "/odata/Items", "1 2 3 4 5 6 7 8 9 10", "/odata/Items?$skiptoken=", nil},
		{"as it was sent", "/odata/Items?$orderby=Group%20desc&x=a%2Bb&%24select=ID", "1 2 3 4 6 7 8 9 10 5", "/odata/Items?$orderby=Group%20desc&x=a%2Bb&%24select=ID&$skiptoken=", nil},
		{"$skip counts once", "/odata/Items?$skip=2&$orderby=ID%20desc", "8 7 6 5 4 3 2 1", "/odata/Items?$orderby=ID%20desc&$skiptoken=", nil},
		{"the number of all", "/odata/Items?$count=true", "1 2 3 4 5 6 7 8 9 10", "/odata/Items?$count=true&$skiptoken=", nil},
		{"spellings of 4.01", "/odata/Items?OrderBy=ID%20desc&Skip=1", "9 8 7 6 5 4 3 2 1", "/odata/Items?OrderBy=ID%20desc&$skiptoken=", []string{"OData-MaxVersion", "4.01"}},
		{"related rows", "/odata/Items(1)/Team?$filter=ID%20gt%203", "4 5 6 7 8 9 10", "/odata/Items(1)/Team?$filter=ID%20gt%203&$skiptoken=", nil},
		{"sort values that are long", "/odata/Items?$orderby=Long&$select=ID", "3 6 9 1 4 7 10 2 5 8", "/odata/Items?$orderby=Long&$select=ID&$skiptoken=", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second time plans are known
				ids, links := follow(t, s, tt.target, tt.header...)
				if ids != tt.ids {
					t.Errorf("%s gives %s, want %s", tt.target, ids, tt.ids)
				}
				for _, link := range links {
					option, ok := strings.CutPrefix(link, "http://h"+tt.begins)
					if !ok || strings.ContainsAny(option, "&?%=") || len(option) > 100 {
						t.Errorf("the link %s, want one that begins with %s", link, tt.begins)
					}
				}
			}
		})
	}
}

// TestTokens asks for pages by tokens of other requests, and by what is none.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := keyed(t, nil)
	_, links := follow(t, s, "/odata/Items?$orderby=Group&$filter=ID%20gt%200")
	_, token, _ := strings.Cut(links[0], "$skiptoken=")
	const other, none = "this $skiptoken belongs to another request: follow @odata.nextLink as it was sent, or start again without $skiptoken", "this $skiptoken is none of this service: follow @odata.nextLink as it was sent, or start again without $skiptoken"
	tests := []struct{ name, target, message string }{
		{"the options in another order", "Items?$skiptoken=TOKEN&$filter=ID%20gt%200&$orderby=Group", ""},
		{"the options encoded in another way", "%49tems?%24filter=ID+gt+0&$orderby=%47roup&$skiptoken=TOKEN", ""},
		{"other columns, a number and custom options", "Items?$filter=ID%20gt%200&$orderby=Group&$select=ID&$count=true&$format=json&_=1&$skiptoken=TOKEN", ""},
		{"another set", "Others?$orderby=Group&$filter=ID%20gt%200&$skiptoken=TOKEN", other},
		{"another path to it", "Items(1)/Team?$orderby=Group&$filter=ID%20gt%200&$skiptoken=TOKEN", other},
		{"another filter", "Items?$orderby=Group&$filter=ID%20gt%201&$skiptoken=TOKEN", other},
		{"no filter", "Items?$orderby=Group&$skiptoken=TOKEN", other},
		{"another order", "Items?$orderby=Group%20desc&$filter=ID%20gt%200&$skiptoken=TOKEN", other},
		{"$top", "Items?$orderby=Group&$filter=ID%20gt%200&$top=5&$skiptoken=TOKEN", other},
		{"$compute", "Items?$orderby=Group&$filter=ID%20gt%200&$compute=ID%20add%201%20as%20More&$skiptoken=TOKEN", other},
		{"$skip", "Items?$orderby=Group&$filter=ID%20gt%200&$skip=3&$skiptoken=TOKEN", "$skip does not go with $skiptoken, which has passed over those rows: leave $skip out"},
		{"a byte less", "Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken=" + token[:len(token)-2], none},
		{"a byte more", "Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken=TOKENAA", none},
		{"a line end", "Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken=TOKEN%0A", none},
		{"padding", "Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken=TOKEN%3D", none},
		{"another version", "Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken=Ag" + token[2:], none},
		{"no token", "Items?$skiptoken=3", none},
		{"an empty token and a custom option", "Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken=&_=1", "$skiptoken needs a value"},
		{"twice", "Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken=TOKEN&$skiptoken=TOKEN", "the option $skiptoken is given twice"},
		{"a number", "Items/$count?$skiptoken=TOKEN", "$skiptoken does not apply to this resource"},
		{"an entity", "Items(1)?$skiptoken=TOKEN", "$skiptoken does not apply to this resource"},
		{"inside $expand", "Items?$expand=Team($skiptoken=TOKEN)", "the option $skiptoken cannot stand here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := get(t, s, "/odata/"+strings.ReplaceAll(tt.target, "TOKEN", token))
			var fault struct {
				Error struct{ Code, Message, Target string }
			}
			if tt.message == "" {
				if p := pageOf(t, w.Body.String()); w.Code != http.StatusOK || len(p.Value) != 3 || p.Value[0].ID != 3 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				return
			}
			if err := json.Unmarshal(w.Body.Bytes(), &fault); err != nil || w.Code != http.StatusBadRequest || !strings.HasPrefix(fault.Error.Message, tt.message) {
				t.Errorf("%d %s, want %s", w.Code, w.Body, tt.message)
			}
			if strings.HasPrefix(tt.message, "this") && fault.Error.Target != "$skiptoken" {
				t.Errorf("the fault is of %q", fault.Error.Target)
			}
		})
	}
	counting := keyed(t, func(o *odata.Options) { o.KeyLinks = false })
	if w := get(t, counting, "/odata/Items?$orderby=Group&$filter=ID%20gt%200&$skiptoken="+token); w.Code != 400 || !strings.Contains(w.Body.String(), "the service hands out no $skiptoken") {
		t.Errorf("where links carry $skip: %d %s", w.Code, w.Body)
	}
}

// TestLongSortValues orders by texts that are too long for a token. They are read again from the row where the page ended,
// and a page that would not be exact is refused.
func TestLongSortValues(t *testing.T) {
	t.Parallel()
	type Row struct {
		ID    string
		Text  *string
		Owner int
	}
	long := func(n int) *string {
		s := strings.Repeat("ü", 3000) + fmt.Sprint(n)
		return &s
	}
	key := strings.Repeat("k", 4000)
	rows := []Row{{"a", long(2), 1}, {"b", long(1), 1}, {"c", long(1), 1}, {"d", nil, 1}, {"e", long(3), 1}, {"f", long(1), 2}, {key + "1", nil, 3}, {key + "2", nil, 3}}
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "Rows", Rows: rows}, {Name: "Mine", Rows: rows, Filter: "Owner eq 1"}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := odata.New(source.Model(), source, odata.Options{KeyLinks: true, Limits: odata.Limits{PageSize: 1}})
	if err != nil {
		t.Fatal(err)
	}
	page := func(target string) (ids []string, next string, code int) {
		w := get(t, s, target)
		var p struct {
			Value []Row
			Next  string `json:"@odata.nextLink"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		for _, row := range p.Value {
			ids = append(ids, row.ID)
		}
		return ids, strings.TrimPrefix(p.Next, "http://h"), w.Code
	}
	for target, want := range map[string]string{
		"/Mine?$orderby=Text": "d b c a e", "/Mine?$orderby=Text%20desc": "e a b c d", "/Rows?$orderby=concat('x',Text),ID%20desc&$filter=Owner%20le%202": "d f c b a e",
	} {
		var got []string
		for next := target; next != ""; {
			var ids []string
			if ids, next, _ = page(next); len(next) > 200 {
				t.Errorf("a link of %d bytes", len(next))
			}
			got = append(got, ids...)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s gives %s, want %s", target, got, want)
		}
	}
	if _, next, _ := page("/Rows?$filter=Owner%20eq%203"); !strings.HasSuffix(next, "&$skip=1") {
		t.Errorf("a key of 4 KB leads to %.200s", next)
	}
	_, second, _ := page("/Mine?$orderby=Text&$skip=1")
	change := func(row Row) int {
		changed := append([]Row{}, rows...)
		changed[1] = row
		if err := source.Replace("Mine", changed); err != nil {
			t.Fatal(err)
		}
		_, _, code := page(second)
		return code
	}
	for name, tt := range map[string]struct {
		row  Row
		code int
	}{
		"as it was": {rows[1], 200}, "another text": {Row{"b", long(9), 1}, 400}, "no text": {Row{"b", nil, 1}, 400}, "gone": {Row{"z", long(1), 1}, 400}, "not theirs": {Row{"b", long(1), 2}, 400},
	} {
		if code := change(tt.row); code != tt.code {
			t.Errorf("%s: %d, want %d", name, code, tt.code)
		}
	}
}

// TestTokensElsewhere walks by the links of CSV, of parts of a batch, and of POST to $query.
func TestTokensElsewhere(t *testing.T) {
	t.Parallel()
	s := keyed(t, nil)
	w := get(t, s, "/odata/Items?$select=ID&$orderby=Group", "Accept", "text/csv", "Prefer", "maxpagesize=4")
	link := strings.TrimSuffix(strings.TrimPrefix(w.Header().Get("Link"), "<http://h"), `>; rel="next"`)
	if !strings.HasPrefix(link, "/odata/Items?$select=ID&$orderby=Group&$skiptoken=") {
		t.Fatalf("the Link of a table: %s", w.Header())
	}
	if w := get(t, s, link, "Accept", "text/csv"); w.Body.String() != "\"ID\"\r\n4\r\n6\r\n7\r\n" {
		t.Errorf("the second page of a table: %s", w.Body)
	}
	part := jsonBatch(t, s, `{"requests":[{"id":"1","method":"GET","url":"Items?$orderby=ID%20desc"}]}`)["1"]
	body, err := json.Marshal(part.Body)
	if err != nil {
		t.Fatal(err)
	}
	if ids, _ := follow(t, s, strings.TrimPrefix(pageOf(t, string(body)).Next, "http://h")); ids != "7 6 5 4 3 2 1" {
		t.Errorf("behind the page of a batch: %s", ids)
	}
	posted := send(t, s, "POST", "/odata/Items/$query", "$orderby=ID desc", "Content-Type", "text/plain")
	if ids, _ := follow(t, s, strings.ReplaceAll(strings.TrimPrefix(pageOf(t, posted.Body.String()).Next, "http://h"), " ", "%20")); ids != "7 6 5 4 3 2 1" {
		t.Errorf("behind a posted query: %s", ids)
	}
	page := get(t, s, "/odata/Items?$select=ID&$filter=ID%20eq%201&$expand=Team($orderby=Group,ID%20desc;$select=ID)").Body.String()
	_, next, _ := strings.Cut(page, `"Team@odata.nextLink":"http://h`)
	next, _, _ = strings.Cut(next, `"`)
	if ids, _ := follow(t, s, next); ids != "8 7 6 4 3 2 1" || !strings.HasPrefix(next, "/odata/Items(1)/Team?$orderby=Group,ID%20desc&$select=ID&$skiptoken=") {
		t.Errorf("behind %s: %s of %s", next, ids, page)
	}
}

// TestTokensAreDescribed holds that the documents of the service tell of $skiptoken where links carry it, and only there.
func TestTokensAreDescribed(t *testing.T) {
	t.Parallel()
	for _, keys := range []bool{true, false} {
		s := keyed(t, func(o *odata.Options) { o.KeyLinks = keys })
		for _, document := range []string{"openapi.json", "$metadata"} {
			w := get(t, s, "/odata/"+document)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "$skiptoken") != keys {
				t.Errorf("%s with %t: %d", document, keys, w.Code)
			}
		}
	}
	tags := map[string]bool{}
	for _, keys := range []bool{true, false} {
		s := service(t, &versioned{numbers: numbers{total: 300, version: "a"}}, func(o *odata.Options, _ *edm.Model) { o.KeyLinks = keys })
		tags[get(t, s, "/odata/Numbers").Header().Get("ETag")] = true
	}
	if len(tags) != 2 || tags[""] {
		t.Errorf("answers with other links have the tags %v", tags)
	}
}

// TestAliasesInNestedLinks holds that the links of expanded collections carry the parameter aliases in force there, each once,
// and lead to the rest of the rows.
func TestAliasesInNestedLinks(t *testing.T) {
	t.Parallel()
	for _, keys := range []bool{true, false} {
		s := keyed(t, func(o *odata.Options) { o.KeyLinks = keys })
		for _, target := range []string{
			"Items?$top=1&$expand=Team($select=ID;$filter=Group eq @n)&@n='g'",
			"Items?$top=1&$expand=Team($select=ID;$filter=Group eq @n;@n='g')&@n='h'",
			"Items?$top=1&$expand=Team($top=1;$expand=Team($select=ID;$filter=Group eq @n);@n='g')",
			"Items?$top=1&$expand=Team($top=1;$expand=Team($select=ID;$filter=Group eq @n);@n='g')&@n='h'",
		} {
			page := get(t, s, "/odata/"+strings.ReplaceAll(target, " ", "%20")).Body.String()
			_, next, _ := strings.Cut(page, `"Team@odata.nextLink":"http://h`)
			next, _, _ = strings.Cut(next, `"`)
			if ids, _ := follow(t, s, next); ids != "4 6 7 8 9 10" || strings.Count(next, "@n=") != 1 {
				t.Errorf("%s leads to %s: %s", target, next, ids)
			}
		}
	}
}
