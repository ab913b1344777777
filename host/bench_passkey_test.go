package host_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
)

// What a sign-in by passkey costs the host on SQLite, from the options to the session. The authenticator's work does not count.
// The aim is 2 ms of processor time.
func BenchmarkPasskeySignIn(b *testing.B) {
	handler, jar := benchHost(b), map[string]*http.Cookie{}
	var used time.Duration
	post := func(path, body string) []byte {
		b.Helper()
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for _, c := range jar {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		before := cpu(b)
		handler.ServeHTTP(w, r)
		used += cpu(b) - before
		if w.Code >= http.StatusMultipleChoices {
			b.Fatal(path, w.Code, w.Body)
		}
		for _, c := range w.Result().Cookies() {
			if jar[c.Name] = c; c.MaxAge < 0 {
				delete(jar, c.Name)
			}
		}
		return w.Body.Bytes()
	}
	credential := func(answer json.RawMessage, err error) string {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return `{"name":"Bench","credential":` + string(answer) + `}`
	}
	a := passkeytest.New("http://localhost")
	post("/auth/login", `{"login":"`+adaEmail+`","password":"`+adaPassword+`"}`)
	post("/auth/account/passkeys", credential(a.Create(post("/auth/account/passkeys/options", `{}`))))
	used = 0
	for b.Loop() {
		post("/auth/passkeys/login", credential(a.Get(post("/auth/passkeys/options", `{}`))))
	}
	b.ReportMetric(float64(used.Microseconds())/float64(b.N)/1000, "sign-in-cpu-ms")
}
