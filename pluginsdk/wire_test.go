package pluginsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// dispenses serves a function as a plugin.
func dispenses(t *testing.T, f pluginsdk.DispenserFunc) *plugintest.Plugin {
	t.Helper()
	return plugintest.Serve(t, pluginsdk.Plugin{Name: "test", Dispenser: f})
}

func handles(t *testing.T, f pluginsdk.OrgSetupFunc) *plugintest.Plugin {
	t.Helper()
	return plugintest.Serve(t, pluginsdk.Plugin{Name: "test", OrgSetup: f})
}

// What a host knows arrives as it is, and what a plugin wants comes back.
func TestValuesCrossTheWire(t *testing.T) {
	values := map[string]pluginsdk.Value{
		"null": nil, "true": true, "false": false, "zero": int64(0), "max": int64(math.MaxInt64), "min": int64(math.MinInt64),
		"float": 0.1, "infinite": math.Inf(1), "text": "ü\x00👩‍🚀", "empty": "", "bytes": []byte{0, 255},
	}
	user := pluginsdk.User{ID: "7", Name: "Ada", Email: "a@example.com", Columns: pluginsdk.ValuesOf(values)}
	want := pluginsdk.Request{
		ID: "r", IntentID: "i", Method: "POST", Path: "/p", Query: "q", Headers: map[string]string{"h": "v"},
		RemoteAddr: "::1", Locale: "de", Intended: "/x", Routes: map[string]string{"home": "/"}, Session: pluginsdk.ValuesOf(values),
	}
	var gotUser pluginsdk.User
	var got pluginsdk.Request
	p := dispenses(t, func(_ context.Context, u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		gotUser, got = u, *r
		intent := pluginsdk.OrgSetup("Ada").With(pluginsdk.ConsumeIntended())
		for name, v := range u.Columns.All() {
			if name == "infinite" {
				continue // a column may hold it, but no effect may set it
			}
			intent = intent.With(pluginsdk.SetSession(name, v), pluginsdk.SetUser(name, v))
		}
		return intent, nil
	})
	a := p.Dispense(user, func(r *pluginsdk.Request) { *r = want }).AsksForOrganisation("Ada").With(pluginsdk.ConsumeIntended())
	for name, v := range values {
		if name != "infinite" {
			a.With(pluginsdk.SetSession(name, v)).With(pluginsdk.SetUser(name, v))
		}
	}
	if diff := cmp.Diff(user, gotUser); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Authors may use the integers that they have.
func TestOtherTypesOfAuthors(t *testing.T) {
	var value any
	p := dispenses(t, func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
		return pluginsdk.Done().With(pluginsdk.SetSession("x", value)), nil
	})
	day := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, tt := range []struct{ in, want any }{
		{5, int64(5)},
		{int8(-5), int64(-5)},
		{int16(5), int64(5)},
		{int32(5), int64(5)},
		{uint(5), int64(5)},
		{uint8(5), int64(5)},
		{uint16(5), int64(5)},
		{uint32(5), int64(5)},
		{uint64(math.MaxInt64), int64(math.MaxInt64)},
		{float32(0.5), 0.5},
		{day, "2026-01-02T03:04:05.000000006Z"},
		{day.In(time.FixedZone("", -3600)), "2026-01-02T03:04:05.000000006Z"},
	} {
		value = tt.in
		p.Dispense(pluginsdk.User{}).With(pluginsdk.SetSession("x", tt.want))
	}
	for _, bad := range []any{math.Inf(1), math.NaN(), uint64(math.MaxUint64), struct{}{}, []int{1}, "\xff"} {
		value = bad
		if a := p.Dispense(pluginsdk.User{}); a.Intent.Kind() != "" {
			t.Errorf("%#v was sent", bad)
		}
	}
}

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name string
		f    pluginsdk.DispenserFunc
		want error
		text string
	}{
		{"error", func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Done(), errors.New("no database")
		}, pluginsdk.ErrUnavailable, "no database"},
		{"panic", func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			_ = []int{}[len(os.Args)]
			return pluginsdk.Done(), nil
		}, pluginsdk.ErrUnavailable, "panic: runtime error: index out of range"},
		{"given up", func(ctx context.Context, _ pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Done(), context.Canceled
		}, pluginsdk.ErrUnavailable, "context canceled"},
		{"deadline", func(ctx context.Context, _ pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Done(), context.DeadlineExceeded
		}, pluginsdk.ErrUnavailable, "context deadline exceeded"},
		{"no intent", func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Intent{}, nil
		}, pluginsdk.ErrContract, "no intent"},
		{"effect of no constructor", func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Done().With(pluginsdk.Effect{}), nil
		}, pluginsdk.ErrContract, "no constructor made"},
		{"too large", func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Redirect(strings.Repeat("x", handshake.MaxAnswer)), nil
		}, pluginsdk.ErrContract, "larger than 1048576"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := dispenses(t, tt.f)
			_, err := p.Client.Dispense(t.Context(), pluginsdk.User{}, nil)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v: %s", err, tt.want, tt.text)
			}
			if _, err := p.Client.Handle(t.Context(), pluginsdk.User{}, nil); !errors.Is(err, pluginsdk.ErrUnavailable) {
				t.Errorf("a role that it does not have: %v", err)
			}
		})
	}
}

func TestResultsCrossTheWire(t *testing.T) {
	var result pluginsdk.Result
	p := handles(t, func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Result, error) {
		return result, nil
	})
	result = pluginsdk.Satisfied().With(pluginsdk.SetUser("a", int64(1)))
	p.Handle(pluginsdk.User{}, nil).Satisfied().With(pluginsdk.SetUser("a", int64(1)))
	result = pluginsdk.Failed("one", "two")
	p.Handle(pluginsdk.User{}, nil).Refuses("two")
	result = pluginsdk.NeedsMoreInput(map[string]any{"n": int64(math.MaxInt64), "fields": map[string]any{"x": []string{"y"}}})
	j := p.Handle(pluginsdk.User{}, nil).NeedsMoreInput("x")
	if text, err := json.Marshal(j.Result.NextStep()); err != nil || string(text) != `{"fields":{"x":["y"]},"n":9223372036854775807}` {
		t.Errorf("%s, %v", text, err)
	}
	result = pluginsdk.NeedsMoreInput(nil)
	p.Handle(pluginsdk.User{}, nil).NeedsMoreInput()
	result = pluginsdk.NeedsMoreInput(map[string]any{"f": func() {}})
	p.Handle(pluginsdk.User{}, nil).Fails("payload of NeedsMoreInput")
	result = pluginsdk.Failed("\xff")
	p.Handle(pluginsdk.User{}, nil).Fails("UTF-8")
	result = pluginsdk.Result{}
	p.Handle(pluginsdk.User{}, nil).Fails("no result")
}

func TestConfigure(t *testing.T) {
	var got pluginsdk.Setup
	plugin := pluginsdk.Plugin{
		Name: "test", Dispenser: &sample{},
		Configure: func(_ context.Context, s pluginsdk.Setup) error {
			got = s
			if s.Name == "broken" {
				return errors.New("no database")
			}
			return nil
		},
	}
	setup := pluginsdk.Setup{Name: "label", Roles: []string{"dispenser"}, UserRead: []string{"a"}, UserWrite: []string{"b"}, Headers: []string{"c"}}
	p := plugintest.Serve(t, plugin, setup)
	if !got.CanRead("a") || got.CanRead("b") || !got.CanWrite("b") || got.CanWrite("a") || got.Name != "label" || got.Headers[0] != "c" {
		t.Errorf("got %+v", got)
	}
	if err := p.Client.Configure(t.Context(), pluginsdk.Setup{Name: "broken"}); err == nil || !strings.Contains(err.Error(), "no database") {
		t.Errorf("got %v", err)
	}
	var mistakes *pluginsdk.ConfigError
	err := p.Client.Configure(t.Context(), pluginsdk.Setup{Config: []byte(`{"x": 1}`)})
	if !errors.As(err, &mistakes) || mistakes.Problems[0].Message != "this key is unknown; the plugin takes no configuration" {
		t.Errorf("got %v", err)
	}
}

func TestBind(t *testing.T) {
	type kindOfTest string
	type form struct {
		Name    string `form:"org_name"`
		Size    *string
		Legal   int8 `form:"legal_form"`
		Big     uint64
		Ratio   float64
		On      bool
		Any     any
		Kind    kindOfTest
		Skipped string `form:"-"`
		Absent  string
	}
	req := pluginsdk.Request{Form: pluginsdk.ValuesOf(map[string]pluginsdk.Value{
		"org_name": "x", "size": "small", "legal_form": int64(2), "big": int64(math.MaxInt64), "ratio": int64(3), "on": true,
		"any": int64(1), "kind": "done", "-": "x", "absent": nil,
	})}
	var got form
	if err := req.Bind(&got); err != nil {
		t.Fatal(err)
	}
	small := "small"
	want := form{Name: "x", Size: &small, Legal: 2, Big: math.MaxInt64, Ratio: 3, On: true, Any: int64(1), Kind: "done"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, value := range map[string]pluginsdk.Value{"legal_form": int64(1000), "org_name": int64(1), "big": int64(-1), "on": "true"} {
		req.Form = pluginsdk.ValuesOf(map[string]pluginsdk.Value{name: value})
		if err := req.Bind(&form{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %v: %v", name, value, err)
		}
	}
	if err := req.Bind(form{}); err == nil {
		t.Error("a struct that is no pointer was filled")
	}
}

// Effects of one intent do not show in another made from it.
func TestIntentsAreValues(t *testing.T) {
	base := pluginsdk.Done().With(pluginsdk.ConsumeIntended())
	one, two := base.With(pluginsdk.SetSession("one", nil)), base.With(pluginsdk.SetSession("two", nil))
	if one.Effects()[1].Name() != "one" || two.Effects()[1].Name() != "two" || len(base.Effects()) != 1 {
		t.Error("effects are shared")
	}
}

func TestGoSurvivesAPanic(t *testing.T) {
	done := make(chan struct{})
	p := dispenses(t, func(ctx context.Context, _ pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
		pluginsdk.Go(ctx, func(ctx context.Context) {
			defer close(done)
			if ctx.Err() != nil {
				t.Error("the context ended with the call")
			}
			_ = []int{}[len(os.Args)]
		})
		return pluginsdk.Done(), nil
	})
	p.Dispense(pluginsdk.User{}).IsDone()
	<-done
	pluginsdk.Logger(context.Background()).Info("outside of a call") // must not panic
}

// A call by hand may be that of somebody who has asked for the step, and so is a sample.
func TestCallsOfStepsThatPeopleAskFor(t *testing.T) {
	var c pluginsdk.Call
	err := c.Parse([]byte(`{"request": {"asked": true, "signed_in_by": "passkey"}}`))
	if err != nil || !c.Request.Asked || c.Request.SignedInBy != "passkey" || c.Role != pluginsdk.RoleDispenser {
		t.Errorf("%+v, %v", c, err)
	}
	asked := 0
	for _, sample := range c.Samples() {
		if sample.Request.Asked {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("%d samples are asked for, want one", asked)
	}
}

func FuzzParseCall(f *testing.F) {
	f.Add([]byte(`{"role":"dispenser","user":{"id":7,"columns":{"a":[1,{"b":null}]}},"request":{"session":{"x":1.5}}}`))
	f.Add([]byte(`{"form":{"org_name":"x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c pluginsdk.Call
		if err := c.Parse(data); err != nil {
			return
		}
		s := &sample{Page: "/"}
		if out, err := c.Run(t.Context(), pluginsdk.Plugin{Dispenser: s, OrgSetup: s}); err == nil && !json.Valid(out) {
			t.Errorf("the answer is no JSON: %s", out)
		}
	})
}
