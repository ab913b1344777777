package auth

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/target"
)

// screenCookie makes the next GET /login answer with the page, also to a user
// who is signed in: the link in a reset mail leads to a screen whose name stands
// in the fragment, which no server sees.
func (p *Pipeline) screenCookie(maxAge time.Duration) *http.Cookie {
	name := "vestibule_screen"
	c := &http.Cookie{
		Name: name, Value: "1", Path: "/login", MaxAge: int(maxAge.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: p.Secure,
	}
	if maxAge <= 0 {
		c.Value, c.MaxAge = "", -1
	}
	return c
}

// Resume decides what GET /login answers: the target for a user who is signed
// in and settled, and "", which stands for the page, for all others. It keeps
// the query's redirect for after the sign-in. For a person who comes here while held, by a
// device, or with a form whose dispenser is gone, the dispensers are asked.
func (p *Pipeline) Resume(w http.ResponseWriter, r *http.Request) (Session, string, error) {
	who, err := p.Authenticate(w, r)
	s := who.Session
	if err != nil {
		return s, "", err
	}
	wanted := target.LocalPath(r.URL.Query().Get("redirect"))
	if ownPage(wanted) {
		wanted = ""
	}
	screen := p.takeScreen(w, r)
	if (s.due() || p.orphaned(s)) && goesHere(r) && !screen {
		return p.resumeDue(r, s, wanted)
	}
	if !s.Settled() {
		return s, "", p.KeepIntended(w, r, s, wanted)
	}
	if screen {
		return s, "", nil
	}
	target, err := p.landing(r, s, wanted)
	return s, target, err
}

// takeScreen reports whether the page is to be shown whatever else the answer would be,
// which a link in a reset mail asks for once.
func (p *Pipeline) takeScreen(w http.ResponseWriter, r *http.Request) bool {
	c, err := r.Cookie("vestibule_screen")
	if err != nil || c.Value == "" {
		return false
	}
	if goesHere(r) {
		http.SetCookie(w, p.screenCookie(0))
	}
	return true
}

// goesHere reports whether a person goes to the page, at the top level. A prefetch, a
// frame or a script must not move the loop on.
func goesHere(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return r.Method == http.MethodGet && r.Header.Get("Sec-Purpose") == "" && (dest == "" || dest == "document")
}

// resumeDue asks the dispenser and decides as [Pipeline.Resume] does. The first
// intended URL stays; without one, wanted becomes it.
func (p *Pipeline) resumeDue(r *http.Request, s Session, wanted string) (Session, string, error) {
	if s.Intended == "" && len(wanted) <= MaxIntended {
		s.Intended = wanted
	}
	a, err := p.ask(r, s, question{})
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code == fault.Unauthenticated { // signed out in another tab meanwhile
		return Session{}, "", nil
	}
	if err != nil || !a.session.Settled() {
		return a.session, "", err
	}
	if a.lost {
		target, err := p.landing(r, a.session, wanted)
		return a.session, target, err
	}
	target, err := p.intentTarget(r, a.session)
	return a.session, target, err
}

// landing returns the target for a user who is signed in and settled, and
// removes the intended URL from the session.
func (p *Pipeline) landing(r *http.Request, s Session, wanted string) (string, error) {
	if s.Intended != "" {
		intended := s.Intended
		s.Intended = ""
		if err := ignoreGone(p.Sessions.Update(r.Context(), s)); err != nil {
			return "", err
		}
		if wanted == "" {
			return intended, nil
		}
	}
	if wanted != "" {
		return wanted, nil
	}
	return p.intentTarget(r, s)
}

// intentTarget returns where the redirect leads that ended the loop, or else the
// dashboard.
func (p *Pipeline) intentTarget(r *http.Request, s Session) (string, error) {
	if s.Intent != nil {
		target := s.Intent.Target()
		if target != "" && !ownPage(strings.TrimPrefix(target, p.Site.Base(r))) {
			return target, nil
		}
	}
	return p.routePath("dashboard")
}

// ownPage reports whether a path belongs to the sign-in. As the target of a
// sign-in it would lead back to itself without end. The account screen never redirects.
func ownPage(target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Host != "" || u.Path == "/login" && u.Query().Has("account") {
		return false
	}
	return slices.Contains([]string{"/login", "/logout"}, path.Clean(u.Path))
}

// KeepIntended keeps the intended URL: a guest's in a cookie, so that strangers
// write nothing, a user's in the session. What is not a local path, or a page of
// the login itself, is not kept. That of somebody who is held stays.
func (p *Pipeline) KeepIntended(w http.ResponseWriter, r *http.Request, s Session, wanted string) error {
	if wanted = keepable(wanted); wanted == "" {
		return nil
	}
	if !s.SignedIn() {
		cookie, err := p.Sessions.KeepGuest(wanted)
		if err != nil {
			return err
		}
		http.SetCookie(w, cookie)
		return nil
	}
	if wanted == s.Intended || s.due() && s.Intended != "" {
		return nil
	}
	s.Intended = wanted
	return ignoreGone(p.Sessions.Update(r.Context(), s))
}

// keepable returns a page address that may be kept, and "" for any other.
func keepable(wanted string) string {
	wanted = target.LocalPath(wanted)
	if len(wanted) > MaxIntended || ownPage(wanted) {
		return ""
	}
	return wanted
}

// MaxIntended is the longest page address that is kept, 2 KiB: with its signature
// it fills a cookie.
const MaxIntended = 2 << 10

// ignoreGone forgives that another tab was faster: what was to be remembered is
// a convenience.
func ignoreGone(err error) error {
	if errors.Is(err, ErrSessionGone) {
		return nil
	}
	return err
}

// Origin returns the scheme, host and port of u as browsers send them, which is
// how the pipeline compares origins.
func Origin(u *url.URL) string { return target.Origin(u) }
