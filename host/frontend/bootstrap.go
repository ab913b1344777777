package frontend

import (
	"cmp"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
)

// bootstrap is what the app needs to know before its first screen.
type bootstrap struct {
	Core      string   `json:"core"`
	AppName   string   `json:"app_name"`
	Locale    string   `json:"locale"`
	Languages []string `json:"languages"`
	Logo      string   `json:"logo"`
	// LogoDark is for a dark theme; nil where the host has none.
	LogoDark *string            `json:"logo_dark"`
	Routes   map[string]*string `json:"routes"`
	Password struct {
		MinLength int  `json:"min_length"`
		SignIn    bool `json:"sign_in"`
	} `json:"password"`
	// Passkeys reports whether people sign in with passkeys on this page.
	Passkeys bool `json:"passkeys"`
	// Identities are the buttons of accounts elsewhere, and Pending is the one that the next sign-in of the browser links.
	Identities []identityButton    `json:"identities"`
	Pending    *identity.ShownLink `json:"pending"`
	// LoginField is the column of users that people sign in with.
	LoginField string `json:"login_field"`
	// Session is how far it has come, "guest", "open", "held" or "settled", and "ended"
	// for a guest whose browser still names one that is over.
	Session string         `json:"session"`
	Next    *auth.Envelope `json:"next"`
	// Stopped is the target of a browser that was led to it too often, with Next nil; it is
	// left out for everybody else.
	Stopped *string `json:"stopped,omitempty"`
}

// An identityButton is the link to the provider of an account elsewhere.
type identityButton struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	URL   string `json:"url"`
}

func (s *Screens) bootstrap(r *http.Request, session auth.Session) bootstrap {
	b := bootstrap{
		Core: s.o.Core, AppName: s.o.AppName, Locale: s.locale(r, session), Languages: s.o.Languages,
		Logo: s.logo(), Routes: map[string]*string{},
	}
	if dark := s.public(hostLogoDark); dark != "" {
		b.LogoDark = &dark
	}
	b.Passkeys = s.o.SignIn.OffersPasskeys(r)
	b.Identities = []identityButton{}
	for _, one := range s.o.SignIn.Identities {
		b.Identities = append(b.Identities, identityButton{one.Name, one.Label, identity.Path(one.Name)})
	}
	b.Pending = s.o.SignIn.ShowPendingLink(r, session)
	b.LoginField, b.Session = s.o.SignIn.LoginField, s.step(r, session)
	b.Password.MinLength, b.Password.SignIn = s.o.SignIn.MinLength, !s.o.SignIn.PasswordOff
	for _, name := range s.o.Pages {
		b.Routes[name] = nil
		if path, ok := s.o.SignIn.Site.Path(name); ok {
			b.Routes[name] = &path
		}
	}
	if session.Intent != nil && !session.Settled() {
		next := session.Intent.Envelope()
		b.Next = &next
	}
	return b
}

// step names the state of a session for the app.
func (s *Screens) step(r *http.Request, session auth.Session) string {
	switch state := session.State(); {
	case state != auth.StateGuest:
		return string(state)
	case s.o.NamesSession(r):
		return "ended"
	}
	return "guest"
}

// Bootstrap answers GET /auth/bootstrap.
func (s *Screens) Bootstrap(w http.ResponseWriter, r *http.Request) {
	who, err := s.o.SignIn.Authenticate(w, r)
	if err != nil {
		s.o.SignIn.Fail(w, r, err)
		return
	}
	data := s.bootstrap(r, who.Session)
	s.keepStopped(r, &data)
	fault.WriteJSON(w, http.StatusOK, data)
}

// locale is the language of the screens: the one that is asked for, or that was asked
// for at the page where the person wants to go, or else that of the browser.
func (s *Screens) locale(r *http.Request, session auth.Session) string {
	query := r.URL.Query()
	if query.Get("lang") != "" {
		return s.o.SignIn.Site.Locale(r)
	}
	for _, page := range []string{query.Get("redirect"), session.Intended} {
		u, err := url.Parse(page)
		if err != nil || u.Query().Get("lang") == "" {
			continue
		}
		there := *r
		there.URL = &url.URL{RawQuery: url.Values{"lang": {u.Query().Get("lang")}}.Encode()}
		return s.o.SignIn.Site.Locale(&there)
	}
	return s.o.SignIn.Site.Locale(r)
}

// The application's own logos among its public files: for both themes, or for light
// ones where there is another for dark ones.
const (
	hostLogo     = "assets/ci/logo-full.svg"
	hostLogoDark = "assets/ci/logo-full-dark.svg"
)

// logo returns the host's logo when there is one, and otherwise an address that
// is not published: the screen then shows the application's name.
func (s *Screens) logo() string {
	return cmp.Or(s.public(hostLogo), "/vendor/vestibule/auth/logo-full.svg")
}

// public returns the address of a public file, empty when there is none.
func (s *Screens) public(name string) string {
	if s.o.Public != nil {
		if info, err := fs.Stat(s.o.Public, name); err == nil && !info.IsDir() {
			return "/" + name
		}
	}
	return ""
}
