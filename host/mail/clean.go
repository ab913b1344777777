package mail

import (
	"regexp"
	"strings"
	"unicode"
)

// oneLine makes s fit for a header: no control characters, no line ends, single
// blanks. Invalid UTF-8 becomes the replacement character.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// maxName is the longest name that a mail greets with, in characters.
const maxName = 64

// greetable returns the name if it is safe in a greeting, and "" otherwise. In
// many applications people choose their own names, and a mail that greets
// "http://evil.example is waiting" would turn the host into a sender of
// advertisements.
func greetable(name string) string {
	name = oneLine(name)
	if len([]rune(name)) > maxName || strings.ContainsAny(name, "/\\@:<>。．｡") {
		return ""
	}
	for word := range strings.FieldsSeq(name) {
		// A dot between letters makes mail programs show a link; "St. John" and
		// "J." do not.
		if dot := strings.IndexByte(word, '.'); dot >= 0 && dot < len(word)-1 {
			return ""
		}
	}
	return name
}

// redacted is an error whose text has no links or tokens.
type redacted struct{ error }

func (r redacted) Error() string { return redact(r.error.Error()) }

func (r redacted) Unwrap() error { return r.error }

// redact removes links and tokens from the text of a server's refusal, since
// spam filters quote the link that they object to, and returns the rest as one
// line.
func redact(s string) string {
	s = oneLine(s)
	s = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://\S+`).ReplaceAllString(s, "***")
	return regexp.MustCompile(`[A-Za-z0-9_=%+/-]{32,}`).ReplaceAllString(s, "***")
}
