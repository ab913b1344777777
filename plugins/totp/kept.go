package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
)

const (
	// secretSize is 160 bits, as RFC 4226 recommends.
	secretSize = 20
	// period is that of RFC 6238; drift is how many periods a clock may be wrong.
	period = 30
	drift  = 1
	// recoveryCodes is how many are made at once, each of 80 bits.
	recoveryCodes = 10
	recoverySize  = 10
)

// kept is what the column holds of a person's factor, sealed.
type kept struct {
	// Secret is the app's, in base32 as apps read it.
	Secret string `json:"secret"`
	// Last is the time step of the last code that counted. None at or before it counts.
	Last int64 `json:"last"`
	// More are the further apps, each with codes of its own.
	More []app `json:"more,omitempty"`
	// Recovery are the hashes of the recovery codes that are left.
	Recovery [][]byte `json:"recovery,omitempty"`
}

// An app is one beside the first.
type app struct {
	Secret string `json:"secret"`
	Last   int64  `json:"last"`
}

// maxApps is how many apps a person may have. Each makes three of a million codes good.
const maxApps = 3

// apps is how many the person has.
func (k *kept) apps() int { return 1 + len(k.More) }

// verdict says what a code is worth.
type verdict int

const (
	wrong verdict = iota
	used
	right
)

var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

func newSecret() string { return letters.EncodeToString(random(secretSize)) }

// typed is a code as a person writes it, without blanks and hyphens.
func typed(code string) string {
	return strings.NewReplacer(" ", "", "-", "").Replace(strings.ToUpper(code))
}

// isRecovery reports whether a code is longer than those of an app. Such a code is judged
// as a recovery code and as nothing else.
func isRecovery(code string) bool { return len(typed(code)) > int(otp.DigitsSix) }

// tryDigits judges a code of the apps and notes that it was used, as tryRecovery does with
// a recovery code.
func (k *kept) tryDigits(code string, now time.Time) verdict {
	found := tryApp(k.Secret, &k.Last, code, now)
	for i := range k.More {
		if found != right {
			found = max(found, tryApp(k.More[i].Secret, &k.More[i].Last, code, now))
		}
	}
	return found
}

// tryApp judges a code of one app. last is the time step of the last code of it that counted.
func tryApp(secret string, last *int64, code string, now time.Time) verdict {
	found := wrong
	code = typed(code)
	step := now.Unix() / period
	for s := step - drift; s <= step+drift; s++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(s), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil || subtle.ConstantTimeCompare([]byte(want), []byte(code)) != 1 {
			continue
		}
		if s > *last {
			*last = s
			return right
		}
		found = used
	}
	return found
}

func (k *kept) tryRecovery(code string) verdict {
	hash := hashOf(typed(code))
	i := slices.IndexFunc(k.Recovery, func(h []byte) bool { return subtle.ConstantTimeCompare(h, hash) == 1 })
	if i < 0 {
		return wrong
	}
	k.Recovery = slices.Delete(k.Recovery, i, i+1)
	return right
}

// renew replaces the recovery codes and returns the new ones, which are kept nowhere.
func (k *kept) renew() []string {
	k.Recovery = nil
	codes := make([]string, recoveryCodes)
	for i := range codes {
		code := letters.EncodeToString(random(recoverySize))
		k.Recovery = append(k.Recovery, hashOf(code))
		codes[i] = strings.ToLower(code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:])
	}
	return codes
}

// hashOf needs no salt and no slowness: a code is 80 random bits.
func hashOf(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:16]
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}
