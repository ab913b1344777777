package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/host/auth"
	"github.com/vestibule-dev/vestibule/host/auth/fault"
)

// uiPrefix is where the front-end app's files are served.
const uiPrefix = "/ui/auth/"

// pagePolicy is the Content-Security-Policy of the front-end app: nothing inline
// runs, and nothing comes from elsewhere.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// hashed matches the names of files whose content never changes.
var hashed = regexp.MustCompile(`[-.][0-9A-Za-z_-]{8,}\.[a-z0-9]+$`)

// A frontEnd is the app that is served at /login, and the list of modules that
// the host has collected.
type frontEnd struct {
	app     fs.FS
	live    bool
	page    []byte
	modules []Module
}

// A Module is a front-end module that the core runtime can load.
type Module struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Core    string `json:"core"`
	URL     string `json:"url"`
}

func newFrontEnd(o UIOptions, version string) (*frontEnd, error) {
	ui := &frontEnd{app: o.App, live: o.Live, modules: slices.Clone(o.Modules)}
	if o.App == nil {
		return ui, nil
	}
	page, err := fs.ReadFile(o.App, "index.html")
	if err != nil {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	raw, err := fs.ReadFile(o.App, "manifest.json")
	if err != nil {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	m := Module{Name: "auth", URL: uiPrefix}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("front-end app: manifest.json: %w", err)
	}
	if core, _, _ := strings.Cut(version, "."); m.Core != core {
		return nil, fmt.Errorf("front-end app: manifest.json is for core %q, this is %q", m.Core, core)
	}
	m.Name, m.URL = "auth", uiPrefix
	ui.page = page
	ui.modules = append([]Module{m}, ui.modules...)
	return ui, nil
}

// index returns the page, read anew while it is being edited.
func (ui *frontEnd) index() ([]byte, error) {
	if ui.live {
		return fs.ReadFile(ui.app, "index.html")
	}
	return ui.page, nil
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
	ui := h.ui.Load()
	if ui.app == nil {
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound, Cause: errors.New("no front-end app: set Options.UI.App")})
		return
	}
	page, err := ui.index()
	if err != nil {
		h.pipeline.Fail(w, r, err)
		return
	}
	data := h.bootstrap(r, s)
	inline, err := json.Marshal(data)
	if err != nil {
		h.pipeline.Fail(w, r, err)
		return
	}
	page = bytes.Replace(page, []byte(`id="bootstrap">{}<`), append(append([]byte(`id="bootstrap">`), inline...), '<'), 1)
	page = bytes.Replace(page, []byte(`<html lang="en"`), []byte(`<html lang="`+data.Locale+`"`), 1)
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", pagePolicy)
	// no-referrer would make the sign-out form send "Origin: null".
	header.Set("Referrer-Policy", "same-origin")
	_, _ = w.Write(page)
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
		Core: h.o.Version, AppName: h.o.UI.AppName, Locale: h.site.Locale(r),
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
		b.Next = &s.Intent.Envelope
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

// modules lists the front-end modules for a shell.
func (h *Host) modules(w http.ResponseWriter, _ *http.Request) {
	list := h.ui.Load().modules
	if list == nil {
		list = []Module{}
	}
	fault.WriteJSON(w, http.StatusOK, map[string]any{
		"modules": list,
		"infra":   map[string]any{"auth": map[string]string{"login": "/login", "logout": "/logout"}},
	})
}

// uiFile serves the app's files: hashed ones for ever, precompressed where the
// browser takes it. The bare prefix is the page itself, which unlike /login never
// sends on those who are signed in, so that they can reach its sign-out screen.
func (h *Host) uiFile(w http.ResponseWriter, r *http.Request) {
	ui := h.ui.Load()
	name := strings.TrimPrefix(r.URL.Path, uiPrefix)
	if name == "" || name == "index.html" {
		s, err := h.pipeline.Identify(w, r)
		if err != nil {
			h.pipeline.Fail(w, r, err)
			return
		}
		h.showPage(w, r, s)
		return
	}
	if ui.app == nil || !fs.ValidPath(name) {
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound})
		return
	}
	cache := "no-cache"
	if !ui.live && hashed.MatchString(path.Base(name)) {
		cache = "public, max-age=31536000, immutable"
	}
	w.Header().Set("Vary", "Accept-Encoding")
	file := compressed(ui.app, w, r, name)
	if err := serveNamed(ui.app, w, r, file, name, cache); err != nil {
		w.Header().Del("Content-Encoding")
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.NotFound, Cause: err})
	}
}

// compressed returns the name of the smallest variant of a file that the browser
// accepts and that exists, and sets its encoding.
func compressed(app fs.FS, w http.ResponseWriter, r *http.Request, name string) string {
	accepted := r.Header.Get("Accept-Encoding")
	for _, v := range []struct{ token, suffix string }{{"br", ".br"}, {"gzip", ".gz"}} {
		if !accepts(accepted, v.token) {
			continue
		}
		if _, err := fs.Stat(app, name+v.suffix); err == nil {
			w.Header().Set("Content-Encoding", v.token)
			return name + v.suffix
		}
	}
	return name
}

// accepts reports whether an Accept-Encoding names the coding and does not refuse
// it (RFC 9110 12.5.3).
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		token, params, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(token), coding) {
			q := strings.ReplaceAll(params, " ", "")
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}
	return false
}

// serveNamed serves a file under the content type of name.
func serveNamed(app fs.FS, w http.ResponseWriter, r *http.Request, file, name, cache string) error {
	data, err := fs.ReadFile(app, file)
	if err != nil {
		return errNoFile
	}
	info, err := fs.Stat(app, file)
	if err != nil {
		return errNoFile
	}
	w.Header().Set("Cache-Control", cache)
	if kind := contentType(name); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	http.ServeContent(w, r, name, info.ModTime(), bytes.NewReader(data))
	return nil
}

// contentType knows the types of a front-end app; mime's table differs from one
// machine to the next.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json":
		return "application/json; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".properties":
		return "text/plain; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".html":
		return "text/html; charset=utf-8"
	}
	return ""
}
