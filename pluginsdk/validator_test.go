package pluginsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// rules is a validator that answers as a test says, and keeps what it was asked.
type rules struct {
	verdict pluginsdk.Verdict
	err     error
	user    pluginsdk.User
	changes []pluginsdk.Change
}

// Validate answers as the test says.
func (r *rules) Validate(_ context.Context, user pluginsdk.User, changes []pluginsdk.Change) (pluginsdk.Verdict, error) {
	r.user, r.changes = user, changes
	return r.verdict, r.err
}

// ordersOf are two changes of orders: an update and a delete.
func ordersOf(values map[string]pluginsdk.Value) []pluginsdk.Change {
	old := pluginsdk.ValuesOf(map[string]pluginsdk.Value{"status": "open", "price": json.Number("12.50"), "address/city": "London"})
	return []pluginsdk.Change{
		{Set: "Orders", Kind: "update", Key: "5", Old: old, New: pluginsdk.ValuesOf(values)},
		{Set: "Orders", Kind: "delete", Key: "6", Old: old},
	}
}

// Changes reach the plugin with all digits, and its verdict the host.
func TestChangesCrossTheWire(t *testing.T) {
	own := &rules{}
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "test", Validator: own})
	who := pluginsdk.User{ID: "7", Name: "Ada", Email: "ada@example.com", Locale: "de", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"team": int64(1)})}
	values := map[string]pluginsdk.Value{
		"id": int64(math.MaxInt64), "price": json.Number("12345678901234567890.123456789"), "rate": json.Number("1e300"), "status": "paid ü👩‍🚀\n", "note": nil,
		"urgent": true, "address/city": "Ely", "address/geo/lat": json.Number("0.10"), "beyond": json.Number("9223372036854775808"),
	}
	changes := ordersOf(values)
	p.Validate(who, changes...).AcceptsAsIs()
	if diff := cmp.Diff(who, own.user) + cmp.Diff(changes, own.changes, cmp.AllowUnexported(pluginsdk.Change{})); diff != "" {
		t.Error(diff)
	}
	price, ok := own.changes[0].New.Rat("price")
	if want, _ := new(big.Rat).SetString("12345678901234567890.123456789"); !ok || price.Cmp(want) != 0 {
		t.Errorf("the price is %v", price)
	}
	if n, ok := own.changes[0].New.Int("id"); !ok || n != math.MaxInt64 {
		t.Errorf("the id is %d", n)
	}
	if f, ok := own.changes[0].New.Float("rate"); !ok || f != 1e300 {
		t.Errorf("the rate is %v", f)
	}
	if _, ok := own.changes[0].New.Rat("status"); ok {
		t.Error("a text became a number")
	}
	raw := []pluginsdk.Change{pluginsdk.Change{Set: "Orders", Kind: "create", Key: "$1"}.WithJSON(nil, []byte(`{"a":{"b":1.50},"c":null}`))}
	p.Validate(who, raw...).AcceptsAsIs()
	want := pluginsdk.ValuesOf(map[string]pluginsdk.Value{"a/b": json.Number("1.50"), "c": nil})
	if got := own.changes[0]; !got.New.Equal(want) || got.Old.All() != nil || got.Key != "$1" {
		t.Errorf("it was asked about %+v", got)
	}

	own.verdict = pluginsdk.Amend(0, "price", json.Number("1.50")).Amend(0, "note", "ü").Amend(0, "id", 7).Amend(0, "urgent", nil).
		Amend(0, "rate", big.NewRat(-5, 4)).Amend(0, "status", time.Unix(0, 0)).Amend(0, "address/city", "Ely")
	p.Validate(who, changes...).Accepts().Amends(0, "price", json.Number("1.50")).Amends(0, "note", "ü").Amends(0, "id", int64(7)).
		Amends(0, "urgent", nil).Amends(0, "rate", json.Number("-1.25")).Amends(0, "status", "1970-01-01T00:00:00Z").Amends(0, "address/city", "Ely")
	own.verdict = own.verdict.Refuse(1, "", "no").Refuse(0, "price", "too low")
	r := p.Validate(who, changes...).Refuses(1, "", "no").Refuses(0, "price", "too")
	if r.Verdict.IsAmended() || !r.Verdict.IsRefused() {
		t.Error("a refusal does not win over amendments")
	}
	own.verdict, own.err = pluginsdk.Accept(), errors.New("the database is away")
	p.Validate(who, changes...).Fails("the database is away")
}

// A verdict is a value: what is added to one does not show in another made from it.
func TestVerdictsAreValues(t *testing.T) {
	told := func(v pluginsdk.Verdict) (texts []string) {
		v.Refusals(func(_ int, _, message string) { texts = append(texts, message) })
		return texts
	}
	base := pluginsdk.Refuse(0, "", "a")
	one, two := base.Refuse(0, "", "b"), base.Refuse(0, "", "c")
	if diff := cmp.Diff([][]string{{"a"}, {"a", "b"}, {"a", "c"}}, [][]string{told(base), told(one), told(two)}); diff != "" {
		t.Error(diff)
	}
	for range 2000 {
		base = base.Refuse(0, "", "more")
	}
	if got := len(told(base)); got != 1000 {
		t.Errorf("%d refusals are kept", got)
	}
}

// The plugin's side holds each verdict against the contract, and so does a host's, which a
// plugin without an SDK may answer anything. The error names change and property.
func TestVerdictsKeepTheContract(t *testing.T) {
	own := &rules{}
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "test", Validator: own})
	text := func(n int) string { return strings.Repeat("x", n) }
	many := pluginsdk.Accept()
	for i := range 10001 {
		many = many.Amend(0, "price", i)
	}
	for name, tt := range map[string]struct {
		verdict pluginsdk.Verdict
		want    string // in the error; empty when it is accepted
	}{
		"nothing":               {pluginsdk.Verdict{}, ""},
		"at the limit":          {pluginsdk.Refuse(1, "", text(1024)).Refuse(0, "address/city", "ü"), ""},
		"beyond":                {pluginsdk.Refuse(0, "price", text(1025)), `change 0, the update of Orders(5), property "price": the message is not one line of at most 1024 bytes`},
		"an empty message":      {pluginsdk.Refuse(1, "status", ""), `change 1, the delete of Orders(6), property "status": the message is empty`},
		"two lines":             {pluginsdk.Refuse(0, "price", "a\nb"), "one line"},
		"a broken text":         {pluginsdk.Refuse(0, "price", "\xff"), "one line"},
		"an index beyond":       {pluginsdk.Refuse(2, "", "no"), "about the change 2; there are 2"},
		"a negative index":      {pluginsdk.Amend(-1, "price", 1), "about the change -1; there are 2"},
		"an unknown property":   {pluginsdk.Refuse(0, "Price", "no"), `property "Price": there is no such property`},
		"a complex property":    {pluginsdk.Refuse(0, "address", "no"), "there is no such property"},
		"amends nothing":        {pluginsdk.Amend(0, "", 1), "there is no such property"},
		"amends what is not":    {pluginsdk.Amend(0, "cost", 1), `property "cost": there is no such property`},
		"amends a delete":       {pluginsdk.Amend(1, "price", 1), `change 1, the delete of Orders(6), property "price": a delete has no values to amend`},
		"amends by a fraction":  {pluginsdk.Amend(0, "price", big.NewRat(1, 3)), "1/3 is no decimal number"},
		"amends by no number":   {pluginsdk.Amend(0, "price", math.NaN()), `property "price": json: unsupported value: NaN`},
		"amends by half number": {pluginsdk.Amend(0, "price", json.Number("1,5")), `"1,5" is no number`},
		"amends by a text":      {pluginsdk.Amend(0, "price", json.Number(`"x"`)), "is no number"},
		"amends by a list":      {pluginsdk.Amend(0, "price", []int{1}), "a value of type []int"},
		"amends by broken text": {pluginsdk.Amend(0, "status", "\xff"), "not valid UTF-8"},
		"amends too often":      {many, "10001 amendments"},
		"amends by too much":    {pluginsdk.Amend(0, "status", text(1<<20)), "larger than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			own.verdict = tt.verdict
			_, err := p.Client.Validate(t.Context(), pluginsdk.User{}, ordersOf(map[string]pluginsdk.Value{"status": "paid", "price": json.Number("1"), "address/city": ""}))
			kept(t, err, tt.want)
		})
	}
}

// Too many changes are not sent, and the largest that are sent arrive.
func TestChangesAreBounded(t *testing.T) {
	own := &rules{}
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "test", Validator: own})
	changes := func(size int) (list []pluginsdk.Change) {
		for i := range 1000 {
			row := fmt.Appendf(nil, `{"id":%d,"note":%q}`, i, strings.Repeat("x", size))
			list = append(list, pluginsdk.Change{Set: "Orders", Kind: "update", Key: fmt.Sprint(i)}.WithJSON(row, row))
		}
		return list
	}
	p.Validate(pluginsdk.User{}, changes(2000)...).AcceptsAsIs()
	if len(own.changes) != 1000 {
		t.Errorf("%d changes arrived", len(own.changes))
	}
	_, err := p.Client.Validate(t.Context(), pluginsdk.User{}, changes(2200))
	if !errors.Is(err, pluginsdk.ErrUnavailable) || !strings.Contains(err.Error(), "larger than max") {
		t.Errorf("got %v", err)
	}
}

// A call by hand has changes, or one sample.
func TestChangesByHand(t *testing.T) {
	own := &rules{verdict: pluginsdk.Amend(0, "price", json.Number("1.50"))}
	run := func(document string) map[string]any {
		t.Helper()
		var call pluginsdk.Call
		if err := call.Parse([]byte(document)); err != nil {
			t.Fatal(err)
		}
		text, err := call.Run(t.Context(), pluginsdk.Plugin{Validator: own})
		if err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	want := map[string]any{"accepted": true, "refused": []any{}, "amended": []any{map[string]any{"change": 0.0, "property": "price", "value": 1.5}}}
	got := run(`{"request": {"locale": "de"}, "changes": [{"set": "Orders", "kind": "update", "key": "5", "old": {"price": 1}, "new": {"price": 2.50, "a": {"b": 3}}}]}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := own.changes[0]; own.user.Locale != "de" || !c.New.Equal(pluginsdk.ValuesOf(map[string]pluginsdk.Value{"price": json.Number("2.50"), "a/b": int64(3)})) {
		t.Errorf("it was asked about %+v by %+v", c, own.user)
	}
	own.verdict = pluginsdk.Refuse(0, "price", "no")
	want = map[string]any{"accepted": false, "refused": []any{map[string]any{"change": 0.0, "property": "price", "message": "no"}}, "amended": []any{}}
	if diff := cmp.Diff(want, run(`{"role": "validator"}`)); diff != "" {
		t.Error(diff)
	}
	if err := new(pluginsdk.Call).Parse([]byte(`{"changes": [{"kind": "upsert"}]}`)); err == nil || !strings.Contains(err.Error(), `the kind of change 0 is "upsert"`) {
		t.Errorf("got %v", err)
	}
}

// Numbers of a document that would fill the memory are none.
func TestRatIsBounded(t *testing.T) {
	for text, want := range map[string]string{
		"1e999999999": "", "1e-999999999": "", "1E401": "", "1e400": "", "-1.50": "-3/2", "0.1": "1/10", "1e2": "100", "7": "7",
	} {
		r, ok := pluginsdk.ValuesOf(map[string]pluginsdk.Value{"n": json.Number(text)}).Rat("n")
		if text == "1e400" {
			if !ok {
				t.Errorf("%s is no number", text)
			}
			continue
		}
		if ok != (want != "") || ok && r.RatString() != want {
			t.Errorf("%s: %v, %v", text, r, ok)
		}
	}
}
