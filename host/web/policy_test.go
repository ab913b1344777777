package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// A path with one reading is left to the router, which finds its route once.
func TestPlainPathsAreNotLookedUp(t *testing.T) {
	for path, want := range map[string]int{"/front/assets/main-0a1b2c3d.js?v=1": 0, "/front/.well-known": 0, "/front/Main.js": 2, "/front/a%2Fb": 5} {
		found := 0
		policy := web.NewPolicy(nil)
		policy.SetTable(web.Table{
			Find: func(*http.Request, string) web.Destination { found++; return web.Destination{Guard: "none"} },
			Walk: func(yield func(template, expression string, to web.Destination)) {
				yield("/front/", "^/front/", web.Destination{Guard: "none"})
				yield("/app/", "^/app/", web.Destination{Guard: "settled"})
			},
		})
		if _, err := policy.Judge(httptest.NewRequest("GET", path, nil)); err != nil || found != want {
			t.Errorf("%s: looked up %d times, want %d; %v", path, found, want, err)
		}
	}
}
