package odata_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func twelve() string {
	parts := make([]string, 12)
	for i := range parts {
		parts[i] = "GET Numbers?$top=1"
	}
	return multipartBody(parts...)
}

// TestOneDeadlineForABatch holds that the parts of a batch share the time of the database: 12 parts of 600 ms each do not
// get 2 s each.
func TestOneDeadlineForABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := service(t, &numbers{total: 1, dawdle: 600 * time.Millisecond}, func(o *odata.Options, _ *edm.Model) { o.Timeout = 2 * time.Second })
		start := time.Now()
		got := postBatch(t, s, twelve(), "Prefer", "continue-on-error")
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("the database worked for %v", took)
		}
		want := append(slices.Repeat([]int{200}, 3), slices.Repeat([]int{503}, 9)...)
		if !slices.Equal(statuses(got), want) {
			t.Errorf("%v, want %v", statuses(got), want)
		}
		if last := got[len(got)-1].body; !strings.Contains(last, "odata.limits.timeout, which is 2s") {
			t.Errorf("the refusal names no limit: %s", last)
		}
	})
}

// TestBudgets holds that rows and bytes are those of the HTTP request: a fault before the first byte, a broken connection
// behind it, and a log that names the limit.
func TestBudgets(t *testing.T) {
	cases := []struct {
		name    string
		limits  odata.Limits
		target  string
		padding int
		status  int
		broken  bool
		say     string
	}{
		{"rows that fit", odata.Limits{Rows: 10}, "$top=10", 1, 200, false, ""},
		{"too many rows", odata.Limits{Rows: 10}, "$top=11", 1, 400, false, "odata.limits.rows is 10"},
		{"too many rows behind the first byte", odata.Limits{Rows: 900}, "$top=1000", 1000, 200, true, "odata.limits.rows is 900"},
		{"rows without limit", odata.Limits{Rows: odata.Unlimited}, "$top=1000", 1, 200, false, ""},
		{"too many bytes", odata.Limits{Bytes: 100}, "$top=11", 1, 400, false, "odata.limits.bytes is 100"},
		{"too many bytes behind the first one", odata.Limits{Bytes: 200_000}, "$top=1000", 1000, 200, true, "odata.limits.bytes is 200000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			s := service(t, &numbers{total: 5000, padding: c.padding}, func(o *odata.Options, _ *edm.Model) {
				o.Limits, o.Logger = c.limits, hclog.New(&hclog.LoggerOptions{Output: &log})
			})
			w := httptest.NewRecorder()
			broken := breaks(func() { s.ServeHTTP(w, httptest.NewRequest("GET", "/odata/Numbers?"+c.target, nil)) })
			if w.Code != c.status || broken != c.broken {
				t.Errorf("%d, broken: %v", w.Code, broken)
			}
			if text := log.String() + w.Body.String(); c.say != "" && !strings.Contains(text, c.say) {
				t.Errorf("nothing says %q: %.300s", c.say, log.String())
			}
		})
	}
}

func TestOneBudgetForABatch(t *testing.T) {
	s := service(t, &numbers{total: 5000}, func(o *odata.Options, _ *edm.Model) { o.Limits.Rows = 9 })
	want := append(slices.Repeat([]int{200}, 9), 400, 400, 400)
	if got := statuses(postBatch(t, s, twelve(), "Prefer", "continue-on-error")); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// breaks tells whether the connection is broken on purpose.
func breaks(serve func()) (broken bool) {
	defer func() {
		if err, ok := recover().(error); ok {
			broken = errors.Is(err, http.ErrAbortHandler)
		}
	}()
	serve()
	return false
}
