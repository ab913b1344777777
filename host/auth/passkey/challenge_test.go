package passkey_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
)

func TestChallenges(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	c := passkey.NewChallenges(bytes.Repeat([]byte{1}, 32))
	session := []byte("session")
	challenge, cookie, err := c.New("", passkey.Enrol, session, now)
	if err != nil || len(challenge) != 32 {
		t.Fatal(len(challenge), err)
	}
	changed := []byte(cookie)
	changed[20] ^= 1
	for _, tc := range []struct {
		name      string
		challenge []byte
		cookie    string
		purpose   passkey.Purpose
		session   []byte
		at        time.Time
		want      bool
	}{
		{"at once", challenge, cookie, passkey.Enrol, session, now, true},
		{"just before the end", challenge, cookie, passkey.Enrol, session, now.Add(passkey.Lifetime - time.Second), true},
		{"at the end", challenge, cookie, passkey.Enrol, session, now.Add(passkey.Lifetime), false},
		{"a clock that ran ahead has made it", challenge, cookie, passkey.Enrol, session, now.Add(-time.Hour), false},
		{"for another purpose", challenge, cookie, passkey.SignIn, session, now, false},
		{"in another session", challenge, cookie, passkey.Enrol, []byte("sessio"), now, false},
		{"without a session", challenge, cookie, passkey.Enrol, nil, now, false},
		{"another challenge", bytes.Repeat([]byte{2}, 32), cookie, passkey.Enrol, session, now, false},
		{"no challenge", nil, cookie, passkey.Enrol, session, now, false},
		{"no cookie", challenge, "", passkey.Enrol, session, now, false},
		{"a changed cookie", challenge, string(changed), passkey.Enrol, session, now, false},
		{"a cookie that is cut off", challenge, cookie[:30], passkey.Enrol, session, now, false},
		{"beside rubbish", challenge, "AAAA..x." + cookie, passkey.Enrol, session, now, true},
		{"behind too much", challenge, strings.Repeat("AAAA.", 4) + cookie, passkey.Enrol, session, now, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ends, ok, err := c.Find(tc.cookie, tc.challenge, tc.purpose, tc.session, tc.at)
			if err != nil || ok != tc.want {
				t.Errorf("got %v, %v; want %v", ok, err, tc.want)
			}
			if ok && !ends.Equal(now.Add(passkey.Lifetime)) {
				t.Errorf("ends at %v", ends)
			}
		})
	}
	if _, ok, _ := passkey.NewChallenges(bytes.Repeat([]byte{3}, 32)).Find(cookie, challenge, passkey.Enrol, session, now); ok {
		t.Error("another key opens it")
	}
}

// A browser keeps the challenges of four tabs, the newest ones.
func TestChallengesOfTabs(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	c := passkey.NewChallenges(bytes.Repeat([]byte{1}, 32))
	var made [][]byte
	cookie := ""
	for range 5 {
		var challenge []byte
		var err error
		if challenge, cookie, err = c.New(cookie, passkey.SignIn, nil, now); err != nil {
			t.Fatal(err)
		}
		made = append(made, challenge)
	}
	if len(cookie) > 600 {
		t.Errorf("the cookie has %d bytes", len(cookie))
	}
	for i, challenge := range made {
		if _, ok, err := c.Find(cookie, challenge, passkey.SignIn, nil, now); err != nil || ok != (i > 0) {
			t.Errorf("tab %d: %v, %v", i, ok, err)
		}
	}
}

func FuzzFindChallenge(f *testing.F) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	c := passkey.NewChallenges(bytes.Repeat([]byte{1}, 32))
	_, cookie, err := c.New("", passkey.SignIn, nil, now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(cookie, []byte("x"))
	f.Add("....", []byte(nil))
	f.Fuzz(func(t *testing.T, cookie string, challenge []byte) {
		if _, ok, err := c.Find(cookie, challenge, passkey.SignIn, nil, now); ok || err != nil {
			t.Errorf("found %x in %q: %v", challenge, cookie, err)
		}
	})
}
