package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/route"
)

// An answerKind says what a route answers with, which decides on its security
// headers.
type answerKind bool

const (
	// page is something that a browser shows, or a file of a page.
	page answerKind = false
	// data is for programs; a browser that shows it all the same loads nothing.
	data answerKind = true
)

// basePolicy is the Content-Security-Policy of answers that are the application's
// own pages: where scripts come from is the application's business.
const basePolicy = "base-uri 'self'; form-action 'self'; frame-ancestors 'self'"

// dataPolicy is that of answers which are no pages.
const dataPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// wrap is what every answer goes through: a request id, the security headers, the
// host check, a line in the log and counts, and a fault instead of a panic. name
// is that of the route, for the counts.
func (h *Host) wrap(name string, kind answerKind, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requestID(r.Context()) != "" {
			next.ServeHTTP(w, r) // wrapped already, by Guard around a mounted route
			return
		}
		start := time.Now()
		id := newRequestID()
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
		rec := &route.Recorder{ResponseWriter: w}
		h.setHeaders(rec.Header(), kind, id)
		defer func() {
			aborted := h.recovered(rec, r, recover())
			h.logRequest(name, r, rec, time.Since(start))
			if aborted {
				panic(http.ErrAbortHandler) // net/http's own way to break a connection
			}
		}()
		if fault := h.unacceptable(r); fault != nil {
			h.pipeline.Fail(rec, r, fault)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// unacceptable refuses requests for another host and paths with a NUL, which
// reach files and upstreams as something else.
func (h *Host) unacceptable(r *http.Request) error {
	if !h.site.knownHost(r) {
		return &fault.Fault{Code: fault.Misdirected, Cause: fmt.Errorf("host %q: set server.public_url to serve other names", r.Host)}
	}
	if strings.ContainsRune(r.URL.Path, 0) {
		return &fault.Fault{Code: fault.Malformed, Cause: errors.New("NUL in the path")}
	}
	return nil
}

func (h *Host) setHeaders(header http.Header, kind answerKind, id string) {
	header.Set("X-Request-Id", id)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	header.Set("Content-Security-Policy", basePolicy)
	if kind == data {
		header.Set("Content-Security-Policy", dataPolicy)
	}
	if h.secure() {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// recovered answers a handler's panic with an internal error, or reports that the
// connection must break because the answer has begun.
func (h *Host) recovered(rec *route.Recorder, r *http.Request, cause any) (abort bool) {
	if cause == nil {
		return false
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return true
	}
	h.o.Logger.Error("panic", "request_id", requestID(r.Context()), "path", auth.LogPath(r), "cause", cause, "stack", string(debug.Stack()))
	if rec.Begun() {
		return true
	}
	h.pipeline.Fail(rec, r, &fault.Fault{Code: fault.Internal, Cause: fmt.Errorf("panic: %v", cause)})
	return false
}

func (h *Host) logRequest(name string, r *http.Request, rec *route.Recorder, took time.Duration) {
	client, _ := h.site.Client(r)
	h.metrics.Request(name, rec.Status(), took)
	h.o.Logger.Info("request", "request_id", requestID(r.Context()), "method", r.Method, "path", auth.LogPath(r),
		"status", rec.Status(), "bytes", rec.Bytes(), "ms", fmt.Sprintf("%.2f", float64(took.Microseconds())/1000), "client", client)
}

func newRequestID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
