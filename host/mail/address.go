package mail

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// errAddress is the reason of every address that is refused. The address itself
// is not repeated: it is somebody's, and the reason goes to the log.
var errAddress = errors.New("not a mail address")

// Limits of RFC 5321 4.5.3.1, in bytes: the path of 256 includes < and >.
const (
	maxLocal   = 64
	maxAddress = 254
	maxLabel   = 63
)

// parseAddress checks that s is one mailbox and nothing else, local@domain, and
// returns it with the domain in its ASCII form. Unlike net/mail it knows no
// display names, comments, quoted local parts, address literals or lists: what
// comes from a column named email and uses one of those is an attack or a
// mistake. Letters beyond ASCII are allowed on both sides (RFC 6531).
func parseAddress(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: invalid UTF-8", errAddress)
	}
	local, domain, ok := strings.Cut(s, "@")
	if !ok {
		return "", fmt.Errorf("%w: no @", errAddress)
	}
	if len(local) > maxLocal || !dotAtom(local) {
		return "", fmt.Errorf("%w: bad characters, dots or length before the @", errAddress)
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil || !hostname(ascii) {
		return "", fmt.Errorf("%w: no host name after the @", errAddress)
	}
	if len(local)+1+len(ascii) > maxAddress {
		return "", fmt.Errorf("%w: too long", errAddress)
	}
	return local + "@" + ascii, nil
}

// dotAtom is the dot-atom of RFC 5322 3.2.3, with the letters of RFC 6531.
func dotAtom(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.IndexFunc(atom, notAtext) >= 0 {
			return false
		}
	}
	return true
}

func notAtext(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	case r < utf8.RuneSelf:
		return !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
	default:
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	}
}

func hostname(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-') {
				return false
			}
		}
	}
	return true
}
