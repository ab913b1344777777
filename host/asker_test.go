package host_test

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// The line of a request says who asked: the user, the way, and the session or the token by
// an id that opens nothing. Lines of the sign-in name the same session.
func TestRequestLineSaysWhoAsked(t *testing.T) {
	s := tokenSite(t, func(o *host.Options) {
		o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	ada, guest := s.browser(t), s.browser(t)
	ada.login(adaEmail, adaPassword, true).want(t, 200, "login_success")
	login := s.lastLine(t, "event=login ")
	session := fieldOf(login, "session")
	if len(session) < 20 || strings.Contains(login, ada.cookie(sessionName)) {
		t.Fatalf("the line of the sign-in: %s", login)
	}
	bySession := " user=" + s.user.ID + " way=session session=" + session + " "
	token, text := s.token(t, adaEmail, host.TokenRequest{})
	routed, app := s.token(t, adaEmail, host.TokenRequest{Route: "app"})
	verified := []string{"X-Forwarded-Method", "GET", "X-Forwarded-Proto", "http", "X-Forwarded-Host", strings.TrimPrefix(s.URL, "http://"), "X-Forwarded-Uri", "/x"}
	for _, tt := range []struct {
		name, path string
		by         *browser
		header     []string
		status     int
		want       string // empty for a line that names nobody
	}{
		{"a static route", "/dashboard", ada, nil, 302, bySession},
		{"an application", "/plain", ada, nil, 200, bySession},
		{"an application open to everybody", "/open", ada, nil, 200, bySession},
		{"the query endpoint", "/odata/Orders", ada, nil, 200, bySession},
		{"forward auth", "/auth/verify", ada, verified, 200, bySession},
		{"the sign-in", "/auth/bootstrap", ada, nil, 200, bySession},
		{"a path that nobody answers", "/nothing", ada, nil, 404, bySession},
		{"a token", "/odata/Orders", guest, bearer(text), 200, " user=" + s.user.ID + " way=token token=" + token.ID + " "},
		{"a token and a session", "/odata/Orders", ada, bearer(text), 200, " user=" + s.user.ID + " way=token token=" + token.ID + " "},
		{"a token at an application", "/app", guest, bearer(app), 200, " user=" + s.user.ID + " way=token token=" + routed.ID + " "},
		{"a token for something else", "/app", guest, bearer(text), 401, " user=" + s.user.ID + " way=token token=" + token.ID + " "},
		{"no token at all", "/app", guest, bearer("vst_nonsense"), 401, ""},
		{"no token at all, with a session", "/app", ada, bearer("vst_nonsense"), 401, ""},
		{"a guest who is turned away", "/dashboard", guest, nil, 401, ""},
		{"a guest where everybody may", "/open", guest, nil, 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := append([]string{"Accept", "application/json"}, tt.header...)
			a := tt.by.do("GET", tt.path, "", "", header...)
			if a.StatusCode != tt.status {
				t.Errorf("%s: %s", a.Status, a.body)
			}
			line := s.lastLine(t, "request: request_id="+a.Header.Get("X-Request-Id"))
			if tt.want == "" && (strings.Contains(line, " user=") || strings.Contains(line, " way=")) || !strings.Contains(line, tt.want) {
				t.Errorf("want %q in %s", tt.want, line)
			}
		})
	}
	t.Run("a device", func(t *testing.T) {
		ada.forget(sessionName)
		line := s.lastLine(t, "request: request_id="+ada.get("/plain").Header.Get("X-Request-Id"))
		resumed := s.lastLine(t, "event=resumed ")
		next := fieldOf(resumed, "session")
		if next == "" || next == session || !strings.Contains(line, " way=device session="+next+" ") {
			t.Errorf("%s after %s", line, resumed)
		}
		session = next
	})
	t.Run("logging out", func(t *testing.T) {
		ada.do("POST", "/logout", "", "", "Origin", s.URL).want(t, 303, "")
		if line := s.lastLine(t, "event=logout "); fieldOf(line, "session") != session {
			t.Errorf("want the session %s: %s", session, line)
		}
	})
}

// lastLine returns the last line of the log with a text, once there is one.
func (s *testSite) lastLine(t *testing.T, text string) string {
	t.Helper()
	for range 200 {
		lines := strings.Split(s.log.String(), "\n")
		for i := len(lines) - 1; i >= 0; i-- {
			if strings.Contains(lines[i], text) {
				return lines[i] + " "
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the log has no line with %q", text)
	return ""
}

// fieldOf returns a field of a line.
func fieldOf(line, name string) string {
	found := regexp.MustCompile(` ` + name + `=(\S+)`).FindStringSubmatch(line)
	if found == nil {
		return ""
	}
	return found[1]
}
