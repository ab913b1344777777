package host

import (
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// verify answers GET /auth/verify, forward auth.
func (h *Host) verify() http.Handler {
	return web.NewVerify(web.VerifyOptions{
		Site: h.site, Sessions: h.pipeline.BySession(), Tokens: h.pipeline.BearerBySession(web.VerifyAudience),
		Judge: h.judge, Assertions: h.assertions, Fail: h.pipeline.Fail, Logger: h.o.Logger,
	})
}

// judge returns a fault for a path that could lead to more than one of the routes.
func (h *Host) judge(r *http.Request) error {
	_, _, err := h.known.Load().check(r)
	return err
}
