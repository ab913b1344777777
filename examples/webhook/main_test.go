package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// secret, and the signature below, are the example of the standard's reference libraries.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestSignature(t *testing.T) {
	w := &webhook{config: config{Secret: secret}}
	got := w.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNotify(t *testing.T) {
	status := http.StatusNoContent
	var posts []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts = append(posts, r.Header.Get("webhook-id")+" "+string(body))
		want := (&webhook{config: config{Secret: secret}}).sign(r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
		if r.Header.Get("webhook-signature") != want || r.Header.Get("webhook-timestamp") != "1700000000" {
			t.Errorf("the signature is %v", r.Header)
		}
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}))
	defer receiver.Close()
	hook := newWebhook()
	hook.now = func() time.Time { return time.Unix(1700000000, 0) }
	p := plugintest.Serve(t, hook.plugin(),
		plugintest.Config(fmt.Sprintf(`{"url": %q, "secret": %q}`, receiver.URL, secret)))
	event := pluginsdk.Event{
		ID: "e1", Kind: "password_reset", User: pluginsdk.User{ID: "7", Email: "ada@example.com"},
		At: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
	}
	if _, err := p.Client.Notify(t.Context(), event); err != nil {
		t.Error(err)
	}
	want := `e1 {"data":{"email":"ada@example.com","user_id":"7"},"timestamp":"2026-01-31T12:00:00Z","type":"password_reset"}`
	if len(posts) != 1 || posts[0] != want {
		t.Errorf("posted %q, want %q", posts, want)
	}
	for _, status = range []int{http.StatusInternalServerError, http.StatusFound, http.StatusGone} {
		if _, err := p.Client.Notify(t.Context(), event); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %v", status, err)
		}
	}
	event.Kind = "married"
	if _, err := p.Client.Notify(t.Context(), event); err != nil || len(posts) != 4 {
		t.Errorf("an unknown kind: %v, %d posts", err, len(posts))
	}
}

func TestConfig(t *testing.T) {
	for block, path := range map[string]string{
		`{"url": "example.com", "secret": "` + secret + `"}`:  "url",
		`{"url": "https://example.com", "secret": "whsec_x"}`: "secret",
		`{"url": "https://example.com"}`:                      "secret",
	} {
		problems := plugintest.ConfigProblems(t, newWebhook().plugin(), plugintest.Config(block))
		if len(problems) != 1 || problems[0].Path != path {
			t.Errorf("%s: %v, want one at %s", block, problems, path)
		}
	}
}

func TestConformance(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	plugintest.ConformanceOf(t, conformance.Program{
		Command: []string{plugintest.Build(t, ".")},
		Setup:   plugintest.Config(fmt.Sprintf(`{"url": %q, "secret": %q}`, receiver.URL, secret)),
	})
}
