package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

type row = map[string]pluginsdk.Value

func change(set, kind string, old, with row) pluginsdk.Change {
	c := pluginsdk.Change{Set: set, Kind: kind, Key: "5"}
	if kind != "create" {
		c.Old = pluginsdk.ValuesOf(old)
	}
	if kind != "delete" {
		next := maps.Clone(old)
		maps.Copy(next, with)
		c.New = pluginsdk.ValuesOf(next)
	}
	return c
}

// story asks the plugin, in whatever language, about each rule.
func story(t *testing.T, p *plugintest.Plugin) {
	ada, bob, carl := pluginsdk.User{ID: "1"}, pluginsdk.User{ID: "2"}, pluginsdk.User{ID: "3", Locale: "de"}
	product := row{"id": int64(5), "name": "Engine", "price": json.Number("12.50"), "cost": json.Number("10.00")}
	order := func(status, amount string) row {
		return row{"id": int64(5), "status": status, "amount": json.Number(amount), "created_by": int64(1)}
	}
	to := func(status string) row { return row{"status": status} }

	// A price may not fall below the cost, to the last digit.
	p.Validate(ada, change("Products", "update", product, row{"price": json.Number("10.00")})).AcceptsAsIs()
	p.Validate(ada, change("Products", "update", product, row{"price": json.Number("9.99")})).Refuses(0, "price", "below the cost, which is 10.00")
	p.Validate(carl, change("Products", "create", product, row{"price": json.Number("9.99")})).Refuses(0, "price", "unter den Kosten")
	long := row{"price": json.Number("12345678901234567890.01"), "cost": json.Number("12345678901234567890.02")}
	p.Validate(ada, change("Products", "update", product, long)).Refuses(0, "price", "")
	p.Validate(ada, change("Products", "delete", product, nil)).AcceptsAsIs()

	// An order begins open, goes through its statuses, and is deleted while it is open.
	p.Validate(ada, change("Orders", "create", order("shipped", "5"), nil)).Accepts().Amends(0, "status", "open")
	for _, way := range [][2]string{{"open", "confirmed"}, {"open", "cancelled"}, {"confirmed", "shipped"}, {"confirmed", "confirmed"}} {
		p.Validate(bob, change("Orders", "update", order(way[0], "5"), to(way[1]))).AcceptsAsIs()
	}
	for _, way := range [][2]string{{"open", "shipped"}, {"shipped", "open"}, {"cancelled", "confirmed"}, {"open", "nonsense"}, {"open", "a\nb"}} {
		p.Validate(bob, change("Orders", "update", order(way[0], "5"), to(way[1]))).Refuses(0, "status", "An order that is "+way[0]+" cannot become")
	}
	p.Validate(bob, change("Orders", "delete", order("open", "5"), nil)).AcceptsAsIs()
	p.Validate(bob, change("Orders", "delete", order("confirmed", "5"), nil)).Refuses(0, "", "Only an open order")

	// A large order needs a second person, and its amount stays as it was confirmed.
	p.Validate(ada, change("Orders", "update", order("open", "1000.00"), to("confirmed"))).AcceptsAsIs()
	p.Validate(ada, change("Orders", "update", order("open", "1000.01"), to("confirmed"))).Refuses(0, "status", "needs a second person")
	p.Validate(bob, change("Orders", "update", order("open", "1000.01"), to("confirmed"))).AcceptsAsIs()
	p.Validate(ada, change("Orders", "update", order("open", "5"), row{"amount": json.Number("5000"), "status": "confirmed"})).Refuses(0, "status", "needs a second person")
	p.Validate(ada, change("Orders", "update", order("confirmed", "5"), row{"amount": json.Number("5000")})).Refuses(0, "amount", "does not change")

	// All changes of a request are judged together, and other sets are none of its business.
	p.Validate(bob, change("Reviews", "delete", row{}, nil), change("Orders", "update", order("open", "5"), to("shipped")), change("Products", "update", product, row{"price": int64(1)})).
		Refuses(1, "status", "").Refuses(2, "price", "")
}

func TestGo(t *testing.T) { story(t, plugintest.Serve(t, newPlugin())) }

func TestPython(t *testing.T) {
	program := conformance.Program{Command: []string{python(t), "order_rules.py"}}
	story(t, plugintest.Run(t, program))
	plugintest.ConformanceOf(t, program)
}

func TestConfig(t *testing.T) {
	if problems := plugintest.ConfigProblems(t, newPlugin(), plugintest.Config(`{"limit": -1}`)); len(problems) != 1 || problems[0].Path != "limit" {
		t.Errorf("a negative limit: %v", problems)
	}
	p := plugintest.Serve(t, newPlugin(), plugintest.Config(`{"limit": 10, "next": {"open": ["done"]}}`))
	order := row{"status": "open", "amount": int64(20), "created_by": int64(1)}
	p.Validate(pluginsdk.User{ID: "1"}, change("Orders", "update", order, row{"status": "done"})).AcceptsAsIs()
	p.Validate(pluginsdk.User{ID: "1"}, change("Orders", "update", order, row{"status": "confirmed"})).Refuses(0, "status", "cannot become").Refuses(0, "status", "more than 10.00")
}

// The statuses of messages are short, whatever a client sends.
func TestMessagesAreShort(t *testing.T) {
	p := plugintest.Serve(t, newPlugin())
	order := row{"status": "open", "amount": int64(20), "created_by": int64(1)}
	p.Validate(pluginsdk.User{ID: "1"}, change("Orders", "update", order, row{"status": strings.Repeat("ü\u2028", 5000)})).Refuses(0, "status", "cannot become")
}

func TestConformance(t *testing.T) { plugintest.Conformance(t, plugintest.Build(t, ".")) }

// python returns a Python with gRPC, Debian's first, or skips the test, or fails it
// with REQUIRE_PYTHON=1, when there is none.
func python(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import grpc").Run() == nil {
			return python
		}
	}
	if os.Getenv("REQUIRE_PYTHON") == "1" {
		t.Fatal("Python with grpcio is missing")
	}
	t.Skip("Python with grpcio is missing")
	return ""
}
