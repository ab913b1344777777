package host_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host"
)

// frontAndApp has an open application at /front with a guarded part, and a guarded
// one at /app.
func frontAndApp(t *testing.T) func(*host.Options) {
	app := mirror(t)
	return func(o *host.Options) {
		o.Routes = append(o.Routes,
			host.Route{Name: "front", Path: "/front", Proxy: app, Guard: host.GuardNone},
			host.Route{Name: "admin", Path: "/front/admin", Proxy: app, Guard: host.GuardSettled},
			host.Route{Name: "app", Path: "/app", Proxy: app, Guard: host.GuardSettled},
		)
	}
}

// A route without a guard is behind the default one, also where its path is ambiguous.
func TestAmbiguousPathsOfTheDefaultGuard(t *testing.T) {
	dir := t.TempDir()
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = append(o.Routes,
			host.Route{Name: "open", Path: "/open", Dir: dir, Guard: host.GuardNone},
			host.Route{Name: "default", Path: "/open/default", Dir: dir},
		)
	})
	resp, body := s.raw(t, "GET /open/default;x=1/a HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
	if resp.StatusCode != 400 || !strings.Contains(body, `"path":["parameter"]`) {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// A path that an application may read as one behind another guard is refused, with
// what is ambiguous in it.
func TestAmbiguousPaths(t *testing.T) {
	s := newSite(t, sqliteStore(t), frontAndApp(t))
	for path, want := range map[string]string{
		"/front/admin;x=1":          "parameter",
		"/front/admin;x=1/users":    "parameter",
		"/front/..;/app":            "parameter",
		"/front/..;a=b/app":         "parameter",
		"/front;x/admin":            "parameter",
		"/front/..%3b/app":          "parameter",
		"/front/..%5capp":           "backslash",
		"/front/..%5Capp":           "backslash",
		`/front\admin`:              "backslash",
		"/front/..%2fapp":           "encoded_slash",
		"/front%2Fadmin":            "encoded_slash",
		"/front/%2Fadmin":           "encoded_slash",
		"/front/%2e%2e/app":         "dot_segment",
		"/front/../app":             "dot_segment",
		"/front/./admin":            "dot_segment",
		"/front/x/../admin":         "dot_segment",
		"/app/../front/x":           "dot_segment",
		"/front/%252e%252e/app":     "encoded_twice",
		"/front/..%252fapp":         "encoded_twice",
		"/front/..;/odata/Products": "parameter",
		"/front/..;/login":          "parameter",
		"/front/..;/nothing":        "parameter",
		"/front/.%2e/":              "dot_segment",
	} {
		for _, method := range []string{"GET", "POST"} {
			resp, body := s.raw(t, method+" "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\nContent-Length: 0\n\n")
			if resp.StatusCode != 400 || !strings.Contains(body, `"message":"malformed_request","errors":{"path":["`+want+`"]}`) {
				t.Errorf("%s %s: %s %s", method, path, resp.Status, body)
			}
			if resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: without our headers", path)
			}
		}
	}
	for path, status := range map[string]int{
		"/front/x;v=1": 200, "/front/a%2Fb": 200, "/front/a%5Cb": 200, "/front/a/../b": 200, "/front/100%2525": 200, "/front//x": 200, "/front/@scope%2Fname": 200,
		"/front//admin": 301, "/app/x;v=1": 302, "//app": 301,
	} {
		resp, _ := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nSec-Fetch-Mode: navigate\nConnection: close\n\n")
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, resp.Status, status)
		}
	}
}

// The same holds on a router of the embedding program, whose own routes count.
func TestAmbiguousPathsOnAnotherRouter(t *testing.T) {
	s := newSite(t, sqliteStore(t), frontAndApp(t))
	router := mux.NewRouter().SkipClean(true)
	router.PathPrefix("/front/own").HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	if err := s.host.Mount(router); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	s.Server = server
	for path, status := range map[string]int{
		"/front/..;/app": 400, "/front/admin;x=1": 400, "/front/..%5capp": 400, "/front/x/..;/own": 400, "/front//admin": 400, "/front/own": 418, "/front/x;v=1": 200, "/front/a%2Fb": 200,
	} {
		resp, _ := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, resp.Status, status)
		}
	}
}

// Nobody writes log lines of their own by a path, and no reset token gets there.
func TestPathsInTheLog(t *testing.T) {
	dir := t.TempDir()
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		frontAndApp(t)(o)
		o.Server.PublicDir = dir
	})
	for _, path := range []string{
		"/password/reset/TOKEN", "//password//reset/TOKEN", "/front/%0a[INFO]%0d%0aforged/password/reset/TOKEN", "/password/./reset/TOKEN", "/password/x/../reset/TOKEN", "/password;a/reset;b/TOKEN",
		"/PASSWORD%2FReset%2FTOKEN", `/password\reset\TOKEN`, "/password%252freset%252fTOKEN", "/x//password/reset//TOKEN/more",
	} {
		s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
	}
	// A request has its line after its answer.
	logged := func(requests int) {
		for range 1000 {
			if strings.Count(s.log.String(), "request: request_id=") >= requests {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("no %d requests in the log:\n%s", requests, s.log)
	}
	logged(10)
	before := strings.Count(s.log.String(), "\n")
	s.raw(t, "GET /front/a%0a2026-01-01T00:00:00.000Z%20[INFO]%20forged%0d%0aline%0a HTTP/1.1\nHost: $HOST\nConnection: close\n\n")
	logged(11)
	if lines := strings.Count(s.log.String(), "\n") - before; lines != 1 {
		t.Errorf("one request makes %d lines:\n%s", lines, s.log)
	}
	if strings.Contains(s.log.String(), "TOKEN") {
		t.Errorf("a token in the log:\n%s", s.log)
	}
}
