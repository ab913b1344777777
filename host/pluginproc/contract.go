package pluginproc

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The limits of an answer, in bytes where it is a size.
const (
	maxEffects      = 64
	maxTarget       = 8 << 10
	maxPrefixes     = 16
	maxPersonName   = 1 << 10
	maxEffectName   = 128
	maxSessionValue = 16 << 10
	maxUserValue    = 64 << 10
	maxErrors       = 32
	maxError        = 2 << 10
	maxNextStep     = 64 << 10
	maxMailTexts    = 16
	maxMailText     = 1 << 10
	maxMailTextName = 64
)

// narrow returns what the plugin may know: the granted columns and headers, and
// its own session values under their own names. In texts that are not UTF-8,
// which protobuf cannot send, bad bytes are replaced.
func (s Spec) narrow(user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.User, *pluginsdk.Request) {
	user.Name, user.Email = mend(user.Name), mend(user.Email)
	known, columns := user.Columns.All(), make(map[string]pluginsdk.Value, len(s.UserRead))
	for _, name := range s.UserRead {
		if v, ok := known[name]; ok && !reserved.Credential(name) {
			columns[name] = mendValue(v)
		}
	}
	user.Columns = pluginsdk.ValuesOf(columns)
	if req == nil {
		return user, &pluginsdk.Request{}
	}
	r := *req
	r.Path, r.Query, r.Locale, r.Intended = mend(r.Path), mend(r.Query), mend(r.Locale), mend(r.Intended)
	r.Headers = s.narrowHeaders(req.Headers)
	session := map[string]pluginsdk.Value{}
	for name, v := range req.Session.All() {
		if own, ok := strings.CutPrefix(name, s.Name+"/"); ok {
			session[own] = mendValue(v)
		}
	}
	r.Session = pluginsdk.ValuesOf(session)
	form := req.Form.All()
	for name, v := range form {
		form[name] = mendValue(v)
	}
	r.Form = pluginsdk.ValuesOf(form)
	return user, &r
}

func (s Spec) narrowHeaders(headers map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range headers {
		if lower := strings.ToLower(name); slices.Contains(s.Headers, lower) && !reserved.Header(lower) {
			out[lower] = mend(value)
		}
	}
	return out
}

func mend(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func mendValue(v pluginsdk.Value) pluginsdk.Value {
	if s, ok := v.(string); ok {
		return mend(s)
	}
	return v
}

// checkEffects checks effects, and puts session values and mails under the plugin's
// prefix.
func (s Spec) checkEffects(effects []pluginsdk.Effect) ([]pluginsdk.Effect, error) {
	if len(effects) > maxEffects {
		return nil, broken("it asks for %d effects; %d are allowed", len(effects), maxEffects)
	}
	out := make([]pluginsdk.Effect, 0, len(effects))
	for _, e := range effects {
		if err := s.checkEffect(e); err != nil {
			return nil, err
		}
		switch {
		case e.IsSetSession():
			e = pluginsdk.SetSession(s.Name+"/"+e.Name(), e.Value())
		case e.IsMail():
			e = pluginsdk.Mail(s.Name+"/"+e.Name(), e.Texts())
		}
		out = append(out, e)
	}
	return out, nil
}

func (s Spec) checkEffect(e pluginsdk.Effect) error {
	if e.IsMail() {
		return s.checkMail(e)
	}
	limit := 0
	switch {
	case e.IsConsumeIntended():
		return nil
	case e.IsSetSession():
		limit = maxSessionValue
		if e.Name() == "" || len(e.Name()) > maxEffectName || !printable(e.Name()) {
			return broken("a session value's name must be 1 to %d printable bytes", maxEffectName)
		}
	case e.IsSetUser():
		limit = maxUserValue
		if !grants(s.UserWrite, e.Name()) || reserved.Credential(e.Name()) {
			return broken("it sets the user column %q, which is not granted: add it to user_write in config.hcl if it may",
				words.Cut(e.Name(), 64))
		}
	default:
		return broken("it asks for an effect of an unknown kind")
	}
	old, _ := e.Replaced()
	if err := checkValue(e.Name(), old, limit); err != nil {
		return err
	}
	return checkValue(e.Name(), e.Value(), limit)
}

// grants reports whether a list of a block names something. A program that is checked without
// a block is granted everything, as "*".
func grants(list []string, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, "*")
}

// fits returns an error when a column cannot hold the value that an effect sets.
func (p *instance) fits(ctx context.Context, effects []pluginsdk.Effect) error {
	for _, e := range effects {
		if !e.IsSetUser() {
			continue
		}
		if err := p.slot.options.Fits(ctx, e.Name(), e.Value()); err != nil {
			return broken("it sets a user column to a value that does not fit: %v", err)
		}
	}
	return nil
}

// checkMail bounds a mail, as the SDKs do.
func (s Spec) checkMail(e pluginsdk.Effect) error {
	name := words.Cut(e.Name(), 64)
	if !grants(s.Mails, e.Name()) {
		return broken("it sends the mail %q, which is not granted: add it to mails in config.hcl if it may", name)
	}
	if len(e.Texts()) > maxMailTexts {
		return broken("the mail %q has %d texts; %d are allowed", name, len(e.Texts()), maxMailTexts)
	}
	for key, text := range e.Texts() {
		if key == "" || len(key) > maxMailTextName || !oneLine(key) {
			return broken("the name of a text of the mail %q must be 1 to %d printable bytes", name, maxMailTextName)
		}
		if len(text) > maxMailText || !oneLine(text) {
			return broken("the text %q of the mail %q must be one line of UTF-8 of at most %d bytes", key, name, maxMailText)
		}
	}
	return nil
}

// oneLine reports whether s is UTF-8 without control characters and line separators.
func oneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) })
}

// checkTold checks the effects of a listener, which has no session.
func (s Spec) checkTold(effects []pluginsdk.Effect) ([]pluginsdk.Effect, error) {
	for _, e := range effects {
		if e.IsSetSession() || e.IsConsumeIntended() {
			return nil, broken("a listener has no session: it can set granted columns and send granted mails")
		}
	}
	return s.checkEffects(effects)
}

func checkValue(name string, v pluginsdk.Value, limit int) error {
	switch v := v.(type) {
	case nil, bool, int64:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return broken("the value of %q is not a number", name)
		}
		return nil
	case string:
		if !utf8.ValidString(v) {
			return broken("the value of %q is not valid UTF-8", name)
		}
		if len(v) > limit {
			return broken("the value of %q has %d bytes; %d are allowed", name, len(v), limit)
		}
		return nil
	case []byte:
		if len(v) > limit {
			return broken("the value of %q has %d bytes; %d are allowed", name, len(v), limit)
		}
		return nil
	}
	return broken("the value of %q has a type that the contract does not know", name)
}

func checkText(what, s string, limit int) error {
	if !utf8.ValidString(s) {
		return broken("%s is not valid UTF-8", what)
	}
	if len(s) > limit {
		return broken("%s has %d bytes; %d are allowed", what, len(s), limit)
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", pluginsdk.ErrContract, fmt.Sprintf(format, args...))
}
