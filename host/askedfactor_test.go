package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

const factorPath = "/auth/account/steps/totp"

// shown posts fields to the page of the factor and returns what it shows then.
func (c *climber) shown(step string, fields map[string]any) map[string]any {
	c.t.Helper()
	a := c.post(stepPath, fields)
	a.want(c.t, 200, "")
	next, _ := a.json(c.t)["next_step"].(map[string]any)
	if next["step"] != step {
		c.t.Fatalf("%v shows %s, want the step %s", fields, a.body, step)
	}
	return next
}

// A person who has signed in adds a second app, makes new recovery codes and turns the factor
// off, by the real plugin; a device that stays signed in, with a stolen password, does none of it.
func TestFactorFromTheAccount(t *testing.T) {
	programs := chainPrograms(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		addChainColumns(t, db)
		plugins := chainPlugins(programs, "totp", "terms")
		plugins[0].Config = []byte(strings.Replace(string(plugins[0].Config), "{", `{"enrol":"offered","trust_devices":true,`, 1))
		s, _ := withChain(t, db, plugins)
		c := &climber{browser: s.browser(t)}
		c.at("totp", c.login(adaEmail, adaPassword, true).next(t))
		c.at("terms", c.pass("totp"))
		c.pass("terms")
		first := c.secret

		next := c.do("POST", factorPath, "", "").next(t)
		c.at("totp", next)
		c.get(wanted).want(t, 200, "")
		c.shown("manage", map[string]any{})
		c.secret, _ = c.shown("enrol", map[string]any{"action": "add"})["secret"].(string)
		a := c.post(stepPath, map[string]any{"action": "confirm", "code": c.code(time.Now())})
		if a.want(t, 200, ""); a.next(t).Target() != "/login?account" {
			t.Errorf("the step ends with %s", a.body)
		}
		c.do("POST", "/auth/account/steps/terms", "", "").want(t, 404, "not_found")
		c.do("POST", factorPath, "", "").want(t, 200, "")
		recovery, _ := c.shown("codes", map[string]any{"action": "codes"})["codes"].([]any)
		c.post(stepPath, map[string]any{"action": "continue"}).want(t, 200, "")

		for _, secret := range []string{first, c.secret} {
			other := &climber{browser: s.browser(t), secret: secret}
			other.at("totp", other.login(adaEmail, adaPassword, false).next(t))
			if next := other.pass("totp"); next.Target() != "/dashboard" {
				t.Errorf("one of the two apps leads to %+v", next)
			}
		}

		// The device is trusted, and so nobody asks for a code; but it changes nothing without.
		c.forget(sessionName)
		c.get("/login")
		c.get(wanted).want(t, 200, "")
		c.do("POST", factorPath, "", "").want(t, 403, "confirmation_required")
		c.post("/auth/account/confirm", map[string]any{"password": adaPassword}).want(t, 204, "")
		c.do("POST", factorPath, "", "").want(t, 200, "")
		for _, action := range []string{"", "add", "factor", "codes", "remove", "continue"} {
			c.shown("code", map[string]any{"action": action})
		}
		c.do("DELETE", factorPath, "", "").want(t, 204, "")

		owner := &climber{browser: s.browser(t)}
		owner.at("totp", owner.login(adaEmail, adaPassword, false).next(t))
		if a := owner.post(stepPath, map[string]any{"action": "verify", "code": recovery[0]}); a.json(t)["status"] != "satisfied" {
			t.Fatalf("a new recovery code is told %s", a.body)
		}
		owner.do("POST", factorPath, "", "").want(t, 200, "")
		owner.shown("manage", map[string]any{})
		owner.post(stepPath, map[string]any{"action": "remove"}).want(t, 200, "")
		if u, err := db.Users().FindByID(t.Context(), s.user.ID); err != nil || u.Columns["second_factor"] != nil {
			t.Errorf("the factor is still there: %v", err)
		}
		var acts []string
		if err := db.Reader().Select(&acts, `SELECT act FROM vestibule_audit ORDER BY id`); err != nil || len(acts) != 3 || strings.Join(acts, "") != strings.Repeat("step_changed", 3) {
			t.Errorf("the audit has %v, %v", acts, err)
		}
	})
}
