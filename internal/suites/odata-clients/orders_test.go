package odataclients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// orders holds the results of whole documents, links and rules, as a client shows them. A field is empty if the client lacks the feature.
type orders struct {
	// Deep is an order that was created with its customer and its items.
	Deep document
	// Nested is the refusal of an item in such an order.
	Nested refusal
	// Bound are the customers of an order that was bound to one, and then to another.
	Bound []int
	// Tags are those of a product after one was bound, over a table in between.
	Tags []string
	// Below is the key of an item that was created below an order.
	Below []int
	// Upsert has the statuses of an upsert that creates and of one that changes, and the value that stays.
	Upsert []any
	// Repeated has true if two requests with one Repeatability-Request-ID gave one order, and the Repeatability-Result of the second.
	Repeated []any
	// Refused is the refusal of a rule, German its message in another language, and Kept that of a row as a whole.
	Refused refusal
	German  string
	Kept    refusal
	// Field has the state and the text of the field that shows the refused property.
	Field []string
	// Group are the items of an order that one change set created by reference to each other.
	Group [][3]int
	// Undone are the refusals of change sets: the status, and the part and the property of each detail.
	Undone []any
}

type document struct {
	Status, Customer string
	Items            [][3]int
}

// refusal is a fault as the client shows it: details are pairs of target and message.
type refusal struct {
	Status  int
	Message string
	Details [][2]string
}

// everything returns the results of a client that lacks nothing.
func everything() orders {
	const check, low, open = "items/1/quantity is refused by a rule of the database", "The price is below the cost, which is 1200.00.", "Only an open order can be deleted."
	return orders{
		Deep:     document{"open", "Somerville", [][3]int{{1, 1, 2}, {2, 2, 3}}},
		Nested:   refusal{422, "values are missing, or a rule of the database refuses them", [][2]string{{"items/1/quantity", check}}},
		Bound:    []int{1, 2},
		Tags:     []string{"paper"},
		Below:    []int{2, 1},
		Upsert:   []any{201.0, 200.0, "Needs steam"},
		Repeated: []any{true, "accepted"},
		Refused:  refusal{422, low, [][2]string{{"price", low}}},
		German:   "Der Preis liegt unter den Kosten von 1200.00.",
		Kept:     refusal{422, open, [][2]string{{"", open}}},
		Group:    [][3]int{{1, 1, 4}},
		Undone:   []any{[]any{422.0, []any{"2", "quantity"}}, []any{422.0, []any{"1", "price"}}},
	}
}

// story holds the results of a client, and the requests that it sent.
type story struct {
	Seen orders
	Sent []string
}

// TestOrders has each client write whole documents and links under the rules of examples/order-rules, and compares its
// results and the tables.
func TestOrders(t *testing.T) {
	node := need(t)
	programs := buildHost(t)
	first := serveShop(t, programs)
	metadata := save(t, getAs(t, first.token, first.service()+"$metadata"))
	for name, c := range map[string]struct {
		but   func(*orders) // what this client sees otherwise, or not at all
		more  []string      // the orders that only this client makes
		sends []string
	}{
		"devextreme": {
			but: func(o *orders) {
				o.Upsert, o.Repeated = o.Upsert[2:], o.Repeated[:1] // it shows no statuses and no headers
				o.Group, o.Undone = nil, nil
			},
			sends: []string{`POST /odata/Orders\(2\)/items`, `PATCH /odata/Tags\('steam'\)`},
		},
		"odata2ts": {
			but:   func(o *orders) { o.Group, o.Undone = nil, nil },
			sends: []string{`POST /odata/Orders\(2\)/items`, `DELETE /odata/Orders\(2\)/items\(order_id=2,line_no=2\)`, `PUT /odata/Tags\('steam'\)`},
		},
		"sap": {
			but:   func(*orders) {},
			more:  []string{"order 4, , open: 1x4"},
			sends: []string{`POST /odata/Orders\(id=2L\)/items`, `PUT /odata/Tags\(code='steam'\)`, `POST /odata/\$batch`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := serveShop(t, programs)
			var got story
			if err := json.Unmarshal(run(t, node, name+"-orders.cjs", host.service(), host.token, generate(t, node, name, metadata)), &got); err != nil {
				t.Fatal(err)
			}
			want := everything()
			c.but(&want)
			got.check(t, want, c.sends...)
			host.has(t, "paper", c.more...)
		})
	}
}

// check compares what a client saw, and looks for requests that only it sends.
func (s story) check(t *testing.T, want orders, sends ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.Seen); diff != "" {
		t.Error(diff)
	}
	sent := strings.Join(s.Sent, "\n")
	for _, request := range sends {
		if !regexp.MustCompile(request).MatchString(sent) {
			t.Errorf("it no longer sends %s: %s", request, sent)
		}
	}
}

// TestOpenUI5Orders has the V4 model of OpenUI5 write the same in a browser. It shows what the service refuses as messages
// with the path of a property, the message of the whole fault first, and no statuses.
func TestOpenUI5Orders(t *testing.T) {
	if _, err := os.Stat(filepath.Join(dashboard, "later.js")); err != nil {
		if os.Getenv("REQUIRE_UI5") != "" {
			t.Fatalf("OpenUI5 is required, run npm ci and npm run build in examples/ui5-dashboard: %v", err)
		}
		t.Skip("no OpenUI5 (npm ci and npm run build in examples/ui5-dashboard)")
	}
	host := serveShop(t, buildHost(t))
	b := browsertest.Open(t, nil)
	b.Script(`window.sent = []; const send = XMLHttpRequest.prototype.send; XMLHttpRequest.prototype.send = function (body) { sent.push(body || ""); return send.call(this, body); }`)
	b.Visit(host.base + "/openui5/#" + host.token)
	b.Wait(`window.answer`)
	if fault := browsertest.Eval[string](b, `answer.error ?? ""`); fault != "" {
		t.Fatal(fault)
	}
	b.Forgive() // a refused change is an error to UI5
	got := story{browsertest.Eval[orders](b, `answer.seen`), browsertest.Eval[[]string](b, `sent`)}
	want := everything()
	want.Tags = []string{"steam"} // created below the product
	want.Upsert = nil
	want.Repeated = want.Repeated[:1]
	want.Group = [][3]int{{2, 1, 4}}
	// OpenUI5 sends new items in the reverse of their order.
	want.Nested.Details = [][2]string{{"", want.Nested.Message}, {"/Orders($uid)/items/0/quantity", strings.Replace(want.Nested.Details[0][1], "1", "0", 1)}}
	want.Refused.Details = [][2]string{{"", want.Refused.Message}, {"/Products(1)/price", want.Refused.Message}}
	want.Kept.Details = [][2]string{{"", want.Kept.Message}, {"", want.Kept.Message}}
	want.Field = []string{"Error", want.Refused.Message}
	want.Undone = []any{[]any{"", want.Refused.Message}, []any{"/Products(1)/price", want.Refused.Message}}
	for _, r := range []*refusal{&want.Nested, &want.Refused, &want.Kept} {
		r.Status, r.Message = 0, ""
	}
	got.check(t, want, `(?s)POST Orders HTTP.*"customer":\{.*"items":\[`, `"customer@odata.bind"`, `POST Orders\(2\)/items`, `POST Products\(2\)/tags`, `(?s)DELETE OrderItems.*POST Orders\(4\)/items`)
	host.has(t, "steam", "order 4, , open: 1x4")
}
