package reserved

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// ErrAddress is the reason of every address that is refused. Errors do not repeat
// the address, because they reach the log.
var ErrAddress = errors.New("not a mail address")

// Limits of RFC 5321 4.5.3.1, in bytes: the path of 256 includes < and >.
const (
	maxLocal   = 64
	maxAddress = 254
	maxLabel   = 63
)

// Address checks that s is one mailbox and nothing else, local@domain, and returns
// it with the domain in its ASCII form (RFC 5890). Unlike net/mail it knows no
// display names, comments, quoted local parts, address literals or lists, which
// programs read differently. Letters beyond ASCII are allowed on both sides (RFC
// 6531), signs beyond ASCII are not.
//
// It is the one rule for addresses: a form refuses what no mail could be sent to.
// Errors are [ErrAddress].
func Address(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: invalid UTF-8", ErrAddress)
	}
	local, domain, ok := strings.Cut(s, "@")
	if !ok {
		return "", fmt.Errorf("%w: no @", ErrAddress)
	}
	if len(local) > maxLocal || !dotAtom(local) {
		return "", fmt.Errorf("%w: bad characters, dots or length before the @", ErrAddress)
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil || !hostname(ascii) || strings.ContainsFunc(domain, invisible) {
		return "", fmt.Errorf("%w: no host name after the @", ErrAddress)
	}
	if len(local)+1+len(ascii) > maxAddress {
		return "", fmt.Errorf("%w: too long", ErrAddress)
	}
	return local + "@" + ascii, nil
}

// IsAddress reports whether [Address] accepts s.
func IsAddress(s string) bool {
	_, err := Address(s)
	return err == nil
}

// Sender takes a sender such as "Shop <no-reply@example.com>" apart: its display
// name, which may be empty, and its bare address. Errors are [ErrAddress].
func Sender(s string) (name, address string, err error) {
	a, err := mail.ParseAddress(s)
	if err != nil {
		return "", "", fmt.Errorf("%w: neither an address nor a name with an address in < >", ErrAddress)
	}
	address, err = Address(a.Address)
	return a.Name, address, err
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

// invisible characters are those that IDNA leaves out of a domain silently; it keeps
// the two joiners where a script needs them.
func invisible(r rune) bool { return unicode.Is(unicode.Cf, r) && r != '\u200C' && r != '\u200D' }

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
