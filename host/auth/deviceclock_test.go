package auth_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// A device ends a year after its sign-in, however often it is used. Neither its row nor
// its cookie lasts longer, and neither does one that an older release has prolonged.
func TestDeviceEndsAYearAfterItsSignIn(t *testing.T) {
	r := newRig(t, func(o *auth.Options) { o.Remember = 90 * 24 * time.Hour })
	_, device := r.kept()
	signedIn := r.now
	for range 12 {
		r.now = r.now.Add(30 * 24 * time.Hour)
		who, a := r.visit(device)
		if !who.SignedIn() {
			t.Fatalf("signed out after %v of use", r.now.Sub(signedIn))
		}
		device = a.cookies[deviceName]
	}
	year := signedIn.Add(365 * 24 * time.Hour)
	if got, want := time.Duration(device.MaxAge)*time.Second, year.Sub(r.now); got != want {
		t.Errorf("the cookie lasts for %v, want %v", got, want)
	}
	var expires int64
	if err := r.db.Reader().Get(&expires, `SELECT expires FROM vestibule_remember_tokens`); err != nil || expires != year.UnixMilli() {
		t.Errorf("the device ends at %v (%v), want %v", time.UnixMilli(expires), err, year)
	}
	if _, err := r.db.Writer().Exec(`UPDATE vestibule_remember_tokens SET expires = expires + 86400000`); err != nil {
		t.Fatal(err)
	}
	r.now = year
	if who, a := r.visit(device); who.SignedIn() || a.cookies[deviceName].MaxAge >= 0 {
		t.Errorf("after a year: %q with %v", who.UserID, a.cookies)
	}
}

// A grace that began while the clock ran a day ahead lasts 30 seconds from its first use,
// and not a day: a replay after it ends the device.
func TestGraceAheadEnds(t *testing.T) {
	r := newRig(t, nil)
	_, first := r.kept()
	r.now = r.now.Add(25 * time.Hour)
	r.visit(first)
	r.now = r.now.Add(-24 * time.Hour)
	if who, _ := r.visit(first); !who.SignedIn() {
		t.Fatal("a tab within the grace was signed out")
	}
	r.now = r.now.Add(31 * time.Second)
	if who, _ := r.visit(first); who.SignedIn() || r.count("remember_tokens") > 0 {
		t.Error("a replay after the grace signs in")
	}
}

// Nobody waits for longer than the window because the clock ran a day ahead when they
// mistyped, and what they mistyped then still counts.
func TestLockoutAheadEndsWithItsWindow(t *testing.T) {
	r := newRig(t, nil)
	r.now = r.now.Add(24 * time.Hour)
	for range 6 {
		r.login("wrong-password-1", false)
	}
	r.now = r.now.Add(-24 * time.Hour)
	a := r.login(adaPassword, false)
	if after := a.header.Get("Retry-After"); a.status != 429 || after != "60" {
		t.Errorf("answer %d, Retry-After %q; want 429 and 60", a.status, after)
	}
	r.now = r.now.Add(time.Minute)
	r.login(adaPassword, false).want(200, "login_success")
}
