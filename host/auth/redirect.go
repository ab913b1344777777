package auth

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"path"

	"github.com/vestibule-dev/vestibule/v2/host/auth/target"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// redirectPayload is the payload of a redirect's envelope.
type redirectPayload struct {
	Target string `json:"target"`
}

// redirectKind ends the loop, and the person goes to the target; or it holds the
// person there, and the target's page posts to the loop.
func redirectKind() kind {
	return kind{
		name: pluginsdk.Redirect("").Kind(),
		accept: func(p *Pipeline, r *http.Request, s Session, i pluginsdk.Intent, out *step) (pluginsdk.Intent, error) {
			if err := p.CheckRedirect(i, p.Site.Base(r)); err != nil {
				return i, contractFault(err)
			}
			if i.Held() {
				// Who asked for the step's own page has nothing to come back to, and would be
				// led back to it without end.
				out.consume = out.consume || samePath(s.Intended, i.Target())
				held := pluginsdk.Redirect(i.Target()).Hold(i.Prefixes()...)
				if i.OffersRecovery() {
					held = held.OfferRecovery()
				}
				return held, nil
			}
			return pluginsdk.Redirect(i.Target()), nil
		},
		path:      "redirect",
		available: func(*Pipeline) error { return nil },
		form:      readHeldForm,
		answer:    (*Pipeline).answerHeld,
		payload:   func(i pluginsdk.Intent) any { return redirectPayload{i.Target()} },
		restore: func(data json.RawMessage) (pluginsdk.Intent, error) {
			var p redirectPayload
			err := json.Unmarshal(data, &p)
			return pluginsdk.Redirect(p.Target), err
		},
	}
}

// samePath reports whether two paths, perhaps with queries, lead to one page.
func samePath(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && path.Clean(x.Path) == path.Clean(y.Path)
}

// doneKind is what the built-in dispenser answers: a redirect to the intended URL,
// or else to the dashboard. Browsers never see the kind itself.
func doneKind() kind {
	return kind{
		name: pluginsdk.Done().Kind(),
		accept: func(p *Pipeline, _ *http.Request, s Session, _ pluginsdk.Intent, out *step) (pluginsdk.Intent, error) {
			out.consume = true
			// Without a dashboard every sign-in fails, and not only some: that is found.
			dashboard, err := p.routePath("dashboard")
			return pluginsdk.Redirect(cmp.Or(s.Intended, dashboard)), err
		},
	}
}

// CheckRedirect returns an error if a site of this origin cannot send anybody to the target of a redirect, or hold anybody there.
func (o Options) CheckRedirect(i pluginsdk.Intent, origin string) error {
	if i.Held() {
		return target.CheckHold(i.Target(), origin, i.Prefixes())
	}
	return target.Check(i.Target(), append([]string{origin}, o.RedirectOrigins...))
}
