package pluginsdk

import (
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// A Value is what a user column or a session value holds: nil, bool, int64,
// float64, string or []byte. Narrower numbers are widened, and a [time.Time] is sent as
// text of RFC 3339 in UTC. Other types break the contract.
type Value = any

// An effectKind names the change that an [Effect] asks for.
type effectKind int

const (
	effectConsumeIntended effectKind = iota + 1
	effectSetSession
	effectSetUser
	effectMail
)

// An Effect is one change that a plugin asks the host to make. The host applies
// all effects of an answer, the session and the next intent in one transaction,
// or none of them.
type Effect struct {
	kind  effectKind
	name  string
	value Value

	replaces bool
	old      Value

	texts map[string]string
}

// ConsumeIntended removes the intended URL, the page that the person asked for
// before signing in; a dispenser that redirects there itself adds it.
func ConsumeIntended() Effect { return Effect{kind: effectConsumeIntended} }

// SetSession keeps a value in the person's session, under a name that only this
// plugin sees. nil removes it. Session values end with the session. One has at most
// 16 KiB, and all of this plugin's together have 32 KiB, where each counts 10 bytes and
// its name besides: more breaks the contract.
func SetSession(name string, value Value) Effect {
	return Effect{kind: effectSetSession, name: name, value: widen(value)}
}

// SetUser sets a column of the user's row. The column must stand in user_write
// of the plugin's block in config.hcl.
func SetUser(column string, value Value) Effect {
	return Effect{kind: effectSetUser, name: column, value: widen(value)}
}

// The limits of a mail, the last two in bytes.
const (
	maxMailTexts    = 16
	maxMailTextName = 64
	maxMailText     = 1 << 10
)

// Mail sends the user, at their own address, the mail of the templates NAME.txt and
// NAME.html in mail.templates. The name must stand in mails of the plugin's block in
// config.hcl. The templates show the texts by their names, as {{.Text "link"}}: up to 16,
// each of one line and at most 1 KiB. A text that begins with one slash is a path of the
// host's site and becomes an absolute address. The host sends a user at most ten such
// mails an hour, and drops and logs the others.
func Mail(name string, texts map[string]string) Effect {
	if len(texts) == 0 {
		texts = nil
	}
	return Effect{kind: effectMail, name: name, texts: maps.Clone(texts)}
}

// IsMail reports whether the effect sends a mail.
func (e Effect) IsMail() bool { return e.kind == effectMail }

// Texts returns what the template of a mail shows, by name. The map is shared, not copied.
func (e Effect) Texts() map[string]string { return e.texts }

// checkMails returns an error with [ErrContract] if a mail is one that no host sends.
func checkMails(effects []Effect) error {
	for _, e := range effects {
		if e.kind != effectMail {
			continue
		}
		if e.replaces {
			return fmt.Errorf("%w: the mail %q replaces a value: only an effect of SetUser can", ErrContract, words.Cut(e.name, 64))
		}
		if err := checkTexts(e.texts); err != nil {
			return fmt.Errorf("%w: the mail %q %w", ErrContract, words.Cut(e.name, 64), err)
		}
	}
	return nil
}

func checkTexts(texts map[string]string) error {
	if len(texts) > maxMailTexts {
		return fmt.Errorf("has %d texts; %d are allowed", len(texts), maxMailTexts)
	}
	for name, text := range texts {
		switch {
		case name == "" || len(name) > maxMailTextName || !oneLine(name):
			return fmt.Errorf("has a text whose name is not 1 to %d printable bytes", maxMailTextName)
		case len(text) > maxMailText:
			return fmt.Errorf("has a text %q of %d bytes; %d are allowed", name, len(text), maxMailText)
		case !oneLine(text):
			return fmt.Errorf("has a text %q that is not one line of UTF-8", name)
		}
	}
	return nil
}

// oneLine reports whether s is UTF-8 without control characters and line separators.
func oneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) })
}

// Replacing returns a copy of an effect of [SetUser] that counts only while the
// column holds old, as the plugin has seen it. If it holds another value by the
// time of the commit, nothing of the answer is applied; a dispenser is then asked
// again with fresh columns, three times at most. So a code is used once, however
// many sessions and hosts try it at the same time.
func (e Effect) Replacing(old Value) Effect {
	e.replaces, e.old = true, old
	return e
}

// Replaced returns the value that the effect replaces, and whether it names one.
func (e Effect) Replaced() (old Value, named bool) { return e.old, e.replaces }

// IsConsumeIntended reports whether the effect is one of [ConsumeIntended].
func (e Effect) IsConsumeIntended() bool { return e.kind == effectConsumeIntended }

// IsSetSession reports whether the effect is one of [SetSession].
func (e Effect) IsSetSession() bool { return e.kind == effectSetSession }

// IsSetUser reports whether the effect is one of [SetUser].
func (e Effect) IsSetUser() bool { return e.kind == effectSetUser }

// Name returns the name of the session value, the column or the mail; it is empty for
// [ConsumeIntended].
func (e Effect) Name() string { return e.name }

// Value returns the new value, integers as int64.
func (e Effect) Value() Value { return e.value }
