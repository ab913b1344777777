package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

type written struct {
	ID    int     `odata:"id,auto"`
	Name  string  `odata:"name,unique,length=5,default=none"`
	Count int16   `odata:"count"`
	Home  address `odata:"home"`
	Up    *int    `odata:"up"`
}

func TestFaultsOfWrite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  memory.Set
		want string
	}{
		"well": {memory.Set{Rows: []written{}, Write: &memory.Write{
			Set: map[string]string{"home/City": "Ulm"}, Touch: map[string]string{"up": "5"}, Fixed: []string{"home", "name"}, Version: "count", Filter: "count gt 1",
		}}, ""},
		"unknown":   {memory.Set{Rows: []written{}, Write: &memory.Write{Fixed: []string{"home/nope"}}}, `no property "home/nope"`},
		"filter":    {memory.Set{Rows: []written{}, Write: &memory.Write{Filter: "nope"}}, `no property "nope"`},
		"constant":  {memory.Set{Rows: []written{}, Write: &memory.Write{Set: map[string]string{"count": "x"}}}, `the value "x"`},
		"version":   {memory.Set{Rows: []written{}, Write: &memory.Write{Version: "name"}}, "no integer property"},
		"two autos": {memory.Set{Rows: []struct{ ID, No int }{}, Write: &memory.Write{}}, ""},
		"auto text": {memory.Set{Rows: []struct {
			ID string `odata:",auto"`
		}{}}, "one integer can be auto"},
		"default": {memory.Set{Rows: []struct {
			ID int
			At int `odata:",default=x"`
		}{}}, `the default "x"`},
		"length": {memory.Set{Rows: []struct {
			ID int `odata:",length=3"`
		}{}}, "length is for text"},
		"many keys that are foreign": {memory.Set{Rows: []written{}, Navigations: []memory.Navigation{{Name: "n", To: "S", Many: true, On: map[string]string{"id": "up"}, Foreign: true}}}, "Foreign goes"},
	} {
		tt.set.Name = "S"
		_, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{tt.set}})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type pair struct {
	From int `odata:"from"`
	To   int `odata:"to"`
}

// Two partners share one table in between; one that has other links is a fault.
func TestPartnersShareLinks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		back    []pair
		partner string
		want    string
	}{
		"the same links":         {[]pair{{2, 1}, {1, 2}, {1, 2}}, "next", ""},
		"one link less":          {[]pair{{1, 2}}, "next", "other links"},
		"another link":           {[]pair{{1, 2}, {1, 1}}, "next", "other links"},
		"a partner of one alone": {[]pair{{1, 2}}, "", ""},
	} {
		_, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "S", Rows: []written{{ID: 1}, {ID: 2, Name: "b"}}, Navigations: []memory.Navigation{
			{Name: "next", To: "S", Many: true, Via: []pair{{1, 2}, {2, 1}}, FromKey: "from", ToKey: "to", Partner: "last"},
			{Name: "last", To: "S", Many: true, Via: tt.back, FromKey: "to", ToKey: "from", Partner: tt.partner},
		}}}})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One transaction is open at a time; Replace waits for it, and who gives up waiting leaves nothing behind.
func TestTransactionsTakeTurns(t *testing.T) {
	t.Parallel()
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "S", Rows: []written{{ID: 1, Name: "a"}}, Write: &memory.Write{Create: true}}}})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := source.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	version := source.Version(t.Context())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.Begin(ended); err == nil {
		t.Error("two transactions are open")
	} else if p, ok := errors.AsType[*plan.Error](err); !ok || p.Kind != plan.Unavailable {
		t.Errorf("who gave up gets %v", err)
	}
	replaced := make(chan error)
	go func() { replaced <- source.Replace("S", []written{{ID: 5, Name: "b"}}) }()
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if err := <-replaced; err != nil {
		t.Error(err)
	}
	if source.Version(t.Context()) == version {
		t.Error("the version of other rows is the same")
	}
	if err := tx.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := tx.Apply(nil); err == nil {
		t.Error("a change was made behind the end")
	}
	if err := tx.Commit(); err == nil {
		t.Error("a transaction was committed twice")
	}
	if tx, err = source.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Close(); err != nil {
		t.Error(err)
	}
}
