package host

import (
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// verify answers GET /auth/verify, forward auth.
func (h *Host) verify() http.Handler {
	return web.NewVerify(web.VerifyOptions{
		Site: h.site, Sessions: h.pipeline.BySession(), Tokens: h.pipeline.BearerBySession(web.VerifyAudience),
		Policy: h.policy, Assertions: h.assertions, Fail: h.pipeline.Fail, Logger: h.o.Logger,
	})
}
