package uitest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui"
)

// policy is what the host sends with the page; docs/frontend.md has it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 48"><rect x="4" y="8" width="32" height="32" rx="8" fill="#0070f2"/>` +
	`<path d="M12 32V20a8 8 0 0 1 16 0v12" fill="none" stroke="#fff" stroke-width="4"/>` +
	`<text x="50" y="33" font-family="Arial,sans-serif" font-weight="700" font-size="26" fill="#5a7fa8">Acme Orders</text></svg>`

// host answers the wire contract as a test tells it to.
type host struct {
	*httptest.Server
	dist fs.FS

	mu      sync.Mutex
	boot    map[string]any
	inline  bool
	answers map[string]http.HandlerFunc
	posts   map[string][]map[string]any
	seen    []string
}

type obj = map[string]any

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{
		dist:    ui.FS(),
		inline:  true,
		answers: map[string]http.HandlerFunc{},
		posts:   map[string][]map[string]any{},
		boot: obj{
			"core": "2", "app_name": "Acme Orders", "locale": "en", "logo": "/assets/ci/logo-full.svg", "languages": []string{"en", "de"},
			"routes":   obj{"home": "/", "dashboard": "/dashboard", "terms": "/terms", "privacy": "/privacy", "cookies": "/cookies"},
			"password": obj{"min_length": 12, "sign_in": true}, "next": nil,
		},
	}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// set changes the bootstrap data.
func (h *host) set(key string, value any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.boot = maps.Clone(h.boot)
	h.boot[key] = value
}

// answer decides what "METHOD /path" says from now on.
func (h *host) answer(route string, f http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[route] = f
}

// posted returns the JSON bodies that a path has received.
func (h *host) posted(path string) []map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.posts[path]
}

// requested returns "METHOD /path" of everything that was asked for.
func (h *host) requested() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "same-origin")
	h.keep(r)
	h.mu.Lock()
	h.seen = append(h.seen, r.Method+" "+r.URL.Path)
	f := h.answers[r.Method+" "+r.URL.Path]
	h.mu.Unlock()
	switch {
	case f != nil:
		f(w, r)
	case r.URL.Path == "/login":
		h.page(w, r)
	case r.URL.Path == "/auth/bootstrap":
		writeJSON(w, 200, h.bootFor(r))
	case strings.HasPrefix(r.URL.Path, "/ui/auth/"):
		http.StripPrefix("/ui/auth/", http.FileServerFS(h.dist)).ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, "/ui/steps/"):
		http.StripPrefix("/ui/steps/", http.FileServerFS(ui.Steps())).ServeHTTP(w, r)
	case r.URL.Path == "/assets/ci/logo-full.svg":
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(logo))
	case r.URL.Path == "/dashboard" || r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>There</title><h1>There</h1></html>`))
	default:
		http.NotFound(w, r)
	}
}

func (h *host) keep(r *http.Request) {
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		return
	}
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	var data map[string]any
	_ = json.Unmarshal(body.Bytes(), &data)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.posts[r.URL.Path] = append(h.posts[r.URL.Path], data)
}

func (h *host) bootFor(r *http.Request) map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	boot := maps.Clone(h.boot)
	if lang := r.URL.Query().Get("lang"); lang != "" {
		boot["locale"] = lang
	}
	return boot
}

func (h *host) page(w http.ResponseWriter, r *http.Request) {
	page, err := fs.ReadFile(h.dist, "index.html")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	boot := h.bootFor(r)
	if h.inline {
		data, _ := json.Marshal(boot) // escapes <, > and & by itself
		page = bytes.Replace(page, []byte(`id="bootstrap">{}<`), append([]byte(`id="bootstrap">`), append(data, '<')...), 1)
	}
	page = bytes.Replace(page, []byte(`lang="en"`), []byte(`lang="`+boot["locale"].(string)+`"`), 1)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(page)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// says answers every request alike.
func says(status int, body any, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		writeJSON(w, status, body)
	}
}

// fault has the one shape that every fault has.
func fault(code, field string) obj {
	body := obj{"message": code, "request_id": "req-7f3a"}
	if field != "" {
		body["errors"] = obj{field: []string{code}}
	}
	return body
}

func redirectTo(target string) obj {
	return obj{"kind": "redirect", "version": "1", "payload": obj{"target": target}}
}

func orgSetup() obj {
	return obj{"kind": "org_setup", "version": "1", "payload": obj{"personName": "Ada Lovelace"}}
}

func loggedIn(next any) obj { return obj{"message": "login_success", "next": next} }

func satisfaction(status string, step, errors, next any) obj {
	return obj{"status": status, "next_step": step, "errors": errors, "next": next}
}
