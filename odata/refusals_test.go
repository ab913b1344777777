package odata_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// TestRefusalsAreTold holds that each limit tells who went beyond it, its key, and what was asked for, whether the answer
// is a fault or breaks off; and that a name which can be told is one of LimitNames.
func TestRefusalsAreTold(t *testing.T) {
	cases := []struct {
		name    string
		source  *numbers
		change  func(*odata.Options)
		method  string
		target  string
		body    string
		limit   string
		say     string
		reading bool
	}{
		{"max_top", &numbers{total: 9}, func(o *odata.Options) { o.Limits.MaxTop = 5 }, "GET", "Numbers?$top=6", "", "odata.limits.max_top", "$top is 6", true},
		{"expand_depth", &numbers{total: 9}, func(o *odata.Options) { o.Limits.ExpandDepth = 1 }, "GET", "Numbers?$expand=Next($expand=Next)", "", "odata.limits.expand_depth", "2 levels", true},
		{"filter_nodes", &numbers{total: 9}, func(o *odata.Options) { o.Limits.FilterNodes = 2 }, "GET", "Numbers?$filter=ID+eq+1", "", "odata.limits.filter_nodes", "more parts", true},
		{"rows", &numbers{total: 9}, func(o *odata.Options) { o.Limits.Rows = 3 }, "GET", "Numbers?$top=9", "", "odata.limits.rows", "more rows", true},
		{"rows, broken off", &numbers{total: 5000, padding: 1000}, func(o *odata.Options) { o.Limits.Rows = 900 }, "GET", "Numbers?$top=1000", "", "odata.limits.rows", "more rows", true},
		{"bytes", &numbers{total: 9}, func(o *odata.Options) { o.Limits.Bytes = 20 }, "GET", "Numbers?$top=9", "", "odata.limits.bytes", "more bytes", true},
		{"timeout", &numbers{total: 9, dawdle: time.Minute}, nil, "GET", "Numbers", "", "odata.limits.timeout", "too slow", true},
		{"slow_reader", &numbers{total: 5000, padding: 1000}, nil, "GET", "Numbers?$top=5000", "", "odata.limits.slow_reader", "4096 bytes a second", false},
		{"a block is not taken", &numbers{total: 500, padding: 1000}, nil, "GET", "Numbers?$top=500", "", "odata_fixed", "1m0s", false},
		{"the length of a request", &numbers{}, nil, "GET", "Numbers?$filter=" + strings.Repeat("1", 70_000), "", "odata_fixed", "65536", true},
		{"the length of posted options", &numbers{}, nil, "POST", "Numbers/$query", strings.Repeat("1", 2_000_000), "odata_fixed", "query options", true},
		{"the parts of a batch", &numbers{}, func(o *odata.Options) { o.Batch.Parts = 1 }, "POST", "$batch", multipartBody("GET Numbers", "GET Numbers"), "odata_fixed", "more than 1 requests", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				s := service(t, c.source, func(o *odata.Options, m *edm.Model) {
					m.Types[0].Navigation = []*edm.Navigation{{Name: "Next", Target: m.Sets[0], Nullable: true}}
					if c.change != nil {
						c.change(o)
					}
					o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
						return odata.Caller{Client: "192.0.2.1"}, nil
					}
					o.Refused = func(c odata.Caller, limit string, why error) {
						told = append(told, fmt.Sprintf("%s %s %v", c.Client, limit, why))
					}
				})
				r := httptest.NewRequest(c.method, "/odata/"+c.target, strings.NewReader(c.body))
				r.Header.Set("Content-Type", "multipart/mixed; boundary=b")
				if strings.HasSuffix(c.target, "$query") {
					r.Header.Set("Content-Type", "text/plain")
				}
				w := &unread{ResponseRecorder: httptest.NewRecorder(), reading: c.reading}
				breaks(func() { s.ServeHTTP(w, r) })
				path, _, _ := strings.Cut(c.target, "?")
				if len(told) != 1 || !strings.HasPrefix(told[0], "192.0.2.1 "+c.limit+" ") || !strings.Contains(told[0], c.say) || !strings.Contains(told[0], "/odata/"+path) {
					t.Errorf("told %q; the answer is %d %.200s", told, w.Code, w.Body)
				}
				if !slices.Contains(odata.LimitNames(), c.limit) {
					t.Errorf("%s is none of LimitNames", c.limit)
				}
			})
		})
	}
}

// unread is a client that takes nothing of its answer unless it is reading.
type unread struct {
	*httptest.ResponseRecorder
	reading bool

	mu    sync.Mutex
	until time.Time
}

func (u *unread) SetWriteDeadline(t time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until = t
	return nil
}

func (u *unread) Write(b []byte) (int, error) {
	for !u.reading {
		u.mu.Lock()
		late := !u.until.IsZero() && time.Now().After(u.until)
		u.mu.Unlock()
		if late {
			return 0, os.ErrDeadlineExceeded
		}
		time.Sleep(100 * time.Millisecond)
	}
	return u.ResponseRecorder.Write(b)
}
