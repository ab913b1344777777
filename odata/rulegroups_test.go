package odata_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
)

// part is a request of an atomicity group that takes any state of its row.
func part(id, method, url, body string) string {
	if body == "" {
		return fmt.Sprintf(`{"id":%q,"atomicityGroup":"g","method":%q,"url":%q,"headers":{"if-match":"*"}}`, id, method, url)
	}
	return fmt.Sprintf(`{"id":%q,"atomicityGroup":"g","method":%q,"url":%q,"headers":{"content-type":"application/json","if-match":"*"},"body":%s}`, id, method, url, body)
}

// upsert is part without If-Match.
func upsert(id, method, url, body string) string {
	return fmt.Sprintf(`{"id":%q,"atomicityGroup":"g","method":%q,"url":%q,"body":%s}`, id, method, url, body)
}

func grouped(t *testing.T, s *ruled, parts ...string) (replies map[string]reply, statuses string) {
	t.Helper()
	replies = jsonBatch(t, s, `{"requests":[`+strings.Join(parts, ",")+`]}`)
	var list []string
	for _, id := range []string{"a", "b", "c", "d"} {
		if r, ok := replies[id]; ok {
			list = append(list, fmt.Sprint(id, " ", r.Status))
		}
	}
	return replies, strings.Join(list, " ")
}

// Rules see all changes of a group in one call, before the transaction begins.
func TestRulesInGroups(t *testing.T) {
	t.Parallel()
	const open = `{"id":1,"status":"open","kind":null,"by":"bob"}`
	for name, tt := range map[string]struct {
		parts    []string
		statuses string
		want     []string
	}{
		"no rules": {[]string{part("a", "PATCH", "Notes(1)", `{"text":"x"}`)}, "a 200", nil},
		"behind one without": {[]string{part("a", "PATCH", "Notes(1)", `{"text":"x"}`), part("b", "PATCH", "Orders(1)", `{"status":"x"}`)}, "a 200 b 200", []string{
			`update Orders 1 ` + open + ` > {"id":1,"status":"x","kind":null,"by":"bob"}`,
		}},
		"two": {[]string{part("a", "PATCH", "Orders(1)", `{"status":"x"}`), part("b", "DELETE", "Tags('a')", "")}, "a 200 b 204", []string{
			`update Orders 1 ` + open + ` > {"id":1,"status":"x","kind":null,"by":"bob"}`, `delete Tags 'a' {"name":"a","text":null,"order":null} >`,
		}},
		"references": {[]string{
			upsert("a", "POST", "Orders", `{"kind":"k"}`), upsert("b", "POST", "$a/items", `{"line":1,"price":2}`), part("c", "PATCH", "$a", `{"status":"x"}`), part("d", "PATCH", "Tags('a')", `{"of@odata.bind":"$c"}`),
		}, "a 201 b 201 c 200 d 200", []string{
			`create Orders $1  > {"id":null,"status":null,"kind":"k","by":"ada"}`, `create Items $2  > {"order":"$1","line":1,"price":2,"note":null}`,
			`update Orders $1 {"id":null,"status":null,"kind":"k","by":"ada"} > {"id":null,"status":"x","kind":"k","by":"ada"}`,
			`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":null,"order":"$1"}`,
		}},
		"a reference from a row that has one": {[]string{
			upsert("a", "POST", "Orders", `{}`), upsert("b", "POST", "Tags", `{"name":"n","of@odata.bind":"$a"}`), part("c", "PATCH", "$b", `{"text":"x"}`), part("d", "DELETE", "$b", ""),
		}, "a 201 b 201 c 200 d 204", []string{
			`create Orders $1  > {"id":null,"status":null,"kind":null,"by":"ada"}`, `create Tags 'n'  > {"name":"n","text":null,"order":"$1"}`,
			`update Tags 'n' {"name":"n","text":null,"order":"$1"} > {"name":"n","text":"x","order":"$1"}`, `delete Tags 'n' {"name":"n","text":"x","order":"$1"} >`,
		}},
		"deep": {[]string{
			upsert("a", "POST", "Orders", `{"items":[{"line":1,"price":1}],"tags@odata.bind":["Tags('a')"]}`), part("b", "PATCH", "Tags('a')", `{"text":"x"}`), part("c", "PUT", "$a/status", `{"value":"y"}`),
		}, "a 201 b 200 c 200", []string{
			`create Orders $1  > {"id":null,"status":null,"kind":null,"by":"ada"}`, `create Items $2  > {"order":"$1","line":1,"price":1,"note":null}`,
			`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":null,"order":"$1"}`,
			`update Tags 'a' {"name":"a","text":null,"order":"$1"} > {"name":"a","text":"x","order":"$1"}`,
			`update Orders $1 {"id":null,"status":null,"kind":null,"by":"ada"} > {"id":null,"status":"y","kind":null,"by":"ada"}`,
		}},
		"links": {[]string{
			upsert("a", "POST", "Orders", `{}`), part("b", "POST", "$a/tags/$ref", `{"@odata.id":"Tags('a')"}`), part("c", "PUT", "Tags('a')/of/$ref", `{"@odata.id":"Orders(1)"}`),
		}, "a 201 b 204 c 204", []string{
			`create Orders $1  > {"id":null,"status":null,"kind":null,"by":"ada"}`,
			`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":null,"order":"$1"}`, `update Tags 'a' {"name":"a","text":null,"order":"$1"} > {"name":"a","text":null,"order":1}`,
		}},
		"upserts": {[]string{upsert("a", "PATCH", "Tags('n')", `{"text":"x"}`), part("b", "PATCH", "$a", `{"text":"y"}`), part("c", "DELETE", "Tags('n')", ""), upsert("d", "PUT", "Tags('n')", `{"text":"z","order":null}`)}, "a 201 b 200 c 204 d 201", []string{
			`create Tags 'n'  > {"name":"n","text":"x","order":null}`, `update Tags 'n' {"name":"n","text":"x","order":null} > {"name":"n","text":"y","order":null}`,
			`delete Tags 'n' {"name":"n","text":"y","order":null} >`, `create Tags 'n'  > {"name":"n","text":"z","order":null}`,
		}},
		"by navigation": {[]string{part("a", "PATCH", "Items(order=1,line=1)/of", `{"status":"x"}`), part("b", "PATCH", "Items(order=1,line=1)/of", `{"status":"y"}`)}, "a 200 b 200", []string{
			`update Orders 1 ` + open + ` > {"id":1,"status":"x","kind":null,"by":"bob"}`, `update Orders 1 {"id":1,"status":"x","kind":null,"by":"bob"} > {"id":1,"status":"y","kind":null,"by":"bob"}`,
		}},
		"a certain fault":        {[]string{part("a", "PATCH", "Orders(9)", `{"status":"x"}`), part("b", "PATCH", "Tags('a')", `{"text":"x"}`)}, "a 412 b 424", nil},
		"a certain fault behind": {[]string{part("a", "PATCH", "Tags('a')", `{"text":"x"}`), part("b", "PATCH", "Orders(1)", `{"status":5}`)}, "a 424 b 400", nil},
		"a row that is gone":     {[]string{part("a", "DELETE", "Tags('a')", ""), part("b", "PATCH", "Tags('a')", `{"text":"x"}`)}, "a 424 b 412", nil},
		"below a new row": {[]string{upsert("a", "POST", "Orders", `{"items":[{"line":1,"price":1}],"tags@odata.bind":["Tags('a')"]}`), part("b", "PATCH", "$a/tags('a')", `{"text":"x"}`), part("c", "DELETE", "$a/tags('a')/$ref", "")}, "a 201 b 200 c 204", []string{
			`create Orders $1  > {"id":null,"status":null,"kind":null,"by":"ada"}`, `create Items $2  > {"order":"$1","line":1,"price":1,"note":null}`,
			`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":null,"order":"$1"}`, `update Tags 'a' {"name":"a","text":null,"order":"$1"} > {"name":"a","text":"x","order":"$1"}`,
			`update Tags 'a' {"name":"a","text":"x","order":"$1"} > {"name":"a","text":"x","order":null}`,
		}},
		"by a row without a key":                   {[]string{upsert("a", "POST", "Orders", `{"items":[{"line":1,"price":1}]}`), part("b", "PATCH", "$a/items(order=3,line=1)", `{"price":2}`)}, "a 424 b 501", nil},
		"by a row without a key that is not there": {[]string{upsert("a", "POST", "Orders", `{"items":[{"line":1,"price":1}]}`), part("b", "PATCH", "$a/items(order=3,line=2)", `{"price":2}`)}, "a 424 b 412", nil},
		"through a new row":                        {[]string{upsert("a", "POST", "Orders", `{}`), part("b", "PATCH", "Tags('a')", `{"of@odata.bind":"$a"}`), part("c", "PATCH", "Tags('a')/of", `{"status":"x"}`)}, "a 424 b 424 c 501", nil},
		"through a row that moves": {[]string{part("a", "PATCH", "Tags('b')", `{"order":2}`), part("b", "PATCH", "Tags('b')/of", `{"status":"x"}`)}, "a 424 b 501", []string{
			`update Tags 'b' {"name":"b","text":null,"order":1} > {"name":"b","text":null,"order":2}`, `update Orders 1 ` + open + ` > {"id":1,"status":"x","kind":null,"by":"bob"}`,
		}},
	} {
		s := newRuled(t, nil)
		if w := request(s, "POST", "Tags", `{"name":"b","order":1}`); w.Code != 201 {
			t.Fatal(w.Body)
		}
		s.asked, s.told = nil, nil
		_, statuses := grouped(t, s, tt.parts...)
		var got []string
		for _, list := range s.asked {
			got = append(got, proposed(list)...)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || statuses != tt.statuses {
			t.Errorf("%s: %s, asked %d times: %s", name, statuses, len(s.asked), diff)
		}
		if tt.want != nil && len(s.asked) != 1 {
			t.Errorf("%s: asked %d times", name, len(s.asked))
		}
		if strings.Contains(tt.statuses, " 4") != (s.told == nil) {
			t.Errorf("%s: %v was written", name, s.told)
		}
	}
}

// What rules say about a group is said of the requests that it is about, and holds for all of them.
func TestVerdictsOfGroups(t *testing.T) {
	t.Parallel()
	two := []string{upsert("a", "POST", "Orders", `{}`), upsert("b", "POST", "$a/items", `{"line":1,"price":1}`), part("c", "PATCH", "$a", `{"status":"x"}`), part("d", "PATCH", "Notes(1)", `{"text":"y"}`)}
	for name, tt := range map[string]struct {
		verdict  func(int, []odata.Proposal) (odata.Verdict, error)
		statuses string
		of, in   string
		log      string
	}{
		"accepted":                   {nil, "a 201 b 201 c 200 d 200", "a", `"status":"open"`, ""},
		"refused":                    {refuses(odata.Objection{Change: 1, Property: "price", Message: "No."}), "a 424 b 422 c 424 d 424", "b", `"@Core.ContentID":"b","code":"refused","message":"No.","target":"price"}]`, ""},
		"refused twice":              {refuses(odata.Objection{Change: 0, Message: "No."}, odata.Objection{Change: 2, Property: "status", Message: "Nor."}), "a 422 b 424 c 422 d 424", "c", `"message":"Nor."`, ""},
		"amended":                    {amends(1, "price", "7.5"), "a 201 b 201 c 200 d 200", "b", `"price":7.5`, ""},
		"amended behind a reference": {amends(2, "status", `"checked"`), "a 201 b 201 c 200 d 200", "c", `"status":"checked"`, ""},
		"amended into the filter":    {amends(2, "status", `"locked"`), "a 424 b 424 c 403 d 424", "c", "row_not_allowed", ""},
		"amends a link":              {amends(1, "order", `5`), "a 424 b 503 c 424 d 424", "b", "unavailable", `change 1, the create of Items($2), property \"order\"`},
		"amends what is fixed":       {amends(2, "kind", `"x"`), "a 424 b 424 c 503 d 424", "c", "unavailable", `change 2, the update of Orders($1), property \"kind\": it may not be written`},
		"refuses elsewhere":          {refuses(odata.Objection{Change: 3}), "a 503 b 424 c 424 d 424", "a", "unavailable", "change 3"},
		"fails":                      {func(int, []odata.Proposal) (odata.Verdict, error) { return odata.Verdict{}, errors.New("it died") }, "a 503 b 424 c 424 d 424", "a", "unavailable", "it died"},
	} {
		s := newRuled(t, tt.verdict)
		replies, statuses := grouped(t, s, two...)
		body, err := json.Marshal(replies[tt.of].Body)
		if err != nil {
			t.Fatal(err)
		}
		if statuses != tt.statuses || !strings.Contains(string(body), tt.in) && !strings.Contains(fmt.Sprint(replies[tt.of].Body), tt.in) || !strings.Contains(s.log.String(), tt.log) || len(s.asked) != 1 {
			t.Errorf("%s: %s %s, asked %d times; log: %s", name, statuses, body, len(s.asked), &s.log)
		}
		if strings.Contains(statuses, " 4") || strings.Contains(statuses, " 5") {
			if s.told != nil || s.begun() != 0 && name != "amended into the filter" {
				t.Errorf("%s: %v was written in %d transactions", name, s.told, s.begun())
			}
		}
	}
}

// Rules that amend a row which a later change of the group is about see that change anew, of the row as they have amended it.
func TestAmendedRowsAreJudgedAnew(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		amend    func(n int, status any) string
		asked    int
		statuses string
	}{
		"once":      {func(int, any) string { return "open" }, 2, "a 424 b 422"},
		"by itself": {func(_ int, status any) string { return fmt.Sprint(status) }, 1, "a 201 b 200"},
		"for ever":  {func(n int, _ any) string { return fmt.Sprint(n) }, 3, "a 503 b 424"},
	} {
		s := newRuled(t, nil)
		s.verdict = func(n int, list []odata.Proposal) (v odata.Verdict, err error) {
			var old, made struct{ Status any }
			if err := errors.Join(json.Unmarshal(list[0].New, &made), json.Unmarshal(list[1].Old, &old)); err != nil {
				t.Fatal(err)
			}
			v.Amended = []odata.Amendment{{Property: "status", Value: fmt.Appendf(nil, "%q", tt.amend(n, made.Status))}}
			if old.Status != "paid" {
				v.Refused = []odata.Objection{{Change: 1, Property: "status", Message: "No."}}
			}
			if name == "for ever" {
				v.Refused = nil
			}
			return v, nil
		}
		replies, statuses := grouped(t, s, upsert("a", "POST", "Orders", `{"status":"paid"}`), part("b", "PATCH", "$a", `{"status":"sent"}`))
		if statuses != tt.statuses || len(s.asked) != tt.asked || strings.Contains(statuses, "4") != (s.told == nil) {
			t.Errorf("%s: %s %v, asked %d times", name, statuses, replies, len(s.asked))
		}
	}
}

// A group whose rows change while it is judged is judged anew, as a whole.
func TestRowsOfGroupsMoveWhileRulesJudge(t *testing.T) {
	t.Parallel()
	for moves, want := range map[int]string{0: "a 200 b 200", 1: "a 200 b 200", 2: "a 200 b 200", 3: "a 424 b 409"} {
		s := newRuled(t, nil)
		asked := 0
		s.verdict = func(_ int, list []odata.Proposal) (odata.Verdict, error) {
			if len(list) < 2 {
				return odata.Verdict{}, nil
			}
			if asked++; asked <= moves {
				if w := request(s, "PATCH", "Tags('a')", fmt.Sprintf(`{"text":"moved %d"}`, asked), anyTag...); w.Code != 200 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
			return odata.Verdict{}, nil
		}
		replies, statuses := grouped(t, s, part("a", "PATCH", "Orders(1)", `{"status":"mine"}`), part("b", "PATCH", "Tags('a')", `{"text":"mine"}`))
		if statuses != want || asked != min(moves+1, 3) {
			t.Errorf("%d moves: %s %v, asked %d times", moves, statuses, replies["b"].Body, asked)
		}
		if got := request(s, "GET", "Orders(1)/status", "").Body.String(); strings.Contains(got, "mine") != (moves < 3) {
			t.Errorf("%d moves: %s", moves, got)
		}
	}
}

// A group that had its effect is answered without rules.
func TestRulesAndRepeatedGroups(t *testing.T) {
	t.Parallel()
	s := newRuled(t, nil)
	h := repeatHeaders()
	with := strings.NewReplacer(`"if-match":"*"`, fmt.Sprintf(`"if-match":"*",%q:%q,%q:%q`, h[0], h[1], h[2], h[3]))
	parts := []string{with.Replace(part("a", "PATCH", "Orders(1)", `{"status":"x"}`)), with.Replace(part("b", "PATCH", "Tags('a')", `{"text":"x"}`))}
	for range 2 {
		if replies, statuses := grouped(t, s, parts...); statuses != "a 200 b 200" {
			t.Errorf("%s %v", statuses, replies)
		}
	}
	if len(s.asked) != 1 || len(s.told) != 2 {
		t.Errorf("rules were asked %d times, and %v was written", len(s.asked), s.told)
	}
}

// A group whose rows are longer than rules get, or that has too many changes, is refused before.
func TestLongGroups(t *testing.T) {
	t.Parallel()
	s := newRuled(t, nil)
	var parts []string
	for _, id := range []string{"a", "b"} {
		if w := request(s, "PUT", "Tags('long_"+id+"')", fmt.Sprintf(`{"text":%q,"order":null}`, strings.Repeat("x", 900_000))); w.Code != 201 {
			t.Fatal(w.Body)
		}
		parts = append(parts, part(id, "PATCH", "Tags('long_"+id+"')", `{"order":1}`))
	}
	s.asked, s.told = nil, nil
	if _, statuses := grouped(t, s, parts...); statuses != "a 424 b 413" || s.asked != nil || s.told != nil {
		t.Errorf("%s, asked %d times", statuses, len(s.asked))
	}
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf(`{"line":%d,"price":1}`, i+10)
	}
	parts = nil
	for _, id := range []string{"a", "b", "c", "d"} {
		parts = append(parts, upsert(id, "POST", "Orders", `{"items":[`+strings.Join(many, ",")+`]}`))
	}
	if _, statuses := grouped(t, s, parts...); statuses != "a 424 b 424 c 424 d 413" || s.asked != nil || s.told != nil {
		t.Errorf("%s, asked %d times", statuses, len(s.asked))
	}
}
