package identity

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/seal"
)

// Lifetime is how long a provider has to answer.
const Lifetime = 10 * time.Minute

// MaxPrivate and MaxLanguage bound what a state keeps of the plugin and of the person, in bytes.
const (
	MaxPrivate  = 2 << 10
	MaxLanguage = 35
)

const (
	stateSize = 32
	// maxOpen is how many states one browser has at once, and maxCookie bounds their text: browsers refuse a cookie of more
	// than 4 KiB.
	maxOpen   = 4
	maxCookie = 3900
	// headSize is that of the time, the purpose, the state, the flags, and the lengths of the language, the hash of a
	// token, and the user who has it.
	headSize = 8 + 1 + stateSize + 1 + 3
)

// The flags of a state.
const (
	flagToPage = 1 << iota
	flagElsewhere
)

// A Purpose is the use for which a state was made. An answer for one purpose is none for another.
type Purpose byte

// The purposes.
const (
	// SignIn is for somebody who is not known yet.
	SignIn Purpose = 's'
	// Join is for somebody who is signed in, and links an identity.
	Join Purpose = 'l'
	// Confirm is for somebody who is signed in, and proves it anew.
	Confirm Purpose = 'c'
	// Invitation is for somebody who has the token of a link, and links an identity with it.
	Invitation Purpose = 'i'
)

// String returns the purpose as a word for the log.
func (p Purpose) String() string {
	switch p {
	case SignIn:
		return "sign_in"
	case Join:
		return "link"
	case Confirm:
		return "confirm"
	case Invitation:
		return "invitation"
	}
	return "unknown"
}

// A Pending is a browser that was sent to a provider and has not come back.
type Pending struct {
	Purpose Purpose
	// State is random, and comes back from the provider.
	State []byte
	// Private holds the bytes with which the plugin reads the answer, up to [MaxPrivate].
	Private []byte
	// ToPage reports whether the callback redirects to the sign-in page, which goes to the target.
	ToPage bool
	// Elsewhere reports whether a page of another site has sent the browser.
	Elsewhere bool
	// Language is the one that the person has chosen, up to [MaxLanguage]; empty for none.
	Language string
	// Invited is the person for whom an Invitation was begun; empty for other purposes.
	Invited Invited
	// Begun is when the browser was sent, to the second.
	Begun time.Time
}

// Ends returns when the answer comes too late.
func (p Pending) Ends() time.Time { return p.Begun.Add(Lifetime) }

// An Invited is a user who has a link: that of an invitation, or one that an operator printed.
type Invited struct {
	// TokenHash is that of the token in the link, and UserID the user, up to 255 bytes, as the tables have it.
	TokenHash []byte
	UserID    string
}

// NewState returns a random state, and the text with which it is sent to the provider.
func NewState() (state []byte, text string) {
	state = make([]byte, stateSize)
	_, _ = rand.Read(state) // never fails
	return state, base64.RawURLEncoding.EncodeToString(state)
}

// A Binding is the only place where a state opens: a provider, a session and its user. The zero session is a guest's.
type Binding struct {
	Name    string
	Session []byte
	UserID  string
}

func (b Binding) bytes() []byte {
	return append([]byte("vestibule identity state\x00"+b.Name+"\x00"+b.UserID+"\x00"), b.Session...)
}

// States seals states for a cookie.
type States struct{ box seal.Box }

// NewStates returns the states of a key of 32 bytes.
func NewStates(key []byte) (States, error) {
	box, err := seal.New(key)
	return States{box}, err
}

// Keep returns the cookie that keeps a state beside the newest of those that the cookie has, as many as fit.
func (s States) Keep(cookie string, p Pending, bound Binding) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(p.Begun.Unix())) //nolint:gosec // after 1970
	plain = append(append(plain, byte(p.Purpose)), p.State...)
	flags := byte(0)
	if p.ToPage {
		flags |= flagToPage
	}
	if p.Elsewhere {
		flags |= flagElsewhere
	}
	i := p.Invited
	plain = append(plain, flags, byte(len(p.Language)), byte(len(i.TokenHash)), byte(len(i.UserID))) //nolint:gosec // bounded, see there
	plain = append(append(append(append(plain, p.Language...), i.TokenHash...), i.UserID...), p.Private...)
	open := []string{s.box.Seal(plain, bound.bytes())}
	size := len(open[0])
	for text := range strings.SplitSeq(cookie, ".") {
		if size += 1 + len(text); text == "" || len(open) == maxOpen || size > maxCookie {
			break
		}
		open = append(open, text)
	}
	return strings.Join(open, ".")
}

// Find returns the state with this text, if the cookie keeps it for this binding and its time is not over.
func (s States) Find(cookie, text string, bound Binding, now time.Time) (Pending, bool) {
	state, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(state) != stateSize || len(cookie) > 2*maxCookie {
		return Pending{}, false
	}
	texts := strings.SplitN(cookie, ".", maxOpen+1)
	for _, sealed := range texts[:min(len(texts), maxOpen)] {
		plain, ok := s.box.Open(sealed, bound.bytes())
		if !ok || len(plain) < headSize || string(plain[9:9+stateSize]) != string(state) {
			continue
		}
		p := Pending{Begun: time.Unix(int64(binary.BigEndian.Uint64(plain)), 0), Purpose: Purpose(plain[8]), State: state} //nolint:gosec // written by Keep
		flags := plain[headSize-4]
		p.ToPage, p.Elsewhere = flags&flagToPage != 0, flags&flagElsewhere != 0
		var parts [3][]byte
		rest := plain[headSize:]
		for i, size := range plain[headSize-3 : headSize] {
			if int(size) > len(rest) {
				return Pending{}, false
			}
			parts[i], rest = rest[:size], rest[size:]
		}
		p.Language, p.Private = string(parts[0]), rest
		if len(parts[1]) > 0 {
			p.Invited = Invited{parts[1], string(parts[2])}
		}
		// A clock that ran ahead gives no state a longer life.
		return p, now.Before(p.Ends()) && !p.Begun.After(now.Add(Lifetime))
	}
	return Pending{}, false
}
