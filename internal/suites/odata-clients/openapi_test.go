package odataclients_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// TestOpenAPI has two validators look at the demo's OpenAPI document, and at one that
// is wrong in a way for each.
func TestOpenAPI(t *testing.T) {
	node := need(t)
	doc := string(get(t, serve(t)+"openapi.json"))
	dir := t.TempDir()
	files := []string{"openapi.mjs"}
	for name, text := range map[string]string{
		"a.json": doc,
		"b.json": strings.ReplaceAll(doc, `#/components/schemas/count"`, `#/components/schemas/cuont"`),
		"c.json": strings.Replace(doc, `"required":true`, `"required":"yes"`, 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.json", "b.json", "c.json"} {
		files = append(files, filepath.Join(dir, name))
	}
	var problems [][]string
	if err := json.Unmarshal(run(t, node, files...), &problems); err != nil {
		t.Fatal(err)
	}
	if len(problems[0]) > 0 {
		t.Errorf("the demo's document:\n%s", strings.Join(problems[0], "\n"))
	}
	if all := strings.Join(problems[1], "\n"); !strings.Contains(all, "redocly: no-unresolved-refs") {
		t.Errorf("a reference into nowhere: %s", all)
	}
	if all := strings.Join(problems[2], "\n"); !strings.Contains(all, "redocly: struct") || !strings.Contains(all, "schema: ") {
		t.Errorf("a wrong type: %s", all)
	}
}

// TestSwaggerUI opens the document in Swagger UI, and sends a request from there.
func TestSwaggerUI(t *testing.T) {
	need(t)
	if os.Getenv("SWAGGER_UI") == "" {
		t.Skip("takes some seconds of a browser: make -C internal swagger-ui")
	}
	service, err := url.Parse(serve(t))
	if err != nil {
		t.Fatal(err)
	}
	page := `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/ui/swagger-ui.css"><link rel="icon" href="data:,"><div id="ui"></div>` +
		`<script src="/ui/swagger-ui-bundle.js"></script><script>SwaggerUIBundle({url:"/odata/openapi.json",dom_id:"#ui"})</script>`
	mux := http.NewServeMux()
	mux.Handle("/ui/", http.StripPrefix("/ui/", http.FileServer(http.Dir(filepath.Join("node_modules", "swagger-ui-dist")))))
	mux.Handle("/odata/", httputil.NewSingleHostReverseProxy(&url.URL{Scheme: service.Scheme, Host: service.Host}))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) })
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)

	b := browsertest.Open(t, nil)
	b.Visit(site.URL + "/")
	b.Wait(`document.querySelectorAll(".opblock").length > 20`)
	if errors := b.Text("#ui"); strings.Contains(errors, "Errors") || strings.Contains(errors, "Could not resolve") {
		t.Errorf("Swagger UI finds faults: %.500s", errors)
	}
	const block = `[...document.querySelectorAll(".opblock")].find(b => b.querySelector(".opblock-summary-path")?.dataset.path == "/Products({id})")`
	for _, step := range []string{`.opblock-summary-control`, `.try-out__btn`} {
		b.Wait(`(e => e && (e.click(), true))(` + block + `?.querySelector("` + step + `"))`)
	}
	const input = `tr[data-param-name="id"] input`
	b.Wait(block + `?.querySelector('` + input + `:enabled') != null`)
	b.Fill(input, "7")
	b.Wait(`(b => b.querySelector(".live-responses-table tr.response .response-col_status")?.textContent.startsWith("200") || (b.querySelector(".execute").click(), false))(` + block + `)`) // it takes the value a while after the last key
	if got := browsertest.Eval[string](b, block+`.querySelector(".live-responses-table").textContent`); !strings.Contains(got, `"id": 7`) {
		t.Errorf("Products(7) answers %.500s", got)
	}
}
