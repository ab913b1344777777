package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// checksOfRole are the checks of a plugin in a role. What a host may send in the role
// is said in pluginsdk, in the role's own file.
func checksOfRole(role string) []check {
	return []check{
		{"answers as " + role + " whatever a host may send", func(s *subject) error { return s.answersAll(role) }},
		{"answers as " + role + " for many at once", func(s *subject) error { return s.answersMany(role) }},
	}
}

// answersAll makes every sample call for every kind of person. A plugin may be unable to
// decide about a person who does not exist, but not about all of them.
func (s *subject) answersAll(role string) error {
	calls, answered := 0, false
	var first error
	for person, user := range people() {
		for special, call := range (pluginsdk.Call{Role: role, User: user}).Samples() {
			ctx, cancel := s.call()
			err := s.try(ctx, call)
			cancel()
			if broken := acceptable(err); broken != nil {
				return fmt.Errorf("for %s, %s: %w", person, special, broken)
			}
			calls++
			answered, first = answered || err == nil, cmp.Or(first, err)
		}
	}
	if !answered {
		return fmt.Errorf("each of %d calls ended with an error and none with an answer: %w", calls, first)
	}
	return nil
}

// answersMany makes one call 32 times at the same time.
func (s *subject) answersMany(role string) error {
	errs := make([]error, 32)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			ctx, cancel := s.call()
			defer cancel()
			errs[i] = acceptable(s.try(ctx, ordinary(role)))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// try makes a call of the plugin under check.
func (s *subject) try(ctx context.Context, call pluginsdk.Call) error {
	return call.Over(ctx, s.instance.Client)
}

// ordinary is a call of a role without anything special about it.
func ordinary(role string) pluginsdk.Call {
	return pluginsdk.Call{Role: role, User: people()["a person with null columns"]}.Samples()["an ordinary call"]
}

// people are users as a host may send them.
func people() map[string]pluginsdk.User {
	columns := func(v pluginsdk.Value) pluginsdk.Values {
		return pluginsdk.ValuesOf(map[string]pluginsdk.Value{
			"partner_id": v, "plan": "pro", "note": nil, "raw": []byte{0, 255}, "score": 1.5, "vip": true,
		})
	}
	return map[string]pluginsdk.User{
		"a person without columns":     {ID: "1", Name: "Ada Lovelace", Email: "ada@example.com"},
		"a person with null columns":   {ID: "2", Name: "Grace", Email: "grace@example.com", Columns: columns(nil)},
		"a person with large integers": {ID: "9007199254740993", Name: "Mary", Email: "m@example.com", Columns: columns(int64(math.MaxInt64))},
		"a person with negative ones":  {ID: "-1", Name: "Joan", Email: "j@example.com", Columns: columns(int64(math.MinInt64))},
		"a person without a name":      {ID: "uuid-4711"},
		"a person in another script":   {ID: "3", Name: "张伟 👩‍🚀 İ\u202e", Email: "ünï@example.com", Columns: columns("")},
	}
}
