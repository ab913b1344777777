package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// followData makes the page's database, and reads the addresses of its commands as a guest.
func followData(t *testing.T, l *learner, text string) {
	before, after, ok := strings.Cut(text, "## 2. ")
	addresses := regexp.MustCompile(`(?m)^curl (?:-g )?'http://127\.0\.0\.1:8080(.+)'$`).FindAllStringSubmatch(after, -1)
	if !ok || len(addresses) != 2 {
		t.Fatalf("the page asks %d times, want 2", len(addresses))
	}
	l.follow(before)
	l.serve("", nil, func(base string) {
		for _, address := range addresses {
			if body := guest(t, base+address[1]); !strings.Contains(body, "Ada Lovelace") {
				t.Errorf("%s is %s", address[1], body)
			}
		}
		if where := redirected(t, base+"/"); where != "/odata/" {
			t.Errorf("/ redirects to %q", where)
		}
	})
	if tables := l.run("", "sqlite3", "library.db", ".tables"); strings.Contains(tables, "vestibule") {
		t.Errorf("the tables of library.db are %s", tables)
	}
}

// redirected returns where a guest is redirected to.
func redirected(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.Header.Get("Location")
}

// followUI5 opens the page's application in a browser, with the OpenUI5 of the dashboard instead of the one on the internet.
func followUI5(t *testing.T, l *learner, text string) {
	packages, err := filepath.Abs(filepath.Join(root, "examples/ui5-dashboard/node_modules/@openui5"))
	l.check(err)
	if _, err := os.Stat(packages); err != nil {
		missingFor(t, "REQUIRE_UI5", "no OpenUI5 (npm ci in examples/ui5-dashboard)")
	}
	const internet = `src="https://sdk.openui5.org/resources/`
	if !strings.Contains(text, internet) {
		t.Fatal("the page does not have " + internet)
	}
	l.follow(strings.Replace(text, internet, `src="resources/`, 1))
	for folder, name := range map[string]string{"": "sap.ui.core", "/sap/m": "sap.m", "/sap/ui/layout": "sap.ui.layout", "/sap/ui/unified": "sap.ui.unified"} {
		l.append("config.hcl", fmt.Sprintf("\nroute %q {\n  path = %q\n  dir  = %q\n}\n", name, "/app/resources"+folder, packages+"/"+name+"/src"+folder))
	}
	l.serve("", nil, func(base string) {
		b := browsertest.Open(t, nil)
		b.Visit(base + "/app/")
		b.Ready("#login")
		b.Fill("#login", "ada@example.com")
		b.Fill("#password", "analytical-engine-1843")
		b.Click("button[type=submit]")
		b.At(base + "/app/")
		b.See("Read this page")
		b.See("Bind a table")
		b.Wait(`sap.ui.require("sap/m/MessageBox")`) // which vestibule/Session loads in the background
		for _, complaint := range b.Forgive() {      // the packages have neither compiled themes nor a list of versions
			if !regexp.MustCompile(`/library\.css|sap-ui-version\.json`).MatchString(complaint) {
				t.Error(complaint)
			}
		}
	})
}

// followDevelopment has a development server whose pages and WebSockets Ada reaches through the host, and guests do not.
func followDevelopment(t *testing.T, l *learner, text string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "websocket" {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			w.WriteHeader(http.StatusSwitchingProtocols)
			return
		}
		_, _ = w.Write([]byte("<h1>In development</h1>"))
	}))
	t.Cleanup(server.Close)
	if !strings.Contains(text, "http://127.0.0.1:5173") {
		t.Fatal("the page names no development server")
	}
	l.follow(strings.ReplaceAll(text, "http://127.0.0.1:5173", server.URL))
	l.serve("", nil, func(base string) {
		if body := guest(t, base+"/"); strings.Contains(body, "In development") {
			t.Errorf("a guest gets %s", body)
		}
		l.enter(base)
		get, _ := l.browse(base)
		if status, body, _ := get("/"); status != 200 || !strings.Contains(body, "In development") {
			t.Errorf("/ is %d %s", status, body)
		}
		req, err := http.NewRequest(http.MethodGet, base+"/", http.NoBody)
		l.check(err)
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "websocket")
		resp, err := l.browser().Do(req)
		l.check(err)
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a WebSocket is answered with %d %v", resp.StatusCode, resp.Header)
		}
	})
}
