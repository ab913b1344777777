package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	service, err := serve(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(service)
	defer srv.Close()
	for target, want := range map[string]string{
		"/odata/": `"name":"authors"`,
		"/odata/authors?$expand=books($select=title)&$filter=born%20lt%201850-01-01": `/odata/books('978-0')","title":"Notes on the Analytical Engine"}]`,
		"/odata/books?$orderby=price%20desc&$top=1&$count=true&$select=title,price":  `/odata/books('978-0')","title":"Notes on the Analytical Engine","price":12.50}]`,
	} {
		resp, err := http.Get(srv.URL + target)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s gives %d %s", target, resp.StatusCode, body)
		}
	}
	if _, err := serve(t.Context(), []string{"/nowhere/at/all.db"}); err == nil {
		t.Error("a database that is not there is served")
	}
}

// What the README asks by curl has rows.
func TestReadme(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	service, err := serve(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`(?m)^curl (?:-g )?'http://127\.0\.0\.1:8081(.+)'$`).FindAllSubmatch(readme, -1)
	if len(asked) < 3 {
		t.Errorf("the README asks %d times, want 3 or more", len(asked))
	}
	for _, m := range asked {
		w := httptest.NewRecorder()
		service.ServeHTTP(w, httptest.NewRequest(http.MethodGet, string(m[1]), nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"value":[{`) {
			t.Errorf("GET %s gives %d %s", m[1], w.Code, w.Body)
		}
	}
}
