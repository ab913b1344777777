package pluginproc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// validating is the fault plugin as a validator.
func validating(t testing.TB) pluginproc.Spec {
	t.Helper()
	spec := faulty(t, "ok")
	spec.Roles, spec.Timeout = []string{pluginsdk.RoleValidator}, 2*time.Second
	return spec
}

// anOrder is an update of an order.
func anOrder() []pluginsdk.Change {
	return []pluginsdk.Change{
		pluginsdk.Change{Set: "Orders", Kind: "update", Key: "5"}.WithJSON([]byte(`{"id":5,"status":"open"}`), []byte(`{"id":5,"status":"paid"}`)),
	}
}

// validate makes a call of the fault plugin, which behaves in the given way.
func validate(t testing.TB, h *host, way string) (pluginsdk.Verdict, error) {
	t.Helper()
	return h.Validate(t.Context(), "fault", "r1", person(way), anOrder())
}

// Only a plugin with the role is asked, and several may have it.
func TestValidatorsAreNamed(t *testing.T) {
	t.Parallel()
	first, second, other := validating(t), validating(t), faulty(t, "ok")
	second.Name, other.Name = "second", "other"
	h := started(t, pluginproc.Options{}, first, other, second)
	if diff := cmp.Diff([]string{"fault", "second"}, h.Validators()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"fault": "", "second": "", "other": "does not have the role validator", "nobody": "no plugin"} {
		_, err := h.Validate(t.Context(), name, "r1", person("any"), anOrder())
		if want == "" && err != nil || want != "" && (!errors.Is(err, pluginsdk.ErrUnavailable) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// A validator learns the changes as they are, and of the user what is granted.
func TestValidatorLearnsTheChanges(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, validating(t))
	who := person("echo")
	who.Locale = "de\xff"
	who.Columns = pluginsdk.ValuesOf(map[string]pluginsdk.Value{"partner_id": int64(7), "salary": int64(1), "password": "x", "remember_token": "x"})
	v, err := h.Validate(t.Context(), "fault", "r1", who, anOrder())
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		User struct {
			ID, Locale string
			Columns    map[string]any
		}
		Changes []struct {
			Set, Kind, Key string
			Old, New       map[string]any
		}
	}
	v.Amendments(func(_ int, _ string, value json.RawMessage) {
		var text string
		if err := errors.Join(json.Unmarshal(value, &text), json.Unmarshal([]byte(text), &told)); err != nil {
			t.Error(err)
		}
	})
	if diff := cmp.Diff(map[string]any{"partner_id": 7.0}, told.User.Columns); diff != "" || told.User.Locale != "de\uFFFD" || told.User.ID != who.ID {
		t.Errorf("it was told of %+v: %s", told.User, diff)
	}
	if len(told.Changes) != 1 || told.Changes[0].Key != "5" || told.Changes[0].Old["status"] != "open" || told.Changes[0].New["status"] != "paid" {
		t.Errorf("it was told %+v", told.Changes)
	}
	if h.counts.get("validate ok") != 1 {
		t.Errorf("counted %v", h.counts.n)
	}
}

// The host tells an error that the plugin chose from a plugin that is down or late, and both
// from a verdict that breaks the contract. The log names plugin, change and property.
func TestFaultyValidator(t *testing.T) {
	t.Parallel()
	shared := started(t, pluginproc.Options{}, validating(t))
	const place = `change 0, the update of Orders(5), property "`
	for way, tt := range map[string]struct {
		want error
		text string
	}{
		"error":        {pluginsdk.ErrUnavailable, "secret detail"},
		"panic":        {pluginsdk.ErrUnavailable, "panic: in a call"},
		"exit":         {pluginsdk.ErrUnavailable, ""},
		"kill":         {pluginsdk.ErrUnavailable, ""},
		"hang":         {pluginsdk.ErrUnavailable, "did not answer in time"},
		"freeze":       {pluginsdk.ErrUnavailable, "did not answer in time"},
		"wrong-index":  {pluginsdk.ErrContract, "about the change 1; there are 1"},
		"raw-index":    {pluginsdk.ErrContract, "about the change 1; there are 1"},
		"raw-negative": {pluginsdk.ErrContract, "about the change -1"},
		"raw-property": {pluginsdk.ErrContract, place + `nope": there is no such property`},
		"raw-silent":   {pluginsdk.ErrContract, place + `status": the message is empty`},
		"raw-long":     {pluginsdk.ErrContract, place + `status": the message is not one line of at most 1024 bytes`},
		"raw-lines":    {pluginsdk.ErrContract, place + `status": the message is not one line`},
		"raw-utf8":     {pluginsdk.ErrContract, "cannot be decoded"},
		"raw-many":     {pluginsdk.ErrContract, "1001 refusals"},
		"raw-amends":   {pluginsdk.ErrContract, place + `nope": there is no such property`},
		"raw-value":    {pluginsdk.ErrContract, place + `status": the value is no JSON text`},
		"raw-nothing":  {pluginsdk.ErrContract, place + `status": the value is no JSON text`},
		"raw-json":     {pluginsdk.ErrContract, place + `status": the value is no JSON text`},
		"not-protobuf": {pluginsdk.ErrContract, "cannot be decoded"},
		"refuses":      {nil, ""},
		"amends":       {nil, ""},
		"accepts":      {nil, ""},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := shared
			if slices.Contains([]string{"exit", "kill", "hang", "freeze"}, way) {
				h = started(t, pluginproc.Options{}, validating(t))
			}
			v, err := validate(t, h, way)
			if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %v with %q", err, tt.want, tt.text)
			}
			if v.IsRefused() != (way == "refuses") || v.IsAmended() != (way == "amends") {
				t.Errorf("refused: %v, amended: %v", v.IsRefused(), v.IsAmended())
			}
			if log := h.log.String(); err != nil && !(strings.Contains(log, "request_id=r1") && strings.Contains(log, "call=validate") && strings.Contains(log, "fault")) {
				t.Errorf("the log does not tell which request and plugin failed: %s", log)
			}
		})
	}
}

// A validator decides without acting: the call of a process that dies is made again.
func TestValidateIsRepeated(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, validating(t))
	before := h.pid()
	if _, err := validate(t, h, "once"); err != nil {
		t.Fatal(err)
	}
	if h.pid() == before {
		t.Error("the process did not die")
	}
}

// A thousand changes are judged, and more bytes than a plugin takes are not sent.
func TestValidateIsBounded(t *testing.T) {
	t.Parallel()
	spec := validating(t)
	spec.Timeout = time.Minute
	h := started(t, pluginproc.Options{}, spec)
	changes := func(size int) (list []pluginsdk.Change) {
		for i := range 1000 {
			row := fmt.Appendf(nil, `{"id":%d,"status":%q}`, i, strings.Repeat("x", size))
			list = append(list, pluginsdk.Change{Set: "Orders", Kind: "update", Key: fmt.Sprint(i)}.WithJSON(row, row))
		}
		return list
	}
	if v, err := h.Validate(t.Context(), "fault", "r1", person("refuses"), changes(2000)); err != nil || !v.IsRefused() {
		t.Errorf("got %+v, %v", v, err)
	}
	if _, err := h.Validate(t.Context(), "fault", "r2", person("any"), changes(2200)); !errors.Is(err, pluginsdk.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := validate(t, h, "any"); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// No call is lost while the plugin is killed and exchanged. A call is made again once, so that
// each meets one disturbance at most.
func TestNoVerdictIsLostUnderKillsAndSwaps(t *testing.T) {
	calls := 500
	if os.Getenv("LONG") != "" {
		calls = 10_000
	}
	spec := validating(t)
	spec.Command = append(spec.Command, "0")
	h := started(t, pluginproc.Options{}, spec)
	var done atomic.Int64
	var underWay sync.RWMutex
	var disturb, work sync.WaitGroup
	disturb.Go(func() {
		for i := range 7 {
			for done.Load() < int64(calls*(i+1)/8) && !t.Failed() {
				time.Sleep(time.Millisecond)
			}
			underWay.Lock()
			underWay.Unlock() //nolint:staticcheck // it waits for those who hold it, and keeps nobody out
			if pid := h.pid(); i%2 == 0 && pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				continue
			}
			next := spec
			next.Command = append([]string(nil), spec.Command...)
			next.Command[2] = fmt.Sprint(i)
			if err := h.Reload(t.Context(), []pluginproc.Spec{next}); err != nil {
				t.Error("swap:", err)
			}
		}
	})
	for range 16 {
		work.Go(func() {
			for done.Add(1) <= int64(calls) && !t.Failed() {
				underWay.RLock()
				v, err := h.Validate(t.Context(), "fault", "r1", person("refuses"), anOrder())
				underWay.RUnlock()
				if err != nil || !v.IsRefused() {
					t.Errorf("a verdict is lost: %+v, %v", v, err)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	work.Wait()
	disturb.Wait()
	if n := h.counts.get("restart"); n < 3 {
		t.Errorf("the plugin was started again %d times only; the test does not test much", n)
	}
}

// A call by hand and a check hold the verdict against the contract.
func TestValidatorByHandAndChecked(t *testing.T) {
	t.Parallel()
	answer, err := pluginproc.Call(t.Context(), validating(t), pluginproc.Options{}, []byte(`{"user": {"email": "refuses@example.com"}, "changes": [{"set": "Orders", "kind": "create", "new": {"status": "x"}}]}`))
	if err != nil || !strings.Contains(string(answer), `"message": "This is not allowed."`) {
		t.Errorf("got %s, %v", answer, err)
	}
	for way, want := range map[string]string{"refuses": "", "raw-property": "there is no such property", "hang": "did not answer in time"} {
		spec := validating(t)
		spec.Config, spec.Timeout = []byte(`{"call": "`+way+`"}`), time.Minute
		if way == "hang" {
			spec.Timeout = 2 * time.Second
		}
		report, err := pluginproc.Check(t.Context(), spec, pluginproc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		failed := ""
		for _, f := range report.Findings {
			if f.Err != nil {
				failed += f.Check + ": " + f.Err.Error() + "\n"
			}
		}
		if (failed == "") != (want == "") || !strings.Contains(failed, want) {
			t.Errorf("%s: failed %q, want %q", way, failed, want)
		}
	}
}
