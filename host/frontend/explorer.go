package frontend

import (
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// explorerPage is the file of an app that is the page of the explorer.
const explorerPage = "explorer.html"

// explored is what the explorer needs to know of the host; all else it asks the query
// endpoint, as anybody may.
type explored struct {
	AppName  string `json:"app_name"`
	Locale   string `json:"locale"`
	Logo     string `json:"logo"`
	LogoDark string `json:"logo_dark"`
	SignedIn bool   `json:"signed_in"`
}

// HasExplorer reports whether there is a page for browsers at the query endpoint.
func (s *Screens) HasExplorer() bool { return s.explorerOf() != nil }

// explorerOf is the app whose explorer is shown: an app of the host's own without one has
// that of the built-in app; nil for none.
func (s *Screens) explorerOf() *App {
	for _, app := range []*App{s.app.Load(), s.o.Errors} {
		if app != nil && app.explorer != nil {
			return app
		}
	}
	return nil
}

// Explorer answers a browser with the page that explores the query endpoint.
func (s *Screens) Explorer(w http.ResponseWriter, r *http.Request, who auth.Principal) {
	app := s.explorerOf()
	if app == nil {
		s.notFound(w, r, nil)
		return
	}
	data := explored{AppName: s.o.AppName, Locale: s.o.SignIn.Site.Locale(r), Logo: s.public(hostLogo), LogoDark: s.public(hostLogoDark), SignedIn: who.SignedIn()}
	page, err := app.filled(app.explorer, data.Locale, "explorer.title", data.AppName, data)
	if err != nil {
		s.o.SignIn.Fail(w, r, err)
		return
	}
	w.Header().Add("Vary", "Accept, Sec-Fetch-Mode")
	// What the page asks for first comes beside its script, and not after it.
	w.Header().Set("Link", "</odata/$metadata?$format=json&sap-language="+data.Locale+">; rel=preload; as=fetch; crossorigin")
	preloadLogo(w.Header(), data.Logo, data.LogoDark)
	send(w, app.withLogo(page, data.AppName, data.Logo, data.LogoDark))
}

// preloadLogo has the browser load the logo that its theme shows: only the script of the page names it there.
func preloadLogo(h http.Header, logo, dark string) {
	link := func(address, media string) { h.Add("Link", "<"+address+">; rel=preload; as=image"+media) }
	switch {
	case logo == "":
	case dark == "":
		link(logo, "")
	default:
		link(logo, `; media="(prefers-color-scheme: light)"`)
		link(dark, `; media="(prefers-color-scheme: dark)"`)
	}
}
