package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// The example of W3C Trace Context 3.2.4, and its parts.
const (
	exampleID   = "4bf92f3577b34da6a3ce929d0e0e4736"
	exampleSpan = "00f067aa0ba902b7"
	example     = "00-" + exampleID + "-" + exampleSpan + "-01"
)

// traced sends a request through the middleware and returns its trace, its id and its
// line in the log.
func traced(t testing.TB, remote string, header http.Header) (parent, state, id, line string) {
	t.Helper()
	var log strings.Builder
	site := web.NewSite(web.SiteOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	m := web.NewMiddleware(site, nil, hclog.New(&hclog.LoggerOptions{Output: &log, JSONFormat: true}), telemetry.New(), noLimits(), nil)
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
	r.RemoteAddr, r.Header = remote, header
	w := httptest.NewRecorder()
	m.Wrap(web.Route{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		trace := auth.RequestOf(r.Context()).Trace
		parent, state = trace.Parent, trace.State
	})).ServeHTTP(w, r)
	return parent, state, w.Header().Get("X-Request-Id"), log.String()
}

// What a trusted proxy tells of a trace is taken over with a span of the host's own;
// whatever is malformed, and what anybody else tells, is made anew.
func TestTraceparent(t *testing.T) {
	const proxy, stranger = "10.1.2.3:4000", "203.0.113.9:4000"
	tests := []struct {
		name, remote string
		parents      []string
		states       []string
		taken        bool
		flags, state string
	}{
		{"of a trusted proxy", proxy, []string{example}, []string{"a=1,b=2"}, true, "01", "a=1,b=2"},
		{"not sampled", proxy, []string{example[:53] + "00"}, nil, true, "00", ""},
		{"with flags that are not known", proxy, []string{example[:53] + "ff"}, nil, true, "01", ""},
		{"of a version to come", proxy, []string{"cc" + example[2:] + "-what-else"}, nil, true, "01", ""},
		{"with state in two lines", proxy, []string{example}, []string{"a=1", "b=2"}, true, "01", "a=1,b=2"},
		{"with too much state", proxy, []string{example}, []string{strings.Repeat("a", 513)}, true, "01", ""},
		{"with state beyond ASCII", proxy, []string{example}, []string{"a=ä"}, true, "01", ""},
		{"none", proxy, nil, []string{"a=1"}, false, "00", ""},
		{"of a stranger", stranger, []string{example}, []string{"a=1"}, false, "00", ""},
		{"two", proxy, []string{example, example}, nil, false, "00", ""},
		{"empty", proxy, []string{""}, nil, false, "00", ""},
		{"in capitals", proxy, []string{strings.ToUpper(example)}, nil, false, "00", ""},
		{"without a trace", proxy, []string{"00-" + strings.Repeat("0", 32) + "-" + exampleSpan + "-01"}, []string{"a=1"}, false, "00", ""},
		{"without a span", proxy, []string{"00-" + exampleID + "-" + strings.Repeat("0", 16) + "-01"}, nil, false, "00", ""},
		{"of the version that is none", proxy, []string{"ff" + example[2:]}, nil, false, "00", ""},
		{"too long for its version", proxy, []string{example + "-x"}, nil, false, "00", ""},
		{"of a version to come, cut wrongly", proxy, []string{"cc" + example[2:] + "x"}, nil, false, "00", ""},
		{"too short", proxy, []string{example[:54]}, nil, false, "00", ""},
		{"with other signs", proxy, []string{strings.Replace(example, "4b", "4g", 1)}, nil, false, "00", ""},
		{"with other marks", proxy, []string{strings.ReplaceAll(example, "-", "_")}, nil, false, "00", ""},
	}
	form := regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])$`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parent, state, _, line := traced(t, tt.remote, http.Header{"Traceparent": tt.parents, "Tracestate": tt.states})
			m := form.FindStringSubmatch(parent)
			if m == nil {
				t.Fatalf("traceparent is %q", parent)
			}
			if (m[1] == exampleID) != tt.taken || m[2] == exampleSpan || m[3] != tt.flags || state != tt.state {
				t.Errorf("%s with %q: want taken over %t, flags %s, state %q", parent, state, tt.taken, tt.flags, tt.state)
			}
			if !strings.Contains(line, `"span_id":"`+m[2]+`"`) || !strings.Contains(line, `"trace_id":"`+m[1]+`"`) {
				t.Errorf("the log does not tell of it: %s", line)
			}
		})
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add(example)
	f.Add("cc" + example[2:] + "-")
	f.Fuzz(func(t *testing.T, value string) {
		parent, _, _, _ := traced(t, "10.0.0.1:1", http.Header{"Traceparent": {value}})
		if len(parent) != 55 {
			t.Errorf("%q became %q", value, parent)
		}
	})
}

func TestRequestIDOfAProxy(t *testing.T) {
	for name, tt := range map[string]struct {
		remote, told string
		taken        bool
	}{
		"of a trusted proxy":        {"10.0.0.1:1", "7F000001:1F90_7F000001:50.a-b", true},
		"of a stranger":             {"203.0.113.9:1", "abc", false},
		"with a blank":              {"10.0.0.1:1", "a b", false},
		"with a quote":              {"10.0.0.1:1", `a"b`, false},
		"longer than 128 bytes":     {"10.0.0.1:1", strings.Repeat("a", 129), false},
		"empty":                     {"10.0.0.1:1", "", false},
		"with something beyond 7F":  {"10.0.0.1:1", "ä", false},
		"in the form of a log line": {"10.0.0.1:1", "a,status=200", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, id, _ := traced(t, tt.remote, http.Header{"X-Request-Id": {tt.told}})
			if (id == tt.told) != tt.taken || id == "" {
				t.Errorf("%q became %q", tt.told, id)
			}
		})
	}
}
