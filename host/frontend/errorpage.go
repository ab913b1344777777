package frontend

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// The files of an app that make its error pages: a template of html/template, and
// its words as JSON, by language and key.
const (
	errorTemplate = "error.html"
	errorWords    = "errors.json"
)

// errorPages are the error pages of an app.
type errorPages struct {
	template *template.Template
	words    map[string]map[string]string
}

// openErrorPages reads the error pages of an app, nil where it has none.
func openErrorPages(files fs.FS) (*errorPages, error) {
	text, err := fs.ReadFile(files, errorTemplate)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	p := &errorPages{}
	if p.template, err = template.New(errorTemplate).Parse(string(text)); err != nil {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	raw, err := fs.ReadFile(files, errorWords)
	if err != nil {
		return nil, fmt.Errorf("front-end app: %s needs its words: %w", errorTemplate, err)
	}
	if err := json.Unmarshal(raw, &p.words); err != nil {
		return nil, fmt.Errorf("front-end app: %s: %w", errorWords, err)
	}
	if _, err := p.render(errorPage{Lang: "en", Title: "-", AsksAgain: "-"}); err != nil {
		return nil, fmt.Errorf("front-end app: %w", err)
	}
	return p, nil
}

// An errorPage is what the template of an error page is given.
type errorPage struct {
	Lang, Dir, AppName string
	// Logo is an address, empty for the name of the application in its place.
	Logo string
	// LogoDark is that for a dark theme, empty for none.
	LogoDark string
	// Code is that of the fault.
	Code  string
	Title string
	// Text holds paragraphs.
	Text []string
	// Passing tells that the fault may be over in a moment.
	Passing bool
	// Calm reports whether nothing is wrong with the site: there is no page at the address.
	Calm bool
	// Reference is a sentence with the request id.
	Reference string
	// AsksAgain is a sentence, and Countdown the same with {0} for the seconds; empty
	// where the page does not ask again by itself.
	AsksAgain, Countdown string
	// Reload is the text of a link to the same address, empty for none.
	Reload string
	// Again is the link to the page where the person begins anew; nil for none.
	Again *link
	// Back is the link to the page of this site that linked to the missing one; nil for none.
	Back *link
	Home *link
	// SignIn is the link to the sign-in for a guest to whom the page may be closed; nil for none.
	SignIn *link
	// Legal names the Links.
	Legal string
	Links []link
}

type link struct{ URL, Text string }

// A rendering is an error page with its Content-Security-Policy.
type rendering struct {
	page   []byte
	policy string
}

// render fills the template. A style element is allowed by its hash.
func (p *errorPages) render(data errorPage) (rendering, error) {
	var b bytes.Buffer
	if err := p.template.Execute(&b, data); err != nil {
		return rendering{}, err
	}
	styles := "style-src 'self'"
	rest := b.String()
	for {
		_, after, ok := strings.Cut(rest, "<style>")
		style, behind, closed := strings.Cut(after, "</style>")
		if !ok || !closed {
			break
		}
		sum := sha256.Sum256([]byte(style))
		styles += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		rest = behind
	}
	// A page that shows applications in frames shows their faults there, too.
	policy := strings.NewReplacer("style-src 'self'", styles, "frame-ancestors 'none'", "frame-ancestors 'self'").Replace(Policy)
	return rendering{b.Bytes(), policy}, nil
}

// pageStatus reports whether people get a page for a status.
func pageStatus(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// ShowFault answers a browser's navigation with a page about a fault, and reports
// whether it did. It needs neither session nor database.
func (s *Screens) ShowFault(w http.ResponseWriter, r *http.Request, f *fault.Fault) bool {
	pages := s.errorPages()
	if pages == nil || !pageStatus(f.Status()) || strings.HasPrefix(r.URL.Path, "/odata/") || !s.o.IsNavigation(r) {
		return false
	}
	lang := s.o.SignIn.Site.Locale(r)
	out, err := pages.render(s.errorPage(words{pages.words[lang], pages.words["en"]}, lang, r, f))
	if err != nil {
		s.o.SignIn.Logger.Error("error page", "error", err)
		return false
	}
	f.SetRetryAfter(w.Header())
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", lang)
	h.Set("Content-Security-Policy", out.policy)
	h.Set("Cache-Control", "no-store")
	h.Del("Etag")
	h.Del("Last-Modified")
	w.WriteHeader(f.Status())
	_, _ = w.Write(out.page)
	return true
}

// errorPages returns those of the app, or of the one that stands in for it.
func (s *Screens) errorPages() *errorPages {
	if app := s.app.Load(); app != nil && app.errors != nil {
		return app.errors
	}
	if s.o.Errors != nil {
		return s.o.Errors.errors
	}
	return nil
}

func (s *Screens) errorPage(say words, lang string, r *http.Request, f *fault.Fault) errorPage {
	status := f.Status()
	// A proxy that asks whether somebody may pass asks by GET, whatever was sent to it.
	get := onlyReads(r.Method) && onlyReads(cmp.Or(r.Header.Get("X-Forwarded-Method"), http.MethodGet))
	// Under another name than ours there is nothing of ours.
	here := status != http.StatusMisdirectedRequest
	page := errorPage{
		Lang: lang, Dir: say.text("common.dir"), AppName: s.o.AppName, Code: f.Message(),
		Title:     say.text("error.title." + strconv.Itoa(status)),
		Text:      say.about(f),
		Reference: say.text("common.reference", auth.RequestOf(r.Context()).ID),
		Calm:      status == http.StatusNotFound,
		Passing:   status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable,
	}
	repeatable := get && f.Again == ""
	if repeatable && (status >= http.StatusInternalServerError || status == http.StatusTooManyRequests) {
		page.Reload = say.text("common.reload")
	}
	if repeatable && (status == http.StatusBadGateway || status == http.StatusServiceUnavailable) {
		page.AsksAgain, page.Countdown = say.text("error.retry"), say.text("error.retryIn")
	}
	if !here {
		return page
	}
	page.Logo, page.LogoDark = s.public(hostLogo), s.public(hostLogoDark)
	switch f.Again {
	case "":
	case "/login?account":
		page.Again = &link{f.Again, say.text("error.againAccount")}
	default:
		page.Again = &link{f.Again, say.text("error.again")}
	}
	if page.Again != nil {
		page.Title = say.text("common.trouble")
	}
	if home, ok := s.o.SignIn.Site.Path("home"); ok && !(get && r.URL.Path == home) {
		page.Home = &link{home, say.text("error.home")}
	}
	s.waysOut(&page, say, r, status)
	page.Legal = say.text("common.legal")
	for _, name := range []string{"terms", "privacy", "cookies"} {
		if path, ok := s.o.SignIn.Site.Path(name); ok {
			page.Links = append(page.Links, link{path, say.text("common." + name)})
		}
	}
	return page
}

// waysOut adds the links of a page that is not there or is closed: back to the page before and, for a guest, to the
// sign-in.
func (s *Screens) waysOut(page *errorPage, say words, r *http.Request, status int) {
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || page.Again != nil {
		return
	}
	if before := s.before(r); before != "" && (page.Home == nil || before != page.Home.URL) {
		page.Back = &link{before, say.text("error.back")}
	}
	closed := status == http.StatusNotFound || status == http.StatusForbidden
	if closed && s.app.Load() != nil && s.o.NamesSession != nil && !s.o.NamesSession(r) {
		page.SignIn = &link{"/login", say.text("login.title")}
	}
}

// before returns the path of the page of this site that a link or form on it led from, empty for another page and for the
// same address.
func (s *Screens) before(r *http.Request) string {
	from, err := url.Parse(r.Header.Get("Referer"))
	if err != nil || from.Scheme+"://"+from.Host != s.o.SignIn.Site.Base(r) {
		return ""
	}
	path := from.RequestURI() // a backslash is encoded in it
	if path == r.URL.RequestURI() || strings.HasPrefix(path, "//") {
		return ""
	}
	return path
}

func onlyReads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// words are those of a language, and those to fall back to.
type words [2]map[string]string

// text returns the text of a key with {0} replaced, the key itself where there is
// none.
func (w words) text(key string, args ...string) string {
	text, ok := w.find(key)
	if !ok {
		return key
	}
	for i, arg := range args {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", arg)
	}
	return text
}

func (w words) find(key string) (string, bool) {
	for _, texts := range w {
		if text, ok := texts[key]; ok {
			return text, true
		}
	}
	return "", false
}

// about says what a fault is: what is known of its code, or else of its status, and
// of the part of the request that is at fault.
func (w words) about(f *fault.Fault) []string {
	text, ok := w.find("error." + f.Code)
	if !ok {
		text = w.text("error.text." + strconv.Itoa(f.Status()))
	}
	list := []string{text}
	if f.Text != "" {
		list = append(list, f.Text)
	}
	for _, field := range f.Fields {
		if text, ok := w.find("error." + field.Field + "." + field.Code); ok {
			list = append(list, text)
		}
	}
	return list
}
