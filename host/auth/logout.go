package auth

import (
	"context"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
)

// Logout answers POST /logout: it ends this browser's session and device token,
// if any, with the page that a guest asked for, which is not the next person's, and
// redirects to the route "home".
func (p *Pipeline) Logout() http.Handler { return p.serve(p.logout) }

func (p *Pipeline) logout(w http.ResponseWriter, r *http.Request) error {
	if err := form.Discard(r); err != nil {
		return err
	}
	s, err := p.load(r)
	if err != nil {
		return err
	}
	device := p.readDeviceCookie(r)
	var cookies []*http.Cookie
	err = p.Tx.Settle(r.Context(), func(ctx context.Context) error {
		for _, selector := range [][]byte{device.selector, s.Device} {
			if selector == nil {
				continue
			}
			if err := p.endDevice(ctx, selector); err != nil {
				return err
			}
		}
		cookie, err := p.Sessions.End(ctx, s)
		cookies = []*http.Cookie{cookie, p.deviceCookie("", -1)}
		return err
	})
	if err != nil {
		return err
	}
	if forgotten := p.Sessions.ForgetGuest(r); forgotten != nil {
		cookies = append(cookies, forgotten)
	}
	setCookies(w, cookies)
	if s.SignedIn() {
		p.audit(r, "logout", "user", s.UserID)
	}
	home, err := p.routePath("home")
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, home, http.StatusSeeOther)
	return nil
}
