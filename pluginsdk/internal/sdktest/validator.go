package sdktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// beyondDoubles are numbers whose digits a double cannot hold.
const (
	beyondDoubles = "9007199254740993"
	longDecimal   = "12345678901234567890.12345678901"
)

// order is an update and a delete of orders.
func order() []pluginsdk.Change {
	old := []byte(`{"id":5,"price":2,"note":null,"rate":0.5,"urgent":false,"at":null,"address":{"city":"London"}}`)
	next := []byte(`{"id":` + beyondDoubles + `,"price":` + longDecimal + `,"note":"ü\n\"9007199254740993\" 👩‍🚀","rate":0.5,"urgent":false,"at":null,"address":{"city":"Ely"}}`)
	return []pluginsdk.Change{
		pluginsdk.Change{Set: "Orders", Kind: "update", Key: "5"}.WithJSON(old, next),
		pluginsdk.Change{Set: "Orders", Kind: "delete", Key: "a=1,b='x'"}.WithJSON(old, nil),
	}
}

// changes are judged. Every field arrives under the name of the protocol, every digit comes
// back, and a verdict that no host takes breaks the contract.
func changes(t *testing.T, p *plugintest.Plugin) {
	judge := func(name string) plugintest.Ruling {
		who := person(name, map[string]pluginsdk.Value{"team": int64(1)})
		who.Locale = "de"
		return p.Validate(who, order()...)
	}
	created := pluginsdk.Change{Set: "Orders", Kind: "create", Key: "$1"}.WithJSON(nil, []byte(`{"id":null,"note":"ü","count":3,"address":{"city":null}}`))
	who := person("Ada", map[string]pluginsdk.Value{"team": int64(1)})
	who.Locale = "de"
	told := ""
	p.Validate(who, created).Accepts().Verdict.Amendments(func(_ int, _ string, value json.RawMessage) {
		if err := json.Unmarshal(value, &told); err != nil {
			t.Error(err)
		}
	})
	echoed(t, told, map[string]any{
		"changes": []any{map[string]any{
			"set": "Orders", "kind": "create", "key": "$1", "old": nil,
			"new": map[string]any{"id": nil, "note": "ü", "count": 3.0, "address": map[string]any{"city": nil}},
		}},
		"user": map[string]any{"id": "7", "name": "Ada", "email": "ada@example.com", "columns": map[string]any{"team": 1.0}, "locale": "de"},
	})
	judge("accept").AcceptsAsIs()
	judge("amend").Accepts().Amends(0, "price", json.Number(longDecimal)).Amends(0, "id", json.Number(beyondDoubles)).Amends(0, "address/city", "Ely ü").
		Amends(0, "note", nil).Amends(0, "urgent", true).Amends(0, "rate", json.Number("-1.25")).Amends(0, "at", "2026-01-31T12:00:00Z")
	if r := judge("refuse").Refuses(0, "price", "too low: ü").Refuses(1, "", "no"); !r.Verdict.IsRefused() || r.Verdict.IsAmended() {
		t.Error("a refusal does not win over an amendment")
	}
	judge("mutate").Amends(0, "price", int64(1))
	many := make([]pluginsdk.Change, 1000)
	for i := range many {
		many[i] = created
	}
	judged := 0
	p.Validate(person("many", nil), many...).Refuses(499, "", "again").Verdict.Refusals(func(int, string, string) { judged++ })
	if judged != 1000 {
		t.Errorf("%d refusals arrive", judged)
	}
	wrongVerdicts(judge)
}

// wrongVerdicts holds what is said to the author of verdicts that no host takes.
func wrongVerdicts(judge func(string) plugintest.Ruling) {
	broken, undecided := pluginsdk.ErrContract.Error(), pluginsdk.ErrUnavailable.Error()
	at := func(property, why string) string {
		return fmt.Sprintf("%s: change 0, the update of Orders(5), property '%s': %s", broken, property, why)
	}
	for name, want := range map[string]string{
		"throw": undecided, "nothing": broken, "wrong": broken,
		"beyond": broken + ": the verdict is about the change 2; there are 2", "negative": broken + ": the verdict is about the change -1", "half": broken + ": the verdict is about the change 0.5",
		"unknown": at("Price", "there is no such property"), "complex": at("address", "there is no such property"), "nowhere": at("", "there is no such property"),
		"deleted": broken + ": change 1, the delete of Orders(a=1,b='x'), property 'price': a delete has no values to amend",
		"empty":   at("price", "the message is empty"), "long": at("price", "the message is not one line of at most 1024 bytes"),
		"lines": at("price", "the message is not one line"), "number": at("price", "the message is not one line"),
		"type": at("price", "{} is not "), "nan": at("price", ""),
		"often": broken + ": the verdict has 10001 amendments", "large": broken + ": the answer has ",
	} {
		judge(name).Fails(want)
	}
}

// changesByHand makes calls with -call, whose document and answer are those of Go.
func changesByHand(t *testing.T, command []string) {
	none := []any{}
	for document, want := range map[string]map[string]any{
		`"user": {"name": "accept"}, "role": "validator"`: {"accepted": true, "refused": none, "amended": none},
		`"user": {"name": "refuse"}, "changes": [{"set": "Orders", "kind": "update", "key": "5", "old": {"price": 1}, "new": {"price": 2}}, {"set": "Orders", "kind": "delete", "old": {}}]`: {
			"accepted": false,
			"refused":  []any{map[string]any{"change": json.Number("0"), "property": "price", "message": "too low: ü"}, map[string]any{"change": json.Number("1"), "property": "", "message": "no"}},
			"amended":  []any{map[string]any{"change": json.Number("0"), "property": "price", "value": json.Number("1")}},
		},
		`"user": {"name": "mutate"}, "changes": [{"kind": "create", "new": {"price": ` + longDecimal + `, "a": {"b": "x"}}}]`: {
			"accepted": true, "refused": none, "amended": []any{map[string]any{"change": json.Number("0"), "property": "price", "value": json.Number("1")}},
		},
	} {
		var got map[string]any
		stdout, stderr, err := callByHand(t, command, `{"config": {"must": "x"}, `+document+`}`)
		d := json.NewDecoder(strings.NewReader(stdout))
		d.UseNumber()
		if err := errors.Join(err, d.Decode(&got)); err != nil {
			t.Errorf("%s: %v: %s%s", document, err, stdout, stderr)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
	for document, want := range map[string]string{
		`"user": {"name": "unknown"}, "role": "validator", "changes": [{"kind": "create", "new": {}}]`: "the answer breaks the contract: change 0, the create of (), property 'Price': there is no such property",
		`"changes": [{"kind": "upsert"}]`: "the kind of change 0 is 'upsert', not create, update or delete",
	} {
		if stdout, stderr, err := callByHand(t, command, `{"config": {"must": "x"}, `+document+`}`); err == nil || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v, it prints %q and %q", document, err, stdout, stderr)
		}
	}
}
