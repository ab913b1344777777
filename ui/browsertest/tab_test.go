package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// serve answers with a page under a policy that forbids all but inline scripts.
func serve(t *testing.T, script string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; img-src data:")
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><h1>There</h1><script>` + script + `</script>`))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// What a page complains about is heard: no other test fails when this does not work.
func TestComplaintsAreHeard(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"an exception":         {`throw new Error('fell over')`, "fell over"},
		"an error on console":  {`console.error('went wrong')`, "went wrong"},
		"a warning":            {`console.warn('take care')`, "take care"},
		"a forbidden picture":  {`document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:1/x' }))`, "CSP: img-src"},
		"a failed request":     {`fetch('http://127.0.0.1:1/x').catch(() => {})`, "CSP: connect-src"},
		"nothing but a remark": {`console.log('by the way')`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := browsertest.Open(t, nil)
			b.Visit(serve(t, c.script))
			b.See("There")
			browsertest.Eval[any](b, `new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))`)
			heard := strings.Join(b.Forgive(), "\n")
			if !strings.Contains(heard, c.want) || c.want == "" && heard != "" {
				t.Errorf("heard %q, want %q", heard, c.want)
			}
		})
	}
}

func TestTabsShareNoCookies(t *testing.T) {
	url := serve(t, `if (location.hash) document.cookie = 'who=ada'`)
	one, other := browsertest.Open(t, nil), browsertest.Open(t, nil)
	one.Visit(url + "/#set")
	other.Visit(url)
	if got := browsertest.Eval[string](one, `document.cookie`); got != "who=ada" {
		t.Errorf("the tab has the cookies %q", got)
	}
	if got := browsertest.Eval[string](other, `document.cookie`); got != "" {
		t.Errorf("another tab sees the cookies %q", got)
	}
}
