package passkey

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/seal"
)

// Lifetime is how long a challenge may be answered.
const Lifetime = 5 * time.Minute

const (
	challengeSize = 32
	// maxOpen is how many challenges one browser has at once: several tabs show the sign-in page side by side.
	maxOpen = 4
	// maxSealed bounds the text of one sealed challenge.
	maxSealed = 128
)

// A Purpose is the use for which a challenge was made. An answer for one purpose is none for another.
type Purpose string

// The purposes.
const (
	// SignIn is for somebody who is not known yet.
	SignIn Purpose = "sign_in"
	// Confirm is for somebody who is signed in, and proves it anew.
	Confirm Purpose = "confirm"
	// Enrol is for a new passkey.
	Enrol Purpose = "enrol"
)

// Challenges seals challenges for a cookie with AES-256-GCM. Its key has 32 bytes. A challenge opens for its own purpose
// and session alone.
type Challenges struct{ key []byte }

// NewChallenges returns the challenges of a key of 32 bytes.
func NewChallenges(key []byte) Challenges { return Challenges{key} }

// New returns a random challenge and the cookie that keeps it beside the newest of those that the cookie has. session is
// the key of the session, nil for a guest.
func (c Challenges) New(cookie string, purpose Purpose, session []byte, now time.Time) (challenge []byte, value string, err error) {
	box, err := seal.New(c.key)
	if err != nil {
		return nil, "", err
	}
	challenge = make([]byte, challengeSize)
	_, _ = rand.Read(challenge)                                                   // never fails
	plain := binary.BigEndian.AppendUint64(nil, uint64(now.Add(Lifetime).Unix())) //nolint:gosec // after 1970
	open := []string{box.Seal(append(plain, challenge...), boundTo(purpose, session))}
	for text := range strings.SplitSeq(cookie, ".") {
		if len(open) < maxOpen && text != "" && len(text) <= maxSealed {
			open = append(open, text)
		}
	}
	return challenge, strings.Join(open, "."), nil
}

// Find returns when the challenge ends, and whether the cookie keeps it for the purpose and the session and it has not
// ended.
func (c Challenges) Find(cookie string, challenge []byte, purpose Purpose, session []byte, now time.Time) (ends time.Time, ok bool, err error) {
	box, err := seal.New(c.key)
	if err != nil {
		return time.Time{}, false, err
	}
	texts := strings.SplitN(cookie, ".", maxOpen+1)
	for _, text := range texts[:min(len(texts), maxOpen)] {
		if len(text) > maxSealed {
			continue
		}
		plain, ok := box.Open(text, boundTo(purpose, session))
		if !ok || len(plain) != 8+challengeSize || string(plain[8:]) != string(challenge) {
			continue
		}
		ends := time.Unix(int64(binary.BigEndian.Uint64(plain)), 0) //nolint:gosec // written by New
		// A clock that ran ahead gives no challenge a longer life.
		return ends, now.Before(ends) && !ends.After(now.Add(2*Lifetime)), nil
	}
	return time.Time{}, false, nil
}

// boundTo returns what a sealed challenge is bound to.
func boundTo(purpose Purpose, session []byte) []byte {
	return append([]byte("vestibule passkey challenge\x00"+string(purpose)+"\x00"), session...)
}
