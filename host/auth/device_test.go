package auth_test

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

// kept signs in with "keep me signed in" and returns the two cookies.
func (r *rig) kept() (session, device *http.Cookie) {
	r.Helper()
	a := r.login(adaPassword, true)
	a.want(200, "login_success")
	if a.cookies[sessionName] == nil || a.cookies[deviceName] == nil {
		r.Fatalf("cookies %v", a.cookies)
	}
	return a.cookies[sessionName], a.cookies[deviceName]
}

// A device resumes the sign-in with a new token each time. The token before works
// for 30 seconds more and gives the same successor; after that it ends the device.
func TestDeviceTokenRotates(t *testing.T) {
	r := newRig(t, nil)
	_, first := r.kept()
	r.now = r.now.Add(25 * time.Hour)
	who, a := r.visit(first)
	second := a.cookies[deviceName]
	if who.UserID != r.ada.ID || second == nil || second.Value == first.Value {
		t.Fatalf("resumed as %q with %v", who.UserID, a.cookies)
	}
	r.now = r.now.Add(30 * time.Second)
	who, a = r.visit(first)
	if who.UserID != r.ada.ID || a.cookies[deviceName].Value != second.Value {
		t.Errorf("within the grace: %q with %v", who.UserID, a.cookies)
	}
	r.now = r.now.Add(time.Second)
	who, a = r.visit(first)
	if who.SignedIn() || a.cookies[deviceName].MaxAge >= 0 || !slices.Contains(r.events, "replay") {
		t.Errorf("after the grace: %q with %v, events %q", who.UserID, a.cookies, r.events)
	}
	if who, _ := r.visit(second); who.SignedIn() || r.count("sessions")+r.count("remember_tokens") > 0 {
		t.Error("the device outlived the replay")
	}
}

func TestDeviceIsRefused(t *testing.T) {
	for name, end := range map[string]func(r *rig) error{
		"after its lifetime": func(r *rig) error {
			r.now = r.now.Add(720 * time.Hour)
			return nil
		},
		"once the device secret is another": func(r *rig) error {
			return r.db.Users().SetPassword(r.Context(), r.ada.ID, r.ada.Password, "another")
		},
		"of a person who was disabled": func(r *rig) error {
			_, err := r.db.Writer().Exec(`INSERT INTO vestibule_disabled_users (user_id, since) VALUES ('` + r.ada.ID + `', 0)`)
			return err
		},
		"of a person who was deleted": func(r *rig) error {
			_, err := r.db.Writer().Exec(`DELETE FROM users`)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			_, device := r.kept()
			if err := end(r); err != nil {
				t.Fatal(err)
			}
			who, a := r.visit(device)
			if who.SignedIn() || a.cookies[deviceName] == nil || a.cookies[deviceName].MaxAge >= 0 {
				t.Errorf("resumed as %q with %v", who.UserID, a.cookies)
			}
		})
	}
}

// A logout ends the session and its device, whichever of the two cookies the
// browser still sends, and leaves other devices alone.
func TestLogout(t *testing.T) {
	for name, cookies := range map[string]func(session, device *http.Cookie) []*http.Cookie{
		"with both cookies":            func(s, d *http.Cookie) []*http.Cookie { return []*http.Cookie{s, d} },
		"without the device's cookie":  func(s, _ *http.Cookie) []*http.Cookie { return []*http.Cookie{s} },
		"without the session's cookie": func(_, d *http.Cookie) []*http.Cookie { return []*http.Cookie{d} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			session, device := r.kept()
			otherSession, other := r.kept()
			a := r.post(r.Logout(), map[string]any{}, cookies(session, device)...)
			if a.status != 303 || a.header.Get("Location") != "/" || a.cookies[sessionName].MaxAge >= 0 || a.cookies[deviceName].MaxAge >= 0 {
				t.Errorf("%d to %q with %v", a.status, a.header.Get("Location"), a.cookies)
			}
			for _, c := range []*http.Cookie{session, device} {
				if who, _ := r.visit(c); who.SignedIn() {
					t.Errorf("%s still signs in", c.Name)
				}
			}
			for _, c := range []*http.Cookie{otherSession, other} {
				if who, _ := r.visit(c); who.UserID != r.ada.ID {
					t.Errorf("the other device's %s no longer signs in", c.Name)
				}
			}
		})
	}
}

// Signing in again in the same browser ends the device that it had.
func TestLoginReplacesTheDevice(t *testing.T) {
	r := newRig(t, nil)
	session, device := r.kept()
	a := r.login(adaPassword, false, session, device)
	a.want(200, "login_success")
	if c := a.cookies[deviceName]; c == nil || c.MaxAge >= 0 {
		t.Errorf("device cookie %v, want it removed", c)
	}
	if r.count("remember_tokens") != 0 || r.count("sessions") != 1 {
		t.Errorf("%d devices and %d sessions, want none and one", r.count("remember_tokens"), r.count("sessions"))
	}
}

// Nothing that merely looks like a device token signs in or fails.
func TestMadeUpDeviceTokens(t *testing.T) {
	r := newRig(t, nil)
	_, device := r.kept()
	for _, value := range []string{"", "x", device.Value[1:], device.Value + "A", "AAAA" + device.Value[4:], device.Value[:60] + "AAAA"} {
		if who, _ := r.visit(&http.Cookie{Name: deviceName, Value: value}); who.SignedIn() {
			t.Errorf("%q signed in", value)
		}
	}
}
