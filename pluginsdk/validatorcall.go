package pluginsdk

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// runValidator makes a call by hand.
func runValidator(ctx context.Context, p Plugin, c Call) (any, error) {
	type refusal struct {
		Change   int    `json:"change"`
		Property string `json:"property"`
		Message  string `json:"message"`
	}
	type amendment struct {
		Change   int             `json:"change"`
		Property string          `json:"property"`
		Value    json.RawMessage `json:"value"`
	}
	user := c.User
	if c.Request != nil {
		user.Locale = c.Request.Locale
	}
	v, err := p.Validator.Validate(ctx, user, c.Changes)
	refused, amended := []refusal{}, []amendment{}
	v.Refusals(func(change int, property, message string) {
		refused = append(refused, refusal{change, property, message})
	})
	v.Amendments(func(change int, property string, value json.RawMessage) {
		amended = append(amended, amendment{change, property, value})
	})
	return struct {
		Accepted bool        `json:"accepted"`
		Refused  []refusal   `json:"refused"`
		Amended  []amendment `json:"amended"`
	}{!v.IsRefused(), refused, amended}, err
}

// A callChange is a change of a call by hand as JSON.
type callChange struct {
	Set  string         `json:"set"`
	Kind string         `json:"kind"`
	Key  string         `json:"key"`
	Old  map[string]any `json:"old"`
	New  map[string]any `json:"new"`
}

// changes returns those that a call by hand asks a validator about.
func (f callFile) changes() ([]Change, error) {
	if f.Changes == nil {
		return sampleChanges(), nil
	}
	entity := func(object map[string]any) Values {
		if object == nil {
			return Values{}
		}
		return Values{flatten(map[string]Value{}, "", object)}
	}
	list := make([]Change, len(f.Changes))
	for i, c := range f.Changes {
		if !slices.Contains([]string{changeCreate, changeUpdate, changeDelete}, c.Kind) {
			return nil, fmt.Errorf("read the call: the kind of change %d is %q, not create, update or delete", i, c.Kind)
		}
		list[i] = Change{Set: c.Set, Kind: c.Kind, Key: c.Key, Old: entity(c.Old), New: entity(c.New)}
	}
	return list, nil
}

// sampleSet is a set that no host has: the rules of a plugin for sets of its own are not about the
// properties of samples.
const sampleSet = "Samples"

// sampleEntity returns an entity with some properties replaced.
func sampleEntity(other map[string]Value) Values {
	entity := map[string]Value{
		"id": int64(5), "status": "open", "price": json.Number("12.50"), "cost": json.Number("10.00"), "quantity": int64(2), "created_by": int64(1),
		"note": nil, "urgent": false, "ordered_on": "2026-01-31", "changed_at": "2026-01-31T12:00:00Z", "address/city": "London", "address/street": nil,
	}
	for name, v := range other {
		entity[name] = v
	}
	return Values{entity}
}

// sampleChanges are the changes of an ordinary call.
func sampleChanges() []Change {
	return []Change{{
		Set: sampleSet, Kind: changeUpdate, Key: "5",
		Old: sampleEntity(nil), New: sampleEntity(map[string]Value{"status": "paid", "quantity": int64(3)}),
	}}
}

// validatorSamples are changes as a host may send them. A plugin may know nothing of their sets
// and properties, and must bear them.
func validatorSamples() map[string]func(*Call) {
	one := func(kind string, other map[string]Value) Change {
		c := Change{Set: sampleSet, Kind: kind, Key: "5"}
		if kind != changeDelete {
			c.New = sampleEntity(other)
		}
		if kind != changeCreate {
			c.Old = sampleEntity(nil)
		}
		return c
	}
	all := map[string]func(*Call){}
	add := func(name string, changes ...Change) { all[name] = func(c *Call) { c.Changes = changes } }
	created, item := one(changeCreate, map[string]Value{"id": nil, "created_by": nil}), one(changeCreate, map[string]Value{"parent_id": "$1"})
	created.Key, item.Key = "$1", "$2"
	composite := one(changeUpdate, nil)
	composite.Key = "order=1,line='a%2Fb'"
	nothing := map[string]Value{}
	for name := range created.New.all {
		nothing[name] = nil
	}
	many := make([]Change, 1000)
	for i := range many {
		many[i] = one(changeUpdate, map[string]Value{"status": strconv.Itoa(i)})
	}
	add("an entity that is created", created)
	add("an entity that is created with others", created, item)
	add("an entity that is deleted", one(changeDelete, nil))
	add("one change of each kind", created, one(changeUpdate, nil), one(changeDelete, nil))
	add("a key of several parts", composite)
	add("an entity whose values are all null", one(changeUpdate, nothing))
	add("the greatest numbers", one(changeUpdate, map[string]Value{
		"quantity": int64(math.MaxInt64), "price": json.Number("-123456789012345678901234567890.123456789"), "cost": json.Number("1e300"),
	}))
	add("texts where numbers could be", one(changeUpdate, map[string]Value{"price": "INF", "cost": "NaN", "quantity": "12"}))
	add("a text that looks like markup", one(changeUpdate, map[string]Value{"status": `<script>alert("1")</script> %s ${x}`, "note": "株式会社 👩‍🚀\n\t\u202e"}))
	add("a text of a megabyte", one(changeUpdate, map[string]Value{"note": strings.Repeat("ü", 1<<19)}))
	add("a thousand changes", many...)
	for _, locale := range []string{"de", "pt-BR", ""} {
		all["the language "+strconv.Quote(locale)] = func(c *Call) { c.Request.Locale = locale }
	}
	return all
}
