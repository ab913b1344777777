package auth_test

import (
	"context"
	"encoding/base64"
	"hash/crc32"
	"math/big"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// noTokens has no token, and counts how often it is asked for one.
type noTokens struct {
	auth.Tokens
	asked int
}

func (n *noTokens) Find(context.Context, []byte) (auth.Token, error) {
	n.asked++
	return auth.Token{}, auth.ErrNotFound
}

// once takes every attempt for the first.
type once struct{ auth.Throttle }

func (once) Hit(context.Context, auth.Counter, time.Time, time.Duration) (int, time.Time, error) {
	return 1, time.Time{}, nil
}

// noSessions has a guest for everybody.
type noSessions struct{ auth.Sessions }

func (noSessions) Load(*http.Request) (auth.Session, error) { return auth.Session{}, nil }

// checksummed reports whether text is a token as docs/how-to/tokens.md describes one.
func checksummed(text string) bool {
	if !regexp.MustCompile(`^vst_[0-9A-Za-z]{49}$`).MatchString(text) {
		return false
	}
	number := func(digits string) *big.Int {
		n := new(big.Int)
		for _, c := range digits {
			digit := strings.IndexRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c)
			n.Add(n.Mul(n, big.NewInt(62)), big.NewInt(int64(digit)))
		}
		return n
	}
	secret, sum := number(text[4:47]), number(text[47:])
	return secret.BitLen() <= 256 && sum.Cmp(big.NewInt(int64(crc32.ChecksumIEEE(secret.FillBytes(make([]byte, 32)))))) == 0
}

// The database is asked about tokens with a right checksum alone, what begins like one
// is never a guest's, and no application gets it.
func FuzzBearer(f *testing.F) {
	const good = "vst_kWIxRZ9HOPSDVs5Cuxa42SpcNppwGTZwI7KSyEB8mws0MQkOD"
	if !checksummed(good) {
		f.Fatal("the seed is no token")
	}
	for _, credential := range []string{
		good, good[:52] + "E", "vst_", "vst_" + strings.Repeat("Z", 49), "vst_" + strings.Repeat("0", 49),
		"vst_+" + good[5:], "vst_-" + good[5:], "vst__" + good[5:], "VST_" + good[4:], "x" + good, good + good, "", ":", "\xff",
	} {
		f.Add(credential)
	}
	f.Fuzz(func(t *testing.T, credential string) {
		tokens := &noTokens{}
		who := auth.New(auth.Options{Tokens: tokens, Throttle: once{}, Sessions: noSessions{}, Site: site{}}).Bearer("")
		credential = strings.TrimSpace(credential) // as servers read headers
		ours, asked := strings.HasPrefix(credential, "vst_"), 0
		for _, value := range []string{
			"Bearer " + credential, "bEARER\t" + credential,
			"Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+credential)), "BASIC  " + base64.RawURLEncoding.EncodeToString([]byte(":"+credential)),
		} {
			r := httptest.NewRequest(http.MethodGet, "/odata/", nil)
			r.Header["Authorization"] = []string{value}
			got, err := who.Authenticate(httptest.NewRecorder(), r)
			if checksummed(credential) {
				asked++
			}
			if (err != nil) != ours || got.SignedIn() || tokens.asked != asked {
				t.Errorf("%q: %v, %v, asked %d times", value, got.SignedIn(), err, tokens.asked)
			}
			auth.WithoutToken(r.Header)
			if left := r.Header["Authorization"]; (left == nil) != ours {
				t.Errorf("%q: an application gets %q", value, left)
			}
		}
	})
}
