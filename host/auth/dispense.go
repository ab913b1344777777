package auth

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxValues bounds what one plugin keeps in one session, in bytes as [largest] counts them.
const maxValues = 32 << 10

// loopWarning is how often in a row the dispenser may answer the same kind of
// intent before a warning is logged that its loop may never end.
const loopWarning = 3

// A step is a validated answer: an intent and what it changes.
type step struct {
	intent  OpenIntent
	consume bool
	values  map[string]pluginsdk.Value
	columns map[string]pluginsdk.Value
	// replaced holds, of the columns that are set, the values that their effects name.
	replaced map[string]pluginsdk.Value
	// mails are the effects that send one, in the language of the person, with links to the
	// origin base.
	mails        []pluginsdk.Effect
	locale, base string
	// nextStep and failures are what a held redirect tells its page.
	nextStep map[string]any
	failures []string
	// recovery reports that the dispenser judged the form as a recovery, right or wrong.
	recovery bool
	// asked reports that the intent is not one of the loop: the step that a settled person has
	// asked for, or its end.
	asked bool
}

// A question is what the dispenser is asked about beside the user and the session.
type question struct {
	// before holds effects that are laid over the user and committed with the step.
	before []pluginsdk.Effect
	// form is what the page of a held step has posted.
	form map[string]pluginsdk.Value
	// recoveryOnly tells the dispenser that only a recovery form may be judged.
	recoveryOnly bool
	// begins is the dispenser whose step a settled person asks for; empty for a question about
	// the step that the person is at.
	begins string
	// admit may refuse an answer before it is applied; nil admits all.
	admit func(step) error
}

// applyTo returns the session as the step leaves it.
func (s step) applyTo(sess Session) Session {
	if s.consume {
		sess.Intended = ""
	}
	values := map[string]pluginsdk.Value{}
	maps.Copy(values, sess.Values)
	for name, v := range s.values {
		if v == nil {
			delete(values, name)
			continue
		}
		values[name] = v
	}
	sess.Values = values
	if s.asked {
		sess.Asked = nil
		if !s.intent.Ends() {
			sess.Asked = &s.intent
		}
		return sess
	}
	sess.Intent, sess.Unasked = &s.intent, false
	return sess
}

// dispense asks for the next intent and validates the answers.
func (p *Pipeline) dispense(r *http.Request, user User, s Session, q question) (step, error) {
	out := step{intent: OpenIntent{ID: hex.EncodeToString(random(16))}, locale: p.Site.Locale(r), base: p.Site.Base(r)}
	asking := &round{Pipeline: p, r: r, user: user, session: s, out: out, asked: q.begins}
	if asking.asked == "" && s.Settled() && s.Asked != nil {
		asking.asked = s.Asked.Dispenser
	}
	if asking.asked != "" {
		asking.out.asked = true
		asking.out.intent.Dispenser, asking.out.intent.Session, asking.out.intent.Asked = asking.asked, s.ID(), p.Now()
		if s.Asked != nil { // whose time goes on
			asking.out.intent.Asked = s.Asked.Asked
		}
	}
	if err := asking.out.collect(q.before, p.LoginField); err != nil {
		return step{}, contractFault(err)
	}
	if err := asking.run(q); err != nil {
		return step{}, err
	}
	p.watchLoop(r, s, q, &asking.out)
	return asking.out, nil
}

// watchLoop counts how often in a row the same step was dispensed, and warns about
// a dispenser whose step does not change what it tests. The count is kept with the
// session, so that it is right for any number of hosts. A page that is told what was
// wrong with its form, or what it is to show, is no sign of that. Since people may come
// back to a step as often as they like, the warnings get rarer: after 3, 6, 12 … times.
func (p *Pipeline) watchLoop(r *http.Request, s Session, q question, out *step) {
	before := s.open()
	if before == nil || before.Kind() != out.intent.Kind() || before.Target() != out.intent.Target() || out.intent.Ends() {
		return
	}
	out.intent.Round = before.Round
	if len(out.failures) > 0 || q.form != nil && len(out.nextStep) > 0 {
		return
	}
	out.intent.Round++
	if times := out.intent.Round / loopWarning; out.intent.Round%loopWarning != 0 || times&(times-1) != 0 {
		return
	}
	p.Audit("loop")
	p.Logger.Warn("the dispenser returns the same intent again and again: its step must change the state that it tests",
		"request_id", RequestOf(r.Context()).ID, "user", s.UserID, "dispenser", out.intent.Dispenser, "kind", out.intent.Kind(), "round", out.intent.Round)
}

// request is what a plugin learns about r; pluginproc narrows it to the grants.
func (p *Pipeline) request(r *http.Request, s Session, intentID string) *pluginsdk.Request {
	q := RequestOf(r.Context())
	return &pluginsdk.Request{
		ID: q.ID, IntentID: intentID, Traceparent: q.Trace.Parent, Tracestate: q.Trace.State,
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Headers: pluginHeaders(r.Header), RemoteAddr: q.Client, Locale: p.Site.Locale(r),
		Intended: s.Intended, Routes: p.Site.Routes(), Session: pluginsdk.ValuesOf(s.Values),
		SessionID: s.ID(), SignedInAt: s.Proved, SignedInBy: signedInBy(s.Proof),
	}
}

// signedInBy is what plugins are told of how a session began.
func signedInBy(proof Proof) string {
	if proof == proofPassword {
		return "password"
	}
	return string(proof)
}

// pluginHeaders leaves out what identifies the person to this host.
func pluginHeaders(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for name, values := range h {
		if !reserved.Header(name) {
			out[strings.ToLower(name)] = strings.Join(values, ", ")
		}
	}
	return out
}

// PluginUser is the user as plugins know them, before their grants.
func PluginUser(u User) pluginsdk.User { return pluginUser(u, nil) }

// pluginUser is the user with columns laid over.
func pluginUser(u User, columns map[string]pluginsdk.Value) pluginsdk.User {
	all := map[string]pluginsdk.Value{}
	maps.Copy(all, u.Columns)
	maps.Copy(all, columns)
	out := pluginsdk.User{ID: u.ID, Name: u.Name, Email: u.Email, Columns: pluginsdk.ValuesOf(all)}
	if name, ok := columns["name"].(string); ok {
		out.Name = name
	}
	return out
}

// collect adds effects, in order. loginField is the column that people sign in
// with, which no effect may change.
func (s *step) collect(effects []pluginsdk.Effect, loginField string) error {
	for _, e := range effects {
		if err := checkEffect(e, loginField); err != nil {
			return err
		}
		switch {
		case e.IsMail():
			s.mails = append(s.mails, e)
		case e.IsConsumeIntended():
			s.consume = true
		case e.IsSetSession():
			set(&s.values, e.Name(), e.Value())
		case e.IsSetUser():
			_, again := s.columns[e.Name()]
			if old, named := e.Replaced(); named && !again {
				set(&s.replaced, e.Name(), old)
			}
			set(&s.columns, e.Name(), e.Value())
		}
	}
	return nil
}

func set(m *map[string]pluginsdk.Value, name string, v pluginsdk.Value) {
	if *m == nil {
		*m = map[string]pluginsdk.Value{}
	}
	(*m)[name] = v
}

// checkEffect refuses what no grant can allow. Grants are checked in
// host/pluginproc.
func checkEffect(e pluginsdk.Effect, loginField string) error {
	switch e.Value().(type) {
	case nil, bool, int64, float64, string, []byte:
	default:
		return fmt.Errorf("effect on %q has a value of type %T", e.Name(), e.Value())
	}
	switch {
	case e.IsConsumeIntended():
		return nil
	case e.IsSetSession(), e.IsSetUser(), e.IsMail():
		if e.Name() == "" {
			return errors.New("effect without a name")
		}
	default:
		return errors.New("effect of an unknown kind")
	}
	if _, named := e.Replaced(); named && !e.IsSetUser() {
		return fmt.Errorf("effect on %q names the value that it replaces, which only one on a column can", e.Name())
	}
	if e.IsSetUser() && !reserved.Writable(e.Name(), loginField) {
		return fmt.Errorf("effect on the column %q, which no plugin may change", e.Name())
	}
	return nil
}

// largest returns the plugin that keeps the most in a session, and how many bytes: of each
// value the name that the plugin gave it, the content of texts and bytes, and 10 more.
func largest(values map[string]pluginsdk.Value) (plugin string, size int) {
	sizes := map[string]int{}
	for name, v := range values {
		owner, own, prefixed := strings.Cut(name, "/")
		if !prefixed { // a dispenser in this process
			owner, own = "", name
		}
		n := len(own) + 10
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
		sizes[owner] += n
		if sizes[owner] > size {
			plugin, size = owner, sizes[owner]
		}
	}
	return plugin, size
}

// retryAfter is when to ask again for a plugin that is being restarted.
const retryAfter = 2 * time.Second

func dispenserFault(err error) error {
	if errors.Is(err, pluginsdk.ErrContract) {
		return contractFault(err)
	}
	return &fault.Fault{Code: fault.DispenserUnavailable, RetryAfter: retryAfter, Cause: err}
}

func contractFault(err error) error { return &fault.Fault{Code: fault.DispenserContract, Cause: err} }
