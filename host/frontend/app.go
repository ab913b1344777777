package frontend

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/static"
)

// Prefix is where an app's files are served.
const Prefix = "/ui/auth/"

// Policy is the Content-Security-Policy of an app's page: nothing inline runs,
// and nothing comes from elsewhere.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// An App is a compiled front-end app. It is safe for concurrent use.
type App struct {
	files fs.FS
	live  bool
	page  []byte
	// explorer is the page of the explorer, nil for none.
	explorer []byte
	module   Module
	hashed   *regexp.Regexp
	marks    marks
	errors   *errorPages // nil for none
}

// A Module is a front-end module that the core runtime can load.
type Module struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Core    string `json:"core"`
	URL     string `json:"url"`
}

// Open reads an app with index.html and manifest.json at the root of files, for
// the core version that the manifest must name. A live app's files are being
// edited: they are read for each request and never cached.
func Open(files fs.FS, live bool, core string) (*App, error) {
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	raw, err := fs.ReadFile(files, "manifest.json")
	if err != nil {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	a := &App{files: files, live: live, page: page, hashed: regexp.MustCompile(`[-.][0-9A-Za-z_-]{8,}\.[a-z0-9]+$`), marks: newMarks()}
	if err := json.Unmarshal(raw, &a.module); err != nil {
		return nil, fmt.Errorf("front-end app: manifest.json: %w", err)
	}
	if a.module.Core != core {
		return nil, fmt.Errorf("front-end app: manifest.json names core %q: write \"core\": %q in an app that is made for this host", a.module.Core, core)
	}
	a.module.Name, a.module.URL = "auth", Prefix
	if a.errors, err = openErrorPages(files); err != nil {
		return nil, err
	}
	if a.explorer, err = fs.ReadFile(files, explorerPage); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	return a, nil
}

// Module describes the app for a shell.
func (a *App) Module() Module { return a.module }

// Page returns the app's page in a language, with data inlined as JSON, in which
// no character can end the script element. The title is that of the first screen with
// the application's name, where the app has words for it.
func (a *App) Page(locale, appName string, data any) ([]byte, error) {
	page := a.page
	if a.live {
		var err error
		if page, err = fs.ReadFile(a.files, "index.html"); err != nil {
			return nil, err
		}
	}
	return a.filled(page, locale, "login.title", appName, data)
}

// onward returns the page with another text for browsers without JavaScript: it leads
// somebody who has nothing to do on the page to the target of the data, or shows a link to
// it where they are stopped. A page without such a text stays as it is.
func (a *App) onward(page []byte, data bootstrap) []byte {
	target, key, refresh, intro := data.target(), "onward.silentTitle", "", ""
	if data.Stopped != nil {
		target, key = *data.Stopped, "onward.title"
	}
	if target == "" {
		return page
	}
	var words map[string]string
	if a.errors != nil {
		words = a.errors.words[data.Locale]
	}
	to := html.EscapeString(target)
	title := html.EscapeString(cmp.Or(words[key], target))
	label := html.EscapeString(cmp.Or(words["onward.submit"], target))
	if data.Stopped == nil {
		// A second, because browsers end a circle of redirects by themselves, but none of refreshes.
		refresh = `<meta http-equiv="refresh" content="1;url=` + to + `">` + "\n"
	} else if text := words["onward.intro"]; text != "" {
		intro = `<p class="intro">` + html.EscapeString(strings.ReplaceAll(text, "{0}", data.AppName)) + `</p>`
	}
	return between(page, a.marks.noscript, []byte(refresh+`<div class="stage"><header></header><main>
<div class="card noscript"><h1>`+title+`</h1>`+intro+`<p class="actions"><a class="primary" href="`+to+`">`+label+`</a></p></div>
</main></div>`))
}

// withLogo returns the page with the application's logo, or else its name, for browsers without JavaScript. A page without
// an empty header for them stays as it is.
func (a *App) withLogo(page []byte, appName, logo, dark string) []byte {
	name := html.EscapeString(appName)
	image := `<img class="logo" src="` + html.EscapeString(logo) + `" alt="` + name + `">`
	switch {
	case logo == "":
		image = `<p class="app-name">` + name + `</p>`
	case dark != "":
		image = `<picture><source srcset="` + html.EscapeString(dark) + `" media="(prefers-color-scheme: dark)">` + image + `</picture>`
	default:
		image = strings.Replace(image, `class="logo"`, `class="logo plate"`, 1)
	}
	return a.marks.head(page, []byte(image))
}

// filled is a page in a language, with data inlined as JSON. The title is that of the key,
// with the name of the application behind it.
func (a *App) filled(page []byte, locale, key, appName string, data any) ([]byte, error) {
	inline, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	title := ""
	if a.errors != nil {
		title = a.errors.words[locale][key]
	}
	if title != "" && appName != "" {
		title += " · " + appName
	}
	return a.marks.fill(page, locale, html.EscapeString(title), inline), nil
}

// ServeFile answers with one of the app's files: immutable in caches when the
// name has a hash, and compressed when the browser accepts it. It returns an error, and
// writes nothing, for a file that the app lacks, and for names that begin with a dot.
func (a *App) ServeFile(w http.ResponseWriter, r *http.Request, name string) error {
	if strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return fs.ErrNotExist
	}
	kept := "no-cache"
	if !a.live && a.hashed.MatchString(path.Base(name)) {
		kept = "public, max-age=31536000, immutable"
	}
	return static.Serve(w, r, a.files, name, kept)
}
