package form_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
)

// Whatever is accepted as JSON means the same to the standard parser, and faults
// are the caller's.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":"b"}`, `{"a":{"b":[1,true,null]}}`, `{"a":1,"a":2}`, `{"a":1}{}`, `[`, `"a"`, "a=b&c=d", "a=%zz"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, body string, asJSON bool) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if asJSON {
			r.Header.Set("Content-Type", "application/json")
		}
		got, err := form.Read(r)
		if err != nil {
			if s := fault.As(err).Status(); s < 400 || s > 499 {
				t.Fatalf("status %d for %q", s, body)
			}
			return
		}
		if !asJSON {
			return
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(body), &want); err != nil {
			t.Fatalf("accepted %q, which is %v", body, err)
		}
		if len(want) != len(got.Values) {
			t.Errorf("%d fields, want %d", len(got.Values), len(want))
		}
	})
}
