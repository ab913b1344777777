package main

import (
	"encoding/base64"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

var testKey = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

// A world is the plugin, its clock, and what a host keeps for people.
type world struct {
	t      *testing.T
	plugin *plugintest.Plugin
	clock  time.Time
	// columns are the rows of people by id.
	columns map[string]pluginsdk.Value
}

func newWorld(t *testing.T, more ...string) *world {
	t.Helper()
	w := &world{t: t, clock: time.Unix(1_700_000_000, 0), columns: map[string]pluginsdk.Value{}}
	settings := append([]string{`"key": "` + testKey + `"`, `"page": "/second-factor"`, `"issuer": "Fern weh"`}, more...)
	w.plugin = plugintest.Serve(t, newPlugin(func() time.Time { return w.clock }), plugintest.Config("{"+strings.Join(settings, ", ")+"}"))
	return w
}

// A browser is one session of a person.
type browser struct {
	*world
	user, session string
	values        map[string]pluginsdk.Value
	held, by      string
	began, asked  bool
	// proved is how many seconds after the sign-in the person has confirmed who they are.
	proved int64
	// stale is the column as another request of the same moment saw it.
	stale, recoveryOnly bool
	column              pluginsdk.Value
}

func (w *world) browser(user, session string) *browser {
	return &browser{world: w, user: user, session: session, values: map[string]pluginsdk.Value{}}
}

// ask asks the plugin as the host does, with what the page posted, and applies the
// effects unless a value that one replaces has changed.
func (b *browser) ask(fields ...string) plugintest.Answer {
	b.t.Helper()
	if !b.stale {
		b.column = b.columns[b.user]
	}
	user := pluginsdk.User{ID: b.user, Name: "Ada", Email: "ada@example.com", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"second_factor": b.column})}
	answer := b.plugin.Dispense(user, func(r *pluginsdk.Request) {
		r.Method, r.Session, r.Held = "GET", pluginsdk.ValuesOf(b.values), b.held
		r.RecoveryOnly, r.Asked, r.SignedInBy = b.recoveryOnly, b.asked, b.by
		if b.began {
			r.SessionID, r.SignedInAt = b.session, time.Unix(1_699_999_990+b.proved, 0)
		}
		if fields != nil {
			form := map[string]pluginsdk.Value{}
			for i := 0; i+1 < len(fields); i += 2 {
				form[fields[i]] = fields[i+1]
			}
			r.Method, r.Form = "POST", pluginsdk.ValuesOf(form)
		}
	})
	values := maps.Clone(b.values)
	for _, e := range answer.Intent.Effects() {
		if e.IsSetSession() {
			values[e.Name()] = e.Value()
			if e.Value() == nil {
				delete(values, e.Name())
			}
			continue
		}
		old, named := e.Replaced()
		if !named {
			b.t.Errorf("the effect on %s replaces no value", e.Name())
		}
		if old != b.columns[b.user] {
			return answer // lost: nothing of it is applied
		}
		b.columns[b.user] = e.Value()
	}
	b.values, b.held, b.began = values, answer.Intent.Target(), true
	return answer
}

func (b *browser) step(want string, fields ...string) map[string]any {
	b.t.Helper()
	a := b.ask(append([]string{"", ""}, fields...)...)
	a.Holds("/second-factor")
	payload := a.Intent.NextStep()
	if payload["step"] != want {
		b.t.Fatalf("the page shows %v %v, want %s", payload, a.Intent.Errors(), want)
	}
	return payload
}

func (w *world) code(secret string) string {
	w.t.Helper()
	code, err := totp.GenerateCode(secret, w.clock)
	if err != nil {
		w.t.Fatal(err)
	}
	return code
}

// enrolled sets a factor up and returns the secret and the recovery codes.
func (w *world) enrolled(user string) (secret string, recovery []string) {
	w.t.Helper()
	b := w.browser(user, "first of "+user)
	b.ask().Holds("/second-factor")
	secret, _ = b.step("enrol")["secret"].(string)
	codes, _ := b.step("codes", "action", "confirm", "code", w.code(secret))["codes"].([]any)
	for _, c := range codes {
		recovery = append(recovery, c.(string))
	}
	b.ask("action", "continue").IsDone()
	w.clock = w.clock.Add(time.Minute)
	return secret, recovery
}
