package host_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// A twoHosts is one application behind two hosts, whose clocks agree.
type twoHosts struct{ one, two *testSite }

// later lets time pass on both.
func (h twoHosts) later(d time.Duration) {
	h.one.clock.Advance(d)
	h.two.clock.Advance(d)
}

// at returns the browser, with its cookies, at one of the hosts.
func (b *browser) at(s *testSite) *browser {
	there := *b
	there.base = s.URL
	return &there
}

// accountStatus is how GET /auth/account answers at a host, by its status.
func (b *browser) accountStatus(s *testSite) int { return b.at(s).get("/auth/account").StatusCode }

// What a person confirms, ends or changes at one host holds at the other from the next request on.
func TestAccountOnTwoHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		with := func(o *host.Options) {
			withOrders(t, o)
			o.Auth.OwnTokens = true
		}
		h := twoHosts{newSite(t, open(), with), newSite(t, open(), with)}
		b, phone, tablet := h.one.browser(t), h.two.browser(t), h.two.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		h.later(time.Second)
		phone.login(adaEmail, adaPassword, true).want(t, 200, "")
		h.later(time.Second)
		tablet.login(adaEmail, adaPassword, true).want(t, 200, "")

		h.later(11 * time.Minute)
		token := map[string]any{"name": "Excel"}
		b.at(h.two).post("/auth/tokens", token).want(t, 403, "confirmation_required")
		b.at(h.two).post("/auth/account/confirm", map[string]any{"password": adaPassword}).want(t, 204, "")
		made := b.at(h.one).post("/auth/tokens", token)
		made.want(t, 201, "")
		bearer := []string{"Authorization", "Bearer " + made.json(t)["token"].(string)}
		program := h.two.browser(t)
		program.do("GET", "/odata/Orders", "", "", bearer...).want(t, 200, "")

		shown := b.at(h.one).account(t)
		sessions, devices := ids(shown, "sessions"), ids(shown, "devices")
		if len(sessions) != 3 || len(devices) != 2 {
			t.Fatal(shown)
		}
		if got := phone.accountStatus(h.one); got != 200 {
			t.Fatalf("the phone's account: %d", got)
		}
		b.at(h.two).delete("/auth/account/sessions/"+sessions[1]).want(t, 204, "") // used before the phone's
		b.at(h.one).delete("/auth/account/sessions/"+sessions[1]).want(t, 404, "not_found")
		if got := tablet.accountStatus(h.one); got != 401 {
			t.Errorf("the session that ended at the other host: %d", got)
		}
		phone.forget(sessionName)
		if got := phone.accountStatus(h.one); got != 200 {
			t.Errorf("the device does not come back at the other host: %d", got)
		}
		b.at(h.one).delete("/auth/account/devices/"+ids(b.at(h.two).account(t), "devices")[0]).want(t, 204, "")
		if got := phone.accountStatus(h.two); got != 401 {
			t.Errorf("the device that ended at the other host: %d", got)
		}

		thief := h.one.browser(t)
		thief.setCookie(sessionName, b.cookie(sessionName))
		other := h.one.browser(t)
		other.login(adaEmail, adaPassword, true).want(t, 200, "")
		if got := thief.accountStatus(h.two); got != 200 {
			t.Fatalf("the copy of the session: %d", got)
		}
		b.at(h.two).post("/auth/account/password", map[string]any{"password": newPassword, "password_confirmation": newPassword}).want(t, 204, "")
		if got := b.accountStatus(h.one); got != 200 {
			t.Errorf("the session that has changed the password: %d", got)
		}
		for name, gone := range map[string]*browser{"the copy of the session": thief, "the other browser": other} {
			if got := gone.accountStatus(h.one); got != 401 {
				t.Errorf("%s after a new password: %d", name, got)
			}
		}
		h.one.browser(t).do("GET", "/odata/Orders", "", "", bearer...).want(t, 401, "")
		h.one.browser(t).login(adaEmail, adaPassword, false).want(t, 422, "credentials_do_not_match")
		h.one.browser(t).login(adaEmail, newPassword, false).want(t, 200, "")
	})
}

// Who begins to confirm by a passkey at one host ends at the other, once.
func TestConfirmByPasskeyOnTwoHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		public := func(o *host.Options) { o.Server.PublicURL = mustURL("https://app.example.com") }
		h := twoHosts{newSite(t, open(), public), newSite(t, open(), public)}
		header := []string{"Origin", "https://app.example.com"}
		b := h.one.browser(t)
		jar := secureJar{}
		b.Jar = jar
		b.post("/auth/login", map[string]any{"login": adaEmail, "password": adaPassword}, header...).want(t, 200, "")
		a := passkeytest.New("https://app.example.com")
		made, err := a.Create([]byte(b.post("/auth/account/passkeys/options", map[string]any{}, header...).body))
		if err != nil {
			t.Fatal(err)
		}
		b.post("/auth/account/passkeys", map[string]any{"credential": made, "name": "Key"}, header...).want(t, 201, "")

		h.later(11 * time.Minute)
		options := b.at(h.one).post("/auth/account/confirm/options", map[string]any{}, header...)
		options.want(t, 200, "")
		credential, err := a.Get([]byte(options.body))
		if err != nil {
			t.Fatal(err)
		}
		proof := map[string]any{"credential": credential}
		kept := jar["__Host-vestibule_passkey"]
		b.at(h.two).post("/auth/account/confirm", proof, header...).want(t, 204, "")
		b.at(h.one).post("/auth/account/passkeys/options", map[string]any{}, header...).want(t, 200, "")
		jar.SetCookies(nil, []*http.Cookie{kept})
		b.at(h.one).post("/auth/account/confirm", proof, header...).want(t, 422, "passkey_not_accepted")
	})
}

// A step that was asked for at one host is answered, given up and over at the other.
func TestStepAskedForOnTwoHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{answer: whenAsked}
		h := twoHosts{one: withOffer(t, open(), g)}
		h.two = withProxiesOver(t, open(), mirror(t), func(o *host.Options) { o.Dispenser, o.OData = g, nothing(t) })
		h.two.offerSteps(g)
		b := h.one.signedIn(t)

		b.at(h.one).asks(t)
		b.at(h.two).get("/app/terms?v=2").want(t, 200, "")
		b.at(h.two).post(stepPath, map[string]any{"code": "1"}).want(t, 200, "")
		b.at(h.two).delete(askPath).want(t, 204, "")
		b.at(h.one).post(stepPath, map[string]any{"code": "4711"}).want(t, 409, "intent_not_current")

		b.at(h.two).asks(t)
		h.later(9 * time.Minute)
		if n := b.at(h.one).post(stepPath, map[string]any{"code": "4711"}).next(t); n.Target() != "/login?account" {
			t.Errorf("the step ends with %+v", n)
		}
		if got := h.two.used(t); got != int64(4711) {
			t.Errorf("the column has %v", got)
		}
		b.at(h.two).post(stepPath, map[string]any{"code": "4711"}).want(t, 409, "intent_not_current")

		b.at(h.one).asks(t)
		h.later(11 * time.Minute)
		b.at(h.two).post(stepPath, map[string]any{"code": "4711"}).want(t, 409, "intent_not_current")
		b.at(h.two).do("POST", askPath, "", "").want(t, 403, "confirmation_required")
		b.at(h.one).post("/auth/account/confirm", map[string]any{"password": adaPassword}).want(t, 204, "")
		b.at(h.two).asks(t)
	})
}
