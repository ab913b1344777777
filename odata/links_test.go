package odata_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

type (
	order struct {
		ID   int64   `odata:"id,key,auto"`
		Text *string `odata:"text"`
	}
	item struct {
		ID    int64  `odata:"id,key,auto"`
		Order *int64 `odata:"order_id"`
		Text  string `odata:"text"`
	}
	tag struct {
		Code string `odata:"code,key"`
	}
	tagged struct {
		Order int64  `odata:"order"`
		Tag   string `odata:"tag"`
	}
)

// orders is a service of orders with items and tags, over a source that fails on request.
func orders(t *testing.T, f *flaky, change func(*odata.Options)) http.Handler {
	t.Helper()
	all := func() *memory.Write { return &memory.Write{Create: true, Update: true, Delete: true} }
	var err error
	f.Source, err = memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{
		{Name: "Orders", Rows: []order{{ID: 1}}, Write: all(), Navigations: []memory.Navigation{
			{Name: "items", To: "Items", Many: true, On: map[string]string{"id": "order_id"}},
			{Name: "tags", To: "Tags", Many: true, Via: []tagged{}, FromKey: "order", ToKey: "tag"},
		}},
		{Name: "Items", Rows: []item{{ID: 1, Text: "one"}}, Write: all(), Navigations: []memory.Navigation{{Name: "order", To: "Orders", On: map[string]string{"order_id": "id"}, Foreign: true}}},
		{Name: "Tags", Rows: []tag{{"old"}}, Write: all()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	o := odata.Options{Root: "/odata/", Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
		return odata.Caller{SignedIn: true, Settled: true, Client: "c", User: map[string]any{"id": int64(1)}}, nil
	}}
	if change != nil {
		change(&o)
	}
	h, err := odata.New(f.Model(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Each row and each link that a request writes has its line, and a transaction that the database has undone is tried anew with
// the keys that it then gives.
func TestWrittenLinks(t *testing.T) {
	t.Parallel()
	var told []string
	applied := 0
	f := &flaky{apply: func(n int) error {
		if applied++; n == 1 && applied == 3 { // amid the first request
			return &write.Refusal{Kind: write.Conflict}
		}
		return nil
	}}
	h := orders(t, f, func(o *odata.Options) {
		o.Written = func(_ context.Context, _ odata.Caller, rows []odata.Written) { told = append(told, fmt.Sprint(rows)) }
	})
	if w := request(h, "POST", "Orders", `{"text":"t","items":[{"text":"a"},{"text":"b"}],"items@odata.bind":["Items(1)"],"tags":[{"code":"new"}],"tags@odata.bind":["Tags('old')"]}`); w.Code != http.StatusCreated {
		t.Fatal(w.Code, w.Body)
	}
	for _, r := range []struct{ method, target, body string }{
		{"DELETE", "Orders(2)/tags('old')/$ref", ""}, {"POST", "Orders(1)/items", `{"text":"c"}`}, {"POST", "Orders", `{"items":[{"text":"a"},{"text":null}]}`},
	} {
		request(h, r.method, r.target, r.body)
	}
	want := []string{
		"[{Orders create (2)} {Items create (2)} {Items create (3)} {Items update (1)} {Tags create ('new')} {Orders link (2)/tags('new')} {Orders link (2)/tags('old')}]",
		"[{Orders unlink (2)/tags('old')}]", "[{Items create (4)}]",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if f.open.Load() != 0 {
		t.Errorf("%d transactions are open", f.open.Load())
	}
}

// A fault of one row undoes all others, and names the place of the row.
func TestFaultAmidADocument(t *testing.T) {
	t.Parallel()
	for at := 1; at <= 4; at++ {
		applied := 0
		f := &flaky{apply: func(int) error {
			if applied++; applied == at {
				return &write.Refusal{Kind: write.Duplicate}
			}
			return nil
		}}
		h := orders(t, f, nil)
		if w := request(h, "POST", "Orders", `{"items":[{"text":"a"},{"text":"b"}],"tags@odata.bind":["Tags('old')"]}`); w.Code != http.StatusConflict {
			t.Errorf("a fault of change %d gives %d %s", at, w.Code, w.Body)
		}
		for target, want := range map[string]string{"Orders/$count": "1", "Items/$count": "1", "Tags('old')": `{`, "Orders(2)/tags/$count": `{"error"`} {
			if got := request(h, "GET", target, "").Body.String(); len(got) < len(want) || got[:len(want)] != want {
				t.Errorf("behind a fault of change %d, %s is %s", at, target, got)
			}
		}
		if f.open.Load() != 0 {
			t.Errorf("%d transactions are open", f.open.Load())
		}
	}
}

// The rows that a path names are read once. Others may remove a link between two looks at it, and the request to remove it would
// take it for a dead one.
func TestPathsAreReadOnce(t *testing.T) {
	t.Parallel()
	for target, reads := range map[string]int{
		"DELETE Orders(1)/tags('old')/$ref":             2,
		"DELETE Orders(1)/items(1)/$ref":                2,
		"DELETE Items(1)/order/$ref":                    2,
		"DELETE Orders(1)/items(1)/order/$ref":          2,
		"POST Orders(1)/items(1)/order/items":           1,
		"DELETE Orders(1)/tags/$ref?$id=Tags('old')":    2,
		"DELETE Orders(1)/items(1)/order/items(1)/$ref": 2,
	} {
		f := &flaky{}
		h := linkedOrders(t, f)
		f.opened = func(times int) error {
			if times > reads {
				return plan.Errorf(plan.NotFound, -1, "it is gone")
			}
			return nil
		}
		method, at, _ := strings.Cut(target, " ")
		body, header := "", anyTag
		if method == "POST" {
			body, header = `{"text":"new"}`, []string{"Prefer", "return=minimal"}
		}
		if w := request(h, method, at, body, header...); w.Code != 204 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// A row, or a link, that others remove while a request waits for its lock is not there. Only an address in the body is a dead link.
func TestLinksThatGoMeanwhile(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]struct {
		status  int
		message string
	}{
		"DELETE Orders(1)/tags('old')/$ref": {404, "there is no such link"},
		"DELETE Orders(1)/items(1)/$ref":    {404, "there is no such link"},
		"DELETE Items(1)/order/$ref":        {404, "there is no such link"},
		"POST Orders(1)/tags/$ref":          {404, "there is no such entity"},
		"POST Orders(1)/items/$ref":         {409, "items names no entity"},
	} {
		f := &flaky{}
		h := linkedOrders(t, f)
		f.apply = func(int) error { return &write.Refusal{Kind: write.RowNotFound} }
		method, at, _ := strings.Cut(target, " ")
		body := ""
		if method == "POST" {
			body = `{"@odata.id":"Items(1)"}`
			if strings.Contains(at, "tags") {
				body = `{"@odata.id":"Tags('old')"}`
			}
		}
		if w := request(h, method, at, body, anyTag...); w.Code != want.status || !strings.Contains(w.Body.String(), want.message) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// linkedOrders are orders of which the first has an item and a tag.
func linkedOrders(t *testing.T, f *flaky) http.Handler {
	t.Helper()
	h := orders(t, f, nil)
	for at, to := range map[string]string{"Orders(1)/tags/$ref": "Tags('old')", "Orders(1)/items/$ref": "Items(1)"} {
		if w := request(h, "POST", at, `{"@odata.id":"`+to+`"}`, anyTag...); w.Code != 204 {
			t.Fatalf("%s: %d %s", at, w.Code, w.Body)
		}
	}
	return h
}
