package host_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
)

// Who has signed in counts by user at a set that is open to everybody, too, and a guest by
// address.
func TestOpenSetCountsByUser(t *testing.T) {
	for name, second := range map[string]string{"all sets are open": "none", "one set is open": "session"} {
		t.Run(name, func(t *testing.T) {
			var client atomic.Value
			s := newSite(t, sqliteStore(t), func(o *host.Options) {
				source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{
					{Name: "News", Rows: []order{{1, "all"}}, Guard: "none"},
					{Name: "Orders", Rows: []order{{1, "all"}}, Guard: second},
				}})
				if err != nil {
					t.Fatal(err)
				}
				o.OData = &host.ODataOptions{Model: source.Model(), Source: source, Options: odata.Options{
					Admit: func(_ context.Context, c odata.Caller) (func(), error) {
						client.Store(c.Client)
						return func() {}, nil
					},
				}}
			})
			_, text := s.token(t, adaEmail, host.TokenRequest{})
			guest, ada := s.browser(t), s.browser(t)
			ada.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			for _, tt := range []struct {
				who    string
				by     *browser
				header []string
				want   string
			}{
				{"a guest", guest, nil, "127.0.0.1"},
				{"somebody who has signed in", ada, nil, "user:" + s.user.ID},
				{"a token", guest, bearer(text), "user:" + s.user.ID},
			} {
				tt.by.get("/odata/News", tt.header...).want(t, 200, "")
				if got := client.Load(); got != tt.want {
					t.Errorf("%s counts as %q, want %q", tt.who, got, tt.want)
				}
			}
		})
	}
}
