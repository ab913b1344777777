package upstreams_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// One application behind an open route and a guarded one: nobody gets the guarded page by
// another spelling of its path, or is believed for a header that another route puts in.
func TestTwoGuardsOfOneApplication(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *url.URL{"Express": express, "PHP": phpGuards, "as IIS compares": anyCase} {
		t.Run(name, func(t *testing.T) {
			app := start(t)
			s := newSite(t, openStore(t, filepath.Join(t.TempDir(), "host.db")), "",
				host.Route{Name: "front", Path: "/front", Proxy: app, Guard: host.GuardNone},
				host.Route{Name: "admin", Path: "/front/admin", Proxy: app, Headers: map[string]string{"Remote-User": "email"}},
				host.Route{Name: "register", Path: "/register", Proxy: app, Guard: host.GuardNone},
			)
			guardedPaths(t, app, s)
			forgedHeaders(t, app, s)
		})
	}
}

// guardedPaths asks for the guarded page by its other names.
func guardedPaths(t *testing.T, app *url.URL, s *site) {
	t.Helper()
	walked := 0
	for _, path := range []string{
		"/front/admin", "/front/Admin", "/front/ADMIN/users", "/front/%41dmin", "/front/adMIN/", "/front/admin%20", "/front/admin.", "/front/ADMIN./users", "/front/admin%20./users",
		"/front/admin%09", "/Front/admin", "/front/Admin/Users", "/front/%61dmin/USERS",
	} {
		_, direct := ask(t, app.Host, path)
		if strings.Contains(direct, "the admin page") {
			walked++
		}
		if status, body := ask(t, s.Listener.Addr().String(), path); strings.Contains(body, "the admin page") || status == 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if walked < 5 {
		t.Errorf("the application has %d of the names for its page: nothing was tried", walked)
	}
	for _, path := range []string{"/front/Administrators", "/front/Main.js", "/front/administration/Admin", "/front/a%20b."} {
		if status, body := ask(t, s.Listener.Addr().String(), path); status != 200 || !strings.Contains(body, "an open page") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// forgedHeaders sends the header of one route to another.
func forgedHeaders(t *testing.T, app *url.URL, s *site) {
	t.Helper()
	believed := 0
	for _, header := range []string{"Remote-User", "remote-user", "REMOTE-USER", "Remote_User", "REMOTE_USER"} {
		if _, direct := ask(t, app.Host, "/register", header); strings.Contains(direct, "who=evil@example.com") {
			believed++
		}
		for path, want := range map[string]string{"/register": "the register page", "/front/x": "an open page"} {
			if status, body := ask(t, s.Listener.Addr().String(), path, header); status != 200 || body != want+", who=nobody" {
				t.Errorf("%s with %s: %d %s", path, header, status, body)
			}
		}
	}
	if believed < 3 {
		t.Errorf("the application believes %d spellings of the header: nothing was tried", believed)
	}
}

// ask sends a guest's request byte for byte, with headers of an evil client.
func ask(t *testing.T, address, path string, headers ...string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var lines strings.Builder
	for _, name := range headers {
		fmt.Fprintf(&lines, "%s: evil@example.com\r\n", name)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n", path, address, lines.String()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func express(t *testing.T) *url.URL {
	needPackage(t, "express/package.json")
	node, err := exec.LookPath("node")
	need(t, "Node.js", err)
	return application(t, nil, func(port string) []string {
		t.Setenv("PORT", port)
		return []string{node, filepath.Join("express", "server.mjs")}
	})
}

func phpGuards(t *testing.T) *url.URL {
	php, err := exec.LookPath("php")
	need(t, "PHP (apt-get install php-cli php-sqlite3)", err)
	return application(t, nil, func(port string) []string {
		return []string{php, "-S", "127.0.0.1:" + port, filepath.Join("php", "guards.php")}
	})
}

// anyCase is a server that finds its pages by the rule of IIS on a Windows file system: any
// case of letters, and no dots or blanks at the end of a segment. Its headers are CGI's.
func anyCase(t *testing.T) *url.URL {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		segments := strings.Split(strings.ToUpper(r.URL.Path), "/")
		for i := range segments {
			segments[i] = strings.TrimRight(segments[i], ". ")
		}
		who := "nobody"
		for name, values := range r.Header {
			if strings.ToUpper(strings.ReplaceAll(name, "-", "_")) == "REMOTE_USER" {
				who = values[0]
			}
		}
		page := "an open page"
		switch strings.TrimSuffix(strings.Join(segments, "/"), "/") {
		case "/FRONT/ADMIN", "/FRONT/ADMIN/USERS":
			page = "the admin page"
		case "/REGISTER":
			page = "the register page"
		}
		fmt.Fprintf(w, "%s, who=%s", page, who)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
