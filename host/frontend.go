package host

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/frontend"
)

// A Module is a front-end module that the core runtime can load.
type Module = frontend.Module

// openApp reads the front-end app of o, nil when there is none.
func openApp(o Options) (*frontend.App, error) {
	if o.UI.App == nil {
		return nil, nil
	}
	return frontend.Open(o.UI.App, o.UI.Live, CoreVersion())
}

// loginPage answers GET /login.
func (h *Host) loginPage(w http.ResponseWriter, r *http.Request) {
	s, target, err := h.pipeline.Resume(w, r)
	if err != nil {
		h.pipeline.Fail(w, r, err)
		return
	}
	if target != "" {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, target, http.StatusFound)
		return
	}
	h.showPage(w, r, s)
}

// showPage sends the app's page with the bootstrap data and the language in it.
func (h *Host) showPage(w http.ResponseWriter, r *http.Request, s auth.Session) {
	app := h.app.Load()
	if app == nil {
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound, Cause: errors.New("no front-end app: set Options.UI.App")})
		return
	}
	boot := h.bootstrap(r, s)
	html, err := app.Page(boot.Locale, boot)
	if err != nil {
		h.pipeline.Fail(w, r, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", frontend.Policy)
	// no-referrer would make the sign-out form send "Origin: null".
	header.Set("Referrer-Policy", "same-origin")
	_, _ = w.Write(html)
}

// A bootstrap is what the app needs to know before its first screen.
type bootstrap struct {
	Core     string             `json:"core"`
	AppName  string             `json:"app_name"`
	Locale   string             `json:"locale"`
	Logo     string             `json:"logo"`
	Routes   map[string]*string `json:"routes"`
	Password struct {
		MinLength int `json:"min_length"`
	} `json:"password"`
	Next *auth.Envelope `json:"next"`
}

func (h *Host) bootstrap(r *http.Request, s auth.Session) bootstrap {
	b := bootstrap{
		Core: Version(), AppName: h.o.UI.AppName, Locale: h.site.Locale(r),
		Logo: h.logo(), Routes: map[string]*string{},
	}
	b.Password.MinLength = h.pipeline.MinLength
	for _, name := range []string{"home", "dashboard", "terms", "privacy", "cookies"} {
		b.Routes[name] = nil
		if path, ok := h.site.Path(name); ok {
			b.Routes[name] = &path
		}
	}
	if s.SignedIn() && !s.Settled() {
		next := s.Intent.Envelope()
		b.Next = &next
	}
	return b
}

func (h *Host) bootstrapJSON(w http.ResponseWriter, r *http.Request) {
	s, err := h.pipeline.Identify(w, r)
	if err != nil {
		h.pipeline.Fail(w, r, err)
		return
	}
	fault.WriteJSON(w, http.StatusOK, h.bootstrap(r, s))
}

// hostLogo is the application's own logo among its public files.
const hostLogo = "assets/ci/logo-full.svg"

// logo returns the host's logo when there is one, and otherwise an address that
// is not published: the screen then shows the application's name.
func (h *Host) logo() string {
	if h.public != nil {
		if info, err := fs.Stat(h.public, hostLogo); err == nil && !info.IsDir() {
			return "/" + hostLogo
		}
	}
	return "/vendor/vestibule/auth/logo-full.svg"
}

// modules lists the front-end modules that the host has collected, for a shell.
func (h *Host) modules(w http.ResponseWriter, _ *http.Request) {
	list := []Module{}
	if app := h.app.Load(); app != nil {
		list = append(list, app.Module())
	}
	fault.WriteJSON(w, http.StatusOK, map[string]any{
		"modules": append(list, h.o.UI.Modules...),
		"infra":   map[string]any{"auth": map[string]string{"login": "/login", "logout": "/logout"}},
	})
}

// appFile serves the app's files. The bare prefix is the page itself, which unlike
// /login never sends on those who are signed in, so that they can reach its
// sign-out screen.
func (h *Host) appFile(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, frontend.Prefix)
	app := h.app.Load()
	switch {
	case name == "" || name == "index.html":
		s, err := h.pipeline.Identify(w, r)
		if err != nil {
			h.pipeline.Fail(w, r, err)
			return
		}
		h.showPage(w, r, s)
	case app == nil:
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound})
	default:
		if err := app.ServeFile(w, r, name); err != nil {
			h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound, Cause: err})
		}
	}
}
