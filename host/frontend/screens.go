package frontend

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// ScreensOptions are what the screens need to know of the host around them.
type ScreensOptions struct {
	// SignIn tells who is there, and where they go.
	SignIn *auth.Pipeline
	// Core is the version that the bootstrap data name, and AppName what people
	// know the application by.
	Core, AppName string
	// Languages are those that a person may choose from.
	Languages []string
	// Pages are the names of the routes that the screens link to.
	Pages []string
	// Public holds the host's own files, where its logo may be; nil for none.
	Public fs.FS
	// Modules are further front-end modules to be listed for a shell.
	Modules []Module
	// Helpers are the libraries for applications.
	Helpers []*Helper
	// Errors is the app whose error pages are shown where the app has none of its
	// own; nil shows none then.
	Errors *App
	// NamesSession reports whether a browser sends the cookie of a session, which may
	// be over.
	NamesSession func(*http.Request) bool
	// IsNavigation reports whether a browser goes to a page.
	IsNavigation func(*http.Request) bool
}

// Screens answer the requests for the screens of the sign-in and for what they
// need. They are safe for concurrent use.
type Screens struct {
	o   ScreensOptions
	app atomic.Pointer[App]
}

// NewScreens returns screens without an app, which [Screens.SetApp] gives them.
func NewScreens(o ScreensOptions) *Screens { return &Screens{o: o} }

// SetApp replaces the app; nil answers the data but no screen.
func (s *Screens) SetApp(app *App) { s.app.Store(app) }

// Login answers GET /login with the app's page, or with a redirect if the user is signed in and settled. A browser that
// navigates always gets the page, with the target in its data: a redirect would keep the URL's fragment, and only the
// page can tell a fragment of the application from the name of a screen. The third redirect to one target within ten
// seconds is a redirect loop: every client gets the page, which shows a button.
func (s *Screens) Login(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("account") {
		s.account(w, r)
		return
	}
	session, target, err := s.o.SignIn.Resume(w, r)
	if err != nil {
		s.o.SignIn.Fail(w, r, err)
		return
	}
	data := s.bootstrap(r, session)
	if target != "" {
		next := auth.RedirectTo(target)
		data.Next = &next
	}
	withPage := s.app.Load() != nil
	if withPage {
		s.stopCircle(w, r, &data)
	}
	if target != "" && (!withPage || data.Stopped == nil && !navigates(r)) {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, target, http.StatusFound)
		return
	}
	s.showPage(w, r, data, true)
}

// account answers GET /login?account with the app's page, which shows the account and redirects to
// no target. Nobody but a settled person gets it.
func (s *Screens) account(w http.ResponseWriter, r *http.Request) {
	session, shown, err := s.o.SignIn.AccountScreen(w, r)
	if err != nil {
		s.o.SignIn.Fail(w, r, err)
		return
	}
	if shown {
		s.showPage(w, r, s.bootstrap(r, session), false)
	}
}

// navigates reports whether a browser loads the page as a top-level document, and not as a prefetch.
func navigates(r *http.Request) bool {
	h := r.Header
	return r.Method == http.MethodGet && h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document" && h.Get("Sec-Purpose") == ""
}

// showPage sends the app's page with the bootstrap data and the language in it. If leadsOn
// is set, browsers without JavaScript are led to the target, too.
func (s *Screens) showPage(w http.ResponseWriter, r *http.Request, data bootstrap, leadsOn bool) {
	app := s.app.Load()
	if app == nil {
		s.notFound(w, r, errors.New("no front-end app: set Options.UI.App"))
		return
	}
	page, err := app.Page(data.Locale, data.AppName, data)
	if err != nil {
		s.o.SignIn.Fail(w, r, err)
		return
	}
	if leadsOn {
		page = app.onward(page, data)
	}
	if r.URL.RawQuery != "" {
		w.Header().Set("X-Robots-Tag", "noindex") // the address is for one person
	}
	send(w, app.withLogo(page, data.AppName, s.public(hostLogo), s.public(hostLogoDark)))
}

// send answers with a page that was made for one person.
func send(w http.ResponseWriter, page []byte) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", Policy)
	// no-referrer would make the sign-out form send "Origin: null".
	header.Set("Referrer-Policy", "same-origin")
	_, _ = w.Write(page)
}

// Files serves the app's files. The bare prefix is the page itself, which unlike
// /login never sends on those who are signed in, so that they can reach its
// sign-out screen.
func (s *Screens) Files(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	app := s.app.Load()
	switch {
	case name == "" || name == "index.html":
		who, err := s.o.SignIn.Authenticate(w, r)
		if err != nil {
			s.o.SignIn.Fail(w, r, err)
			return
		}
		data := s.bootstrap(r, who.Session)
		s.stopCircle(w, r, &data)
		s.showPage(w, r, data, false)
	case app == nil:
		s.notFound(w, r, nil)
	default:
		err := app.ServeFile(w, r, name)
		if err != nil && app.errors == nil && s.o.Errors != nil {
			err = s.o.Errors.ServeFile(w, r, name) // what its error pages load
		}
		if err != nil {
			s.notFound(w, r, err)
		}
	}
}

// HelperFiles serves the files of the helpers.
func (s *Screens) HelperFiles(w http.ResponseWriter, r *http.Request) {
	err := fs.ErrNotExist
	for _, helper := range s.o.Helpers {
		if strings.HasPrefix(r.URL.Path, helper.module.URL) {
			err = helper.serve(w, r)
		}
	}
	if err != nil {
		s.notFound(w, r, err)
	}
}

func (s *Screens) notFound(w http.ResponseWriter, r *http.Request, cause error) {
	s.o.SignIn.Fail(w, r, &fault.Fault{Code: fault.NotFound, Cause: cause})
}

// ModuleList lists the front-end modules that the host has collected, for a
// shell.
func (s *Screens) ModuleList(w http.ResponseWriter, _ *http.Request) {
	list := []Module{}
	if app := s.app.Load(); app != nil {
		list = append(list, app.Module())
	}
	for _, helper := range s.o.Helpers {
		list = append(list, helper.Module())
	}
	fault.WriteJSON(w, http.StatusOK, map[string]any{
		"modules": append(list, s.o.Modules...),
		"infra":   map[string]any{"auth": map[string]string{"login": "/login", "logout": "/logout"}},
	})
}
