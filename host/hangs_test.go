package host_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// Calls of one person that hang replace the plugin, and /readyz stays 200: a balancer would
// take the host away from everybody else. Those of two people make it 503.
func TestOnePersonDoesNotMakeAHostUnready(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Plugins = []host.Plugin{{
			Name: "fault", Command: []string{plugintest.Build(t, "./pluginproc/internal/faultplugin"), "ok"},
			Roles: []string{"dispenser"}, Timeout: 2 * time.Second,
		}}
	})
	const one, two = "hang@example.com", "hang+2@example.com"
	for _, email := range []string{one, two} {
		if _, err := s.db.AddUser(t.Context(), email, "Grace", weakHash()); err != nil {
			t.Fatal(err)
		}
	}
	s.ready(t, 200)
	// hang has people sign in, all at the same time, and looks at /readyz until the plugin
	// was replaced.
	hang := func(replaced int, people ...string) (unready string) {
		t.Helper()
		var all sync.WaitGroup
		for _, email := range people {
			all.Go(func() { s.browser(t).login(email, adaPassword, false).want(t, 503, "dispenser_unavailable") })
		}
		for end := time.Now().Add(30 * time.Second); strings.Count(s.log.String(), "replaced: plugin=fault") < replaced; time.Sleep(5 * time.Millisecond) {
			if a := s.browser(t).get("/readyz"); a.StatusCode != 200 && unready == "" {
				unready = a.body
			}
			if time.Now().After(end) {
				t.Fatalf("the plugin was not replaced\n%s", s.log)
			}
		}
		all.Wait()
		return unready
	}
	for round := 1; round <= 2; round++ {
		if unready := hang(round, one, one, one); unready != "" {
			t.Errorf("/readyz says %s", unready)
		}
		s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "")
		s.ready(t, 200)
	}
	_ = hang(3, one, one, two) // it may be late before it is replaced, or after
	s.ready(t, 503)
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "")
	s.ready(t, 200)
}
