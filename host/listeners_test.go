package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A webhook counts what is posted to it, and refuses the first post to each path.
type webhook struct {
	mu    sync.Mutex
	posts []string // path, status, id, user
}

func (w *webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var body struct {
		Type string
		Data struct {
			Email string
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&body) // what it lacks is missing below
	w.mu.Lock()
	defer w.mu.Unlock()
	status := http.StatusNoContent
	if !slices.ContainsFunc(w.posts, func(post string) bool { return strings.HasPrefix(post, r.URL.Path) }) {
		status = http.StatusServiceUnavailable
	}
	w.posts = append(w.posts, fmt.Sprint(r.URL.Path, " ", status, " ", r.Header.Get("webhook-id"), " ", body.Type, " ", body.Data.Email))
	rw.WriteHeader(status)
}

// Two listeners are told of one reset, each again after it refused, with one id, and of
// the next one afterwards. A reset that is refused is told to nobody.
func TestListenersAreTold(t *testing.T) {
	program := plugintest.Build(t, "../examples/webhook")
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		hook := &webhook{}
		receiver := httptest.NewServer(hook)
		t.Cleanup(receiver.Close)
		s := newSite(t, open(), func(o *host.Options) {
			for _, name := range []string{"one", "two"} {
				o.Plugins = append(o.Plugins, host.Plugin{
					Name: name, Command: []string{program}, Roles: []string{"listener"},
					Config: fmt.Appendf(nil, `{"url": "%s/%s", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`, receiver.URL, name),
				})
			}
		})
		b := s.browser(t)
		_, token := s.link(t, b, 1)
		b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
		b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 422, "reset_failed")
		for end := time.Now().Add(30 * time.Second); len(rows(t, s.db, "vestibule_outbox")) > 0; time.Sleep(100 * time.Millisecond) {
			s.clock.Advance(500 * time.Millisecond) // a second after they refused, they are told again
			if time.Now().After(end) {
				t.Fatalf("not everything was told:\n%s", s.log)
			}
		}
		hook.mu.Lock()
		defer hook.mu.Unlock()
		slices.Sort(hook.posts)
		if len(hook.posts) != 4 {
			t.Fatalf("posted %q", hook.posts)
		}
		id := strings.Fields(hook.posts[0])[2]
		for i, want := range []string{"/one 204", "/one 503", "/two 204", "/two 503"} {
			if want += " " + id + " password_reset " + adaEmail; hook.posts[i] != want || len(id) != 32 {
				t.Errorf("post %d is %q, want %q", i, hook.posts[i], want)
			}
		}
	})
}
