package web

import (
	"maps"
	"net/http"
	"strings"
	"sync"
)

// A passage carries the answer of an application to the client. It passes on early hints of the application, and only
// their links, and no other interim answer (1xx). It is for one request and not safe for concurrent use.
type passage struct {
	http.ResponseWriter
	// ours holds the headers of the host until the answer begins.
	ours http.Header
}

// newPassage returns a passage to w. It takes the headers out of w, because httputil.ReverseProxy clears them after each
// interim answer.
func newPassage(w http.ResponseWriter) *passage {
	p := &passage{ResponseWriter: w, ours: make(http.Header, len(w.Header()))}
	maps.Copy(p.ours, w.Header())
	clear(w.Header())
	return p
}

// begin joins the headers of the host and those of the application, whose own security headers win. The request id is
// always the host's. When the host sets a cookie, no cache may keep the answer.
func (p *passage) begin(resp *http.Response) {
	theirs := resp.Header
	delete(theirs, "X-Request-Id")
	if p.ours.Get("Set-Cookie") != "" {
		theirs.Set("Cache-Control", "private, no-store")
	}
	for name, values := range p.ours {
		if set, ok := theirs[name]; !ok {
			theirs[name] = values
		} else if name == "Set-Cookie" {
			theirs[name] = append(set, values...)
		}
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return // httputil.ReverseProxy sends them itself
	}
	if strings.HasPrefix(theirs.Get("Content-Type"), "text/event-stream") {
		resp.ContentLength = -1 // httputil.ReverseProxy flushes each part of a body without a length, and no other
	}
	maps.Copy(p.Header(), theirs)
	resp.Header = nil // httputil.ReverseProxy would copy each value
}

// WriteHeader begins the answer, or sends early hints.
func (p *passage) WriteHeader(status int) {
	if status == http.StatusEarlyHints {
		maps.DeleteFunc(p.Header(), func(name string, _ []string) bool { return name != "Link" })
	}
	if _, typed := p.Header()["Content-Type"]; status >= 200 && !typed {
		p.Header()["Content-Type"] = nil // net/http would guess one
	}
	if status >= 200 || status == http.StatusSwitchingProtocols || status == http.StatusEarlyHints && len(p.Header()) > 0 {
		p.ResponseWriter.WriteHeader(status)
	}
}

// Unwrap lets http.ResponseController find Flush and Hijack.
func (p *passage) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// buffers lend the memory through which bodies are copied, so that a request does not allocate its own.
type buffers struct{ free sync.Pool }

// bufferSize is that of httputil.ReverseProxy's own buffers.
const bufferSize = 32 << 10

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if free, ok := b.free.Get().(*[bufferSize]byte); ok {
		return free[:]
	}
	return make([]byte, bufferSize)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(buffer []byte) { b.free.Put((*[bufferSize]byte)(buffer)) }
