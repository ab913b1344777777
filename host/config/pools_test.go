package config_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A holding source lets every request that has a connection wait with it, until release is closed.
type holding struct {
	odata.Source
	opened  chan struct{}
	release chan struct{}
}

func (h holding) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	rows, err := h.Source.Open(ctx, p)
	if err == nil {
		h.opened <- struct{}{}
		<-h.release
	}
	return rows, err
}

// Queries that hold all of their connections once kept people from signing in,
// and made /readyz fail.
func TestQueriesDoNotHoldUpSignInAndReadyz(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			held := holding{opened: make(chan struct{}), release: make(chan struct{})}
			s := serveOn(t, driver, `max_connections = 2`, `
  discover = ["shelves"]
  limits {
    concurrent = 2
  }`, func(source odata.Source) odata.Source {
				held.Source = source
				return held
			})
			for range 2 { // as many as there are connections
				go func() {
					if res, err := http.Get(s.base + "/odata/shelves"); err == nil {
						_ = res.Body.Close()
					}
				}()
			}
			<-held.opened
			<-held.opened
			defer close(held.release)
			if status := s.get(t, "/readyz"); status != 200 {
				t.Errorf("readyz answers %d", status)
			}
			if status := s.signIn(t); status != 200 {
				t.Errorf("sign-in answers %d", status)
			}
		})
	}
}
