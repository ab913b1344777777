package odata_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
)

type ruledOrder struct {
	ID     int     `odata:"id,auto"`
	Status string  `odata:"status,default=open"`
	Kind   *string `odata:"kind"`
	By     string  `odata:"by,hide"`
	Secret string  `odata:"secret,hide,default=s"`
}

type ruledItem struct {
	Order int    `odata:"order,key"`
	Line  int    `odata:"line,key"`
	Price string `odata:"price,type=Decimal,precision=9,scale=2"`
	Note  *int   `odata:"note"`
}

type ruledTag struct {
	Name  string  `odata:"name,key"`
	Text  *string `odata:"text"`
	Order *int    `odata:"order"`
}

type ruledSlip struct {
	ID    int     `odata:"id,key"`
	Order *int    `odata:"order,unique"`
	Note  *string `odata:"note"`
}

// ruled is a service whose rules are a function. asked are the proposals of each call.
type ruled struct {
	http.Handler
	asked   [][]odata.Proposal
	verdict func(n int, list []odata.Proposal) (odata.Verdict, error)
	told    []odata.Written
	log     bytes.Buffer
	begun   func() int64
}

func newRuled(t *testing.T, verdict func(n int, list []odata.Proposal) (odata.Verdict, error)) *ruled {
	t.Helper()
	all := memory.Write{Create: true, Update: true, Delete: true, Validator: "rules"}
	orders, tags, plain := all, all, all
	orders.Set, orders.Fixed, orders.Filter = map[string]string{"by": "ada"}, []string{"kind"}, "status ne 'locked'"
	plain.Validator = ""
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{
		{Name: "Orders", Rows: []ruledOrder{{1, "open", nil, "bob", "s"}, {2, "locked", nil, "bob", "s"}}, Write: &orders, Navigations: []memory.Navigation{
			{Name: "items", To: "Items", Many: true, On: map[string]string{"id": "order"}, Partner: "of"},
			{Name: "tags", To: "Tags", Many: true, On: map[string]string{"id": "order"}, Partner: "of"},
			{Name: "slip", To: "Slips", On: map[string]string{"id": "order"}},
		}},
		{Name: "Items", Rows: []ruledItem{{1, 1, "2.50", nil}}, Write: &all, Navigations: []memory.Navigation{
			{Name: "of", To: "Orders", On: map[string]string{"order": "id"}, Foreign: true, Partner: "items"},
		}},
		{Name: "Tags", Rows: []ruledTag{{Name: "a"}}, Write: &tags, Navigations: []memory.Navigation{
			{Name: "of", To: "Orders", On: map[string]string{"order": "id"}, Foreign: true, Partner: "tags"},
		}},
		{Name: "Slips", Rows: []ruledSlip{{ID: 1}, {ID: 2}}, Write: &tags, Navigations: []memory.Navigation{
			{Name: "of", To: "Orders", On: map[string]string{"order": "id"}, Foreign: true},
		}},
		{Name: "Notes", Rows: []note{{ID: 1, Text: "one"}}, Write: &plain},
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := &flaky{Source: source}
	s := &ruled{verdict: verdict, begun: f.begun.Load}
	s.Handler, err = odata.New(source.Model(), f, odata.Options{
		Root: "/odata/", Base: func(*http.Request) string { return "http://h" },
		Logger: hclog.New(&hclog.LoggerOptions{Output: &s.log}),
		Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true, Client: "c", ID: "7"}, nil
		},
		Validate: func(_ context.Context, c odata.Caller, list []odata.Proposal) (odata.Verdict, error) {
			if f.open.Load() != 0 {
				t.Error("rules are asked while a transaction is open")
			}
			if c.ID != "7" {
				t.Errorf("rules are told of %+v", c)
			}
			s.asked = append(s.asked, list)
			if s.verdict == nil {
				return odata.Verdict{}, nil
			}
			return s.verdict(len(s.asked), list)
		},
		Written: func(_ context.Context, _ odata.Caller, rows []odata.Written) { s.told = append(s.told, rows...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := f.open.Load(); n != 0 {
			t.Errorf("%d transactions are open at the end", n)
		}
	})
	return s
}

// proposed are proposals in short: "create Orders $1 old > new".
func proposed(list []odata.Proposal) []string {
	var out []string
	for _, p := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s > %s", p.Kind, p.Set, p.Key, p.Old, p.New)))
	}
	return out
}

var anyTag = []string{"If-Match", "*"}

// What rules see of a change: the row before and behind it, with the visible properties and those that the service sets.
func TestProposals(t *testing.T) {
	t.Parallel()
	const open = `{"id":1,"status":"open","kind":null,"by":"bob"}`
	for name, tt := range map[string]struct {
		method, target, body string
		header               []string
		status               int
		want                 []string
	}{
		"create":            {"POST", "Orders", `{"kind":"x"}`, nil, 201, []string{`create Orders $1  > {"id":null,"status":null,"kind":"x","by":"ada"}`}},
		"update":            {"PATCH", "Orders(1)", `{"status":"paid","kind":"fixed"}`, anyTag, 200, []string{`update Orders 1 ` + open + ` > {"id":1,"status":"paid","kind":null,"by":"bob"}`}},
		"delete":            {"DELETE", "Orders(1)/items(order=1,line=1)", "", anyTag, 204, []string{`delete Items order=1,line=1 {"order":1,"line":1,"price":2.50,"note":null} >`}},
		"a property":        {"PUT", "Orders(1)/status", `{"value":"paid"}`, anyTag, 200, []string{`update Orders 1 ` + open + ` > {"id":1,"status":"paid","kind":null,"by":"bob"}`}},
		"by navigation":     {"PATCH", "Items(order=1,line=1)/of", `{"status":"paid"}`, anyTag, 200, []string{`update Orders 1 ` + open + ` > {"id":1,"status":"paid","kind":null,"by":"bob"}`}},
		"an upsert updates": {"PATCH", "Tags('a')", `{"text":"x"}`, anyTag, 200, []string{`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":"x","order":null}`}},
		"an upsert creates": {"PATCH", "Tags('b')", `{"text":"x"}`, nil, 201, []string{`create Tags 'b'  > {"name":"b","text":"x","order":null}`}},
		"deep": {"POST", "Orders", `{"status":"new","items":[{"line":1,"price":1.25},{"line":2,"price":3}],"tags":[{"name":"c"}],"tags@odata.bind":["Tags('a')"]}`, nil, 201, []string{
			`create Orders $1  > {"id":null,"status":"new","kind":null,"by":"ada"}`,
			`create Items $2  > {"order":"$1","line":1,"price":1.25,"note":null}`,
			`create Items $3  > {"order":"$1","line":2,"price":3,"note":null}`,
			`create Tags 'c'  > {"name":"c","text":null,"order":"$1"}`,
			`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":null,"order":"$1"}`,
		}},
		"below":                {"POST", "Orders(1)/items", `{"line":9,"price":1}`, nil, 201, []string{`create Items order=1,line=9  > {"order":1,"line":9,"price":1,"note":null}`}},
		"a link":               {"POST", "Orders(1)/tags/$ref", `{"@odata.id":"Tags('a')"}`, anyTag, 204, []string{`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":null,"order":1}`}},
		"no rules":             {"PATCH", "Notes(1)", `{"text":"x"}`, anyTag, 200, nil},
		"404":                  {"PATCH", "Orders(9)", `{"status":"x"}`, nil, 404, nil},
		"428":                  {"PATCH", "Orders(1)", `{"status":"x"}`, nil, 428, nil},
		"412":                  {"PATCH", "Orders(1)", `{"status":"x"}`, []string{"If-Match", `W/"1"`}, 412, nil},
		"403":                  {"PATCH", "Orders(2)", `{"status":"x"}`, anyTag, 403, nil},
		"422":                  {"PATCH", "Orders(1)", `{"status":null}`, anyTag, 422, nil},
		"a link by navigation": {"PATCH", "Tags('a')", `{"of@odata.bind":"Items(order=1,line=1)/of"}`, anyTag, 200, []string{`update Tags 'a' {"name":"a","text":null,"order":null} > {"name":"a","text":null,"order":1}`}},
		"409":                  {"PATCH", "Tags('a')", `{"of@odata.bind":"Items(order=1,line=8)/of"}`, anyTag, 409, nil},
	} {
		s := newRuled(t, nil)
		w := request(s, tt.method, tt.target, tt.body, tt.header...)
		var got []string
		for _, list := range s.asked {
			got = append(got, proposed(list)...)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || w.Code != tt.status || len(s.asked) > 1 {
			t.Errorf("%s: %d %s, asked %d times: %s", name, w.Code, w.Body, len(s.asked), diff)
		}
		if tt.status >= 400 && len(s.told) > 0 {
			t.Errorf("%s: %v was written", name, s.told)
		}
	}
}

func refuses(list ...odata.Objection) func(int, []odata.Proposal) (odata.Verdict, error) {
	return func(int, []odata.Proposal) (odata.Verdict, error) { return odata.Verdict{Refused: list}, nil }
}

func amends(change int, property, value string) func(int, []odata.Proposal) (odata.Verdict, error) {
	return func(int, []odata.Proposal) (odata.Verdict, error) {
		return odata.Verdict{Amended: []odata.Amendment{{Change: change, Property: property, Value: json.RawMessage(value)}}}, nil
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const deep = `{"items":[{"line":1,"price":1.25}]}`
	for name, tt := range map[string]struct {
		verdict              func(int, []odata.Proposal) (odata.Verdict, error)
		method, target, body string
		status               int
		in, log              string
	}{
		"refused":                  {refuses(odata.Objection{Property: "status", Message: "No."}), "PATCH", "Orders(1)", `{"status":"x"}`, 422, `"code":"refused","message":"No.","details":[{"code":"refused","message":"No.","target":"status"`, ""},
		"refused as a whole":       {refuses(odata.Objection{Message: "No."}), "DELETE", "Tags('a')", "", 422, `"details":[{"code":"refused","message":"No.","@Common`, ""},
		"refused for a hidden one": {refuses(odata.Objection{Property: "by", Message: "No."}), "PATCH", "Orders(1)", `{}`, 422, `"details":[{"code":"refused","message":"No.","@`, ""},
		"refused below":            {refuses(odata.Objection{Change: 1, Property: "price", Message: "No."}, odata.Objection{Message: "Nor."}), "POST", "Orders", deep, 422, `"message":"No.","target":"items/0/price"`, ""},
		"refused and amended": {func(int, []odata.Proposal) (odata.Verdict, error) {
			return odata.Verdict{Refused: []odata.Objection{{Message: "No."}}, Amended: []odata.Amendment{{Property: "status", Value: json.RawMessage(`"x"`)}}}, nil
		}, "PATCH", "Orders(1)", `{}`, 422, "No.", ""},
		"amended":                 {amends(0, "status", `"checked"`), "PATCH", "Orders(1)", `{"status":"x"}`, 200, `"status":"checked"`, ""},
		"added":                   {amends(0, "status", `"checked"`), "PATCH", "Orders(1)", `{}`, 200, `"status":"checked"`, ""},
		"amended in create":       {amends(0, "kind", `"checked"`), "POST", "Orders", `{}`, 201, `"kind":"checked"`, ""},
		"amended upsert":          {amends(0, "text", `"checked"`), "PUT", "Tags('z')", `{"text":"x","order":null}`, 201, `"text":"checked"`, ""},
		"amended property":        {amends(0, "status", `"checked"`), "PUT", "Orders(1)/status", `{"value":"x"}`, 200, `"value":"checked"`, ""},
		"amended below":           {amends(1, "price", `"7.5"`), "POST", "Orders", deep, 201, `"price":7.5`, ""},
		"amended to a number":     {amends(1, "price", `7.25`), "POST", "Orders", deep, 201, `"price":7.25`, ""},
		"amended into the filter": {amends(0, "status", `"locked"`), "PATCH", "Orders(1)", `{}`, 403, "row_not_allowed", ""},
		"amends a fixed one":      {amends(0, "kind", `"x"`), "PATCH", "Orders(1)", `{}`, 503, "unavailable", `change 0, the update of Orders(1), property \"kind\": it may not be written`},
		"amends a set one":        {amends(0, "by", `"x"`), "POST", "Orders", `{}`, 503, "", `property \"by\"`},
		"amends a hidden one":     {amends(0, "secret", `"x"`), "POST", "Orders", `{}`, 503, "", `property \"secret\": there is no such property`},
		"amends a key":            {amends(0, "name", `"x"`), "POST", "Tags", `{"name":"q"}`, 503, "", "no key"},
		"amends a link":           {amends(1, "order", `5`), "POST", "Orders", `{"tags":[{"name":"q"}]}`, 503, "", "a link of the request"},
		"amends to null":          {amends(0, "status", `null`), "PATCH", "Orders(1)", `{}`, 503, "", "cannot be null"},
		"amends a deletion":       {amends(0, "text", `null`), "DELETE", "Tags('a')", "", 503, "", "nothing to amend"},
		"amends with no JSON":     {amends(0, "status", `"x"}, "value": {`), "PATCH", "Orders(1)", `{}`, 503, "", "not JSON"},
		"amends another type":     {amends(0, "status", `5`), "PATCH", "Orders(1)", `{}`, 503, "", "needs a string"},
		"amends nothing":          {amends(0, "nope", `5`), "PATCH", "Orders(1)", `{}`, 503, "", "nope"},
		"amends elsewhere":        {amends(7, "status", `5`), "PATCH", "Orders(1)", `{}`, 503, "", "change 7"},
		"refuses elsewhere":       {refuses(odata.Objection{Change: -1}), "PATCH", "Orders(1)", `{}`, 503, "", "change -1"},
		"refuses no property":     {refuses(odata.Objection{Property: "secrets"}), "PATCH", "Orders(1)", `{}`, 503, "", "secrets"},
		"amends a secret":         {amends(1, "price", `"hunter2"`), "POST", "Orders", deep, 503, "", `property \"price\": price needs an Edm.Decimal"`},
		"busy": {func(int, []odata.Proposal) (odata.Verdict, error) {
			return odata.Verdict{}, &odata.Busy{Share: true, Limit: "l", Allowed: 3}
		}, "PATCH", "Orders(1)", `{}`, 429, "l is 3", ""},
		"fails": {func(int, []odata.Proposal) (odata.Verdict, error) { return odata.Verdict{}, errors.New("it died") }, "PATCH", "Orders(1)", `{}`, 503, "unavailable", "it died"},
	} {
		s := newRuled(t, tt.verdict)
		before := request(s, "GET", "Orders?$expand=items,tags", "").Body.String()
		header := []string{"Prefer", "return=representation"}
		if tt.method != "POST" && !strings.Contains(tt.target, "'z'") {
			header = append(header, anyTag...)
		}
		w := request(s, tt.method, tt.target, tt.body, header...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.in) || !strings.Contains(s.log.String(), tt.log) || len(s.asked) != 1 {
			t.Errorf("%s: %d %s, asked %d times; log: %s", name, w.Code, w.Body, len(s.asked), &s.log)
		}
		after := request(s, "GET", "Orders?$expand=items,tags", "").Body.String()
		if tt.status >= 400 && (after != before || s.told != nil) {
			t.Errorf("%s: something was written: %v, %s", name, s.told, after)
		}
		if strings.Contains(s.log.String()+w.Body.String(), "hunter2") {
			t.Errorf("%s: the log has a value: %s", name, &s.log)
		}
		if tt.status == 503 && strings.Contains(w.Body.String(), "died") {
			t.Errorf("%s: the client gets %s", name, w.Body)
		}
	}
}

// A row that changes between the question and the transaction is judged anew, three times at most.
func TestRowsMoveWhileRulesJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		moves, asked int
		tagged       bool
		status       int
	}{
		"never":        {0, 1, true, 200},
		"once":         {1, 2, false, 200},
		"twice":        {2, 3, false, 200},
		"three times":  {3, 3, false, 409},
		"once, tagged": {1, 2, true, 412},
	} {
		s := newRuled(t, nil)
		asked := 0
		s.verdict = func(_ int, list []odata.Proposal) (odata.Verdict, error) {
			if list[0].Key != "'a'" || strings.Contains(string(list[0].New), `"moved`) {
				return odata.Verdict{}, nil
			}
			if asked++; asked <= tt.moves {
				if w := request(s, "PATCH", "Tags('a')", fmt.Sprintf(`{"text":"moved %d"}`, asked), anyTag...); w.Code != 200 {
					t.Errorf("%s: %d %s", name, w.Code, w.Body)
				}
			}
			return odata.Verdict{}, nil
		}
		header := anyTag
		if tt.tagged {
			header = []string{"If-Match", request(s, "GET", "Tags('a')", "").Header().Get("ETag")}
		}
		w := request(s, "PATCH", "Tags('a')", `{"text":"mine"}`, header...)
		want := tt.asked
		if tt.tagged && tt.moves > 0 {
			want = 1 // the tag is another one before rules are asked again
		}
		if w.Code != tt.status || asked != want {
			t.Errorf("%s: %d %s, asked %d times", name, w.Code, w.Body, asked)
		}
		got := request(s, "GET", "Tags('a')/text", "").Body.String()
		if strings.Contains(got, "mine") != (tt.status == 200) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// An upsert is judged as what it does, also where the row comes or goes meanwhile.
func TestUpsertsMoveWhileRulesJudge(t *testing.T) {
	t.Parallel()
	var s *ruled
	s = newRuled(t, func(n int, _ []odata.Proposal) (odata.Verdict, error) {
		if n == 1 {
			if w := request(s, "POST", "Tags", `{"name":"n"}`); w.Code != 201 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		return odata.Verdict{}, nil
	})
	w := request(s, "PATCH", "Tags('n')", `{"text":"x"}`)
	var kinds []string
	for _, list := range s.asked {
		kinds = append(kinds, list[0].Kind)
	}
	if w.Code != 428 || !slices.Equal(kinds, []string{"create", "create"}) {
		t.Errorf("%d %s, asked about %v", w.Code, w.Body, kinds)
	}
}

// A link to the row at the end of another link is the one that rules have seen, with amendments and without.
func TestLinksMoveWhileRulesJudge(t *testing.T) {
	t.Parallel()
	for name, verdict := range map[string]odata.Verdict{"accepted": {}, "amended": {Amended: []odata.Amendment{{Property: "text", Value: json.RawMessage(`"checked"`)}}}} {
		s := newRuled(t, nil)
		for _, tag := range []string{`{"name":"b","order":1}`, `{"name":"c"}`} {
			if w := request(s, "POST", "Tags", tag); w.Code != 201 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		var judged []string
		s.verdict = func(_ int, list []odata.Proposal) (odata.Verdict, error) {
			if list[0].Key != "'c'" {
				return odata.Verdict{}, nil
			}
			if judged = append(judged, string(list[0].New)); len(judged) == 1 {
				if w := request(s, "PATCH", "Tags('b')", `{"order":2}`, anyTag...); w.Code != 200 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
			return verdict, nil
		}
		w := request(s, "PATCH", "Tags('c')", `{"of@odata.bind":"Tags('b')/of"}`, anyTag...)
		want := []string{`{"name":"c","text":null,"order":1}`, `{"name":"c","text":null,"order":2}`}
		if diff := cmp.Diff(want, judged); diff != "" || w.Code != 200 || !strings.Contains(w.Body.String(), `"order":2`) {
			t.Errorf("%s: %d %s: %s", name, w.Code, w.Body, diff)
		}
	}
}

// Rules judge the row that a link to one takes the place of, and another one if others link it while they judge.
func TestRulesOfReplacedLinks(t *testing.T) {
	t.Parallel()
	s := newRuled(t, nil)
	other := func(n int, body string) {
		if w := request(s, "PATCH", fmt.Sprintf("Slips(%d)", n), body, anyTag...); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	const free1, free2, held1, held2 = `{"id":1,"order":null,"note":null}`, `{"id":2,"order":null,"note":null}`, `{"id":1,"order":1,"note":null}`, `{"id":2,"order":1,"note":null}`
	release1, link1, link2 := "update Slips 1 "+held1+" > "+free1, "update Slips 1 "+free1+" > "+held1, "update Slips 2 "+free2+" > "+held2
	for _, step := range []struct {
		name, id  string
		meanwhile func()
		status    int
		want      []string
	}{
		{"none before", "1", nil, 204, []string{link1}},
		{"itself", "1", nil, 204, []string{"update Slips 1 " + held1 + " > " + held1}},
		{"another one", "2", nil, 204, []string{release1, link2}},
		{"linked meanwhile", "2", func() { other(2, `{"order":null}`); other(1, `{"order":1}`) }, 204, []string{"update Slips 2 " + held2 + " > " + held2, release1, link2}},
		{"unlinked meanwhile", "1", func() { other(2, `{"order":null}`) }, 204, []string{"update Slips 2 " + held2 + " > " + free2, link1, link1}},
	} {
		var got []string
		others := false
		s.verdict = func(_ int, list []odata.Proposal) (odata.Verdict, error) {
			if others {
				return odata.Verdict{}, nil
			}
			if first := got == nil; first && step.meanwhile != nil {
				others = true
				step.meanwhile()
				others = false
			}
			got = append(got, proposed(list)...)
			return odata.Verdict{}, nil
		}
		w := request(s, "PUT", "Orders(1)/slip/$ref", `{"@odata.id":"Slips(`+step.id+`)"}`, anyTag...)
		if diff := cmp.Diff(step.want, got); diff != "" || w.Code != step.status {
			t.Errorf("%s: %d %s: %s", step.name, w.Code, w.Body, diff)
		}
		if is := request(s, "GET", "Orders(1)/slip/id/$value", "").Body.String(); is != step.id {
			t.Errorf("%s: the slip is %s", step.name, is)
		}
	}
	s.verdict = amends(0, "id", "7")
	if w := request(s, "PUT", "Orders(1)/slip/$ref", `{"@odata.id":"Slips(2)"}`, anyTag...); w.Code != 503 {
		t.Errorf("an amended key: %d %s", w.Code, w.Body)
	}
	s.verdict = amends(1, "note", `"linked"`)
	if w := request(s, "PUT", "Orders(1)/slip/$ref", `{"@odata.id":"Slips(2)"}`, anyTag...); w.Code != 204 {
		t.Errorf("an amended link behind a release: %d %s", w.Code, w.Body)
	}
	s.verdict = amends(0, "note", `"again"`)
	if w := request(s, "PUT", "Orders(1)/slip/$ref", `{"@odata.id":"Slips(2)"}`, anyTag...); w.Code != 204 {
		t.Errorf("an amended link of the linked row: %d %s", w.Code, w.Body)
	}
	if is := request(s, "GET", "Orders(1)/slip/note/$value", "").Body.String(); is != "again" {
		t.Errorf("the note is %s", is)
	}
	s.verdict = amends(0, "note", `"released"`)
	if w := request(s, "PUT", "Orders(1)/slip/$ref", `{"@odata.id":"Slips(1)"}`, anyTag...); w.Code != 204 {
		t.Errorf("an amended release: %d %s", w.Code, w.Body)
	}
	if is := request(s, "GET", "Slips(2)", "").Body.String(); !strings.Contains(is, `"order":null,"note":"released"`) {
		t.Errorf("the released row is %s", is)
	}
	s.verdict = amends(0, "note", `"first"`)
	if w := request(s, "PUT", "Orders(2)/slip/$ref", `{"@odata.id":"Slips(2)"}`, anyTag...); w.Code != 204 {
		t.Errorf("an amended link with nothing to release: %d %s", w.Code, w.Body)
	}
}

// A request that had its effect is answered without rules.
func TestRulesAndRepeatedRequests(t *testing.T) {
	t.Parallel()
	s := newRuled(t, nil)
	headers := repeatHeaders()
	for range 2 {
		if w := request(s, "POST", "Orders", `{"status":"x"}`, headers...); w.Code != 201 || w.Header().Get("Location") != "http://h/odata/Orders(3)" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if len(s.asked) != 1 {
		t.Errorf("rules were asked %d times", len(s.asked))
	}
}

// A request whose rows are longer than rules get is refused before.
func TestLongProposals(t *testing.T) {
	t.Parallel()
	s := newRuled(t, nil)
	long := strings.Repeat("x", 1_000_000)
	for _, name := range []string{"a", "b"} {
		if w := request(s, "PATCH", "Tags('"+name+"')", `{"text":"`+long+`"}`, map[string][]string{"a": anyTag}[name]...); w.Code >= 300 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	s.asked = nil
	w := request(s, "POST", "Orders", `{"tags@odata.bind":["Tags('a')","Tags('b')"]}`)
	if w.Code != 413 || s.asked != nil {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
