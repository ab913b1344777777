package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// An upgradePeople is one person in each state, who all began on one program.
type upgradePeople struct {
	*upgrade
	round string
	all   map[string]*upgradePerson
	// token is of the person "machine", and link the reset token of "reset".
	token, link string
	used        bool
}

// An upgradePerson is a browser that remembers cookies, and whose they are.
type upgradePerson struct {
	*upgrade
	state, email, name string
	cookies            map[string]string
}

// The states that people are in. The name of a person decides what the plugin asks for.
const (
	openStep, heldStep, settledState         = "open", "held", "settled"
	openDevice, heldDevice, settledDevice    = "open-device", "held-device", "settled-device"
	guestState, machine, resetLink, lockedUp = "guest", "machine", "reset", "locked"
	owedMail                                 = "owed"
)

func unsettledStates() []string { return []string{openStep, heldStep, openDevice, heldDevice} }

func devices() []string { return []string{openDevice, heldDevice, settledDevice} }

// gather brings a person into each state on a host.
func (u *upgrade) gather(at *releasedHost, round string) *upgradePeople {
	u.Helper()
	p := &upgradePeople{upgrade: u, round: round, all: map[string]*upgradePerson{}}
	for _, state := range append(append(unsettledStates(), settledState, settledDevice), guestState, machine, resetLink, lockedUp, owedMail) {
		one := &upgradePerson{upgrade: u, state: state, email: state + "." + round + "@example.com", cookies: map[string]string{}}
		one.name = strings.ToUpper(state[:1]) + state[1:]
		if _, err := u.db.AddUser(u.Context(), one.email, one.name, upgradeHash()); err != nil {
			u.Fatal(err)
		}
		p.all[state] = one
	}
	for _, state := range append(unsettledStates(), settledState, settledDevice) {
		p.all[state].signIn(at, upgradePassword, strings.HasSuffix(state, "device"), 200)
	}
	p.all[guestState].get(at, "/app/intended?x=1")
	for range 5 {
		p.all[lockedUp].signIn(at, "not-the-password-1", false, 422)
	}
	out, err := at.command("token", "add", "--email", p.all[machine].email, "--name", "Excel", "--route", "app").Output()
	if err != nil {
		u.Fatalf("token add: %v: %s", err, out)
	}
	p.token = strings.TrimSpace(string(out))
	p.all[resetLink].forgot(at)
	p.link = p.resetToken(at)
	if p.all[guestState].cookies["vestibule_guest"] == "" {
		u.Fatalf("%s: a guest's page is not kept", at.name)
	}
	p.check(at)
	return p
}

// owe lets a host owe a mail.
func (p *upgradePeople) owe(at *releasedHost) { p.all[owedMail].forgot(at) }

// visit has everybody come to a host. The sessions of devices are over by then.
func (p *upgradePeople) visit(at *releasedHost) {
	p.Helper()
	for _, state := range devices() {
		delete(p.all[state].cookies, "vestibule_session")
	}
	p.check(at)
	if guest := p.all[guestState]; guest.cookies["vestibule_session"] == "" {
		next := guest.signIn(at, upgradePassword, false, 200)
		if next != "/app/intended?x=1" {
			p.Errorf("%s: the guest is led to %q", at.name, next)
		}
	}
	p.reaches(at, guestState)
	if a := p.all[machine].do(at, "GET", "/app/orders", "", "Authorization", "Bearer "+p.token); a.body != "application /app/orders" {
		p.Errorf("%s: with a token %d %q", at.name, a.status, a.body)
	}
	reset := p.all[resetLink]
	form := map[string]any{"token": p.link, "email": reset.email, "password": upgradedPassword, "password_confirmation": upgradedPassword}
	want := 422
	if !p.used {
		p.used, want = true, 200
	}
	if a := reset.post(at, "/auth/reset-password", form); a.status != want {
		p.Errorf("%s: the reset link gives %d %q, want %d", at.name, a.status, a.body, want)
	}
	reset.signIn(at, upgradedPassword, false, 200)
	p.reaches(at, resetLink)
}

// check compares how far everybody has come on a host with the state that they are in.
func (p *upgradePeople) check(at *releasedHost) {
	p.Helper()
	for _, state := range unsettledStates() {
		one := p.all[state]
		for _, accept := range []string{"text/html", "application/json"} {
			if a := one.do(at, "GET", "/app/orders", "", "Accept", accept); a.status < 300 || strings.HasPrefix(a.body, "application") {
				p.Fatalf("%s: a person in the state %s gets %d %q", at.name, state, a.status, a.body)
			}
		}
		if a := one.follow(at, "/app/orders"); a.body == "application /app/orders" {
			p.Fatalf("%s: a person in the state %s gets by the sign-in to %q", at.name, state, a.body)
		}
		var current struct{ Next struct{ Kind string } }
		a := one.do(at, "GET", "/auth/intents/current", "", "Accept", "application/json")
		_ = json.Unmarshal([]byte(a.body), &current)
		want := "org_setup"
		if strings.HasPrefix(state, heldStep) {
			want = "redirect"
			if a := one.get(at, "/app/terms"); a.body != "application /app/terms" {
				p.Errorf("%s: the page of the state %s is %d %q", at.name, state, a.status, a.body)
			}
		}
		if current.Next.Kind != want {
			p.Errorf("%s: a person in the state %s is at %d %s, want %s", at.name, state, a.status, a.body, want)
		}
	}
	p.reaches(at, settledState)
	p.reaches(at, settledDevice)
	p.all[lockedUp].signIn(at, upgradePassword, false, 429)
}

// reaches fails unless a person reaches a settled page, by the sign-in where their
// session is to be asked about.
func (p *upgradePeople) reaches(at *releasedHost, state string) {
	p.Helper()
	if a := p.all[state].follow(at, "/app/orders"); a.body != "application /app/orders" {
		p.Errorf("%s: a person in the state %s gets %d %q", at.name, state, a.status, a.body)
	}
}

// finish has everybody do their step on a host.
func (p *upgradePeople) finish(at *releasedHost) {
	p.Helper()
	for _, state := range unsettledStates() {
		path, form := "/auth/intents/redirect", map[string]any{"code": "314159"}
		if strings.HasPrefix(state, openStep) {
			path, form = "/auth/intents/org-setup", map[string]any{
				"legal_form": 1, "org_name": "Engines", "company_size": "solo", "function": "developer", "marketing_consent": false,
			}
		}
		if a := p.all[state].post(at, path, form); a.status != 200 || !strings.Contains(a.body, `"satisfied"`) {
			p.Errorf("%s: the step of the state %s is answered with %d %q", at.name, state, a.status, a.body)
		}
		p.reaches(at, state)
	}
}

// settled fails unless everybody who has done their step reaches a settled page.
func (p *upgradePeople) settled(at *releasedHost) {
	p.Helper()
	for state := range maps.Keys(p.all) {
		switch state {
		case lockedUp, machine, owedMail:
		default:
			p.reaches(at, state)
		}
	}
}

// mailed waits until one of the hosts has sent the mail that is owed.
func (p *upgradePeople) mailed(hosts ...*releasedHost) {
	p.Helper()
	if p.mailTo(p.all[owedMail].email, hosts...) == "" {
		p.Errorf("the owed mail of round %s was not sent", p.round)
	}
}

var resetTokenPattern = regexp.MustCompile(`/password/reset/([A-Za-z0-9_-]{43})`)

func (p *upgradePeople) resetToken(at *releasedHost) string {
	p.Helper()
	mail := p.mailTo(p.all[resetLink].email, at, p.other(at))
	found := resetTokenPattern.FindStringSubmatch(mail)
	if found == nil {
		p.Fatalf("no reset link in %q", mail)
	}
	return found[1]
}

// other is the host beside one, which sends mails as well.
func (u *upgrade) other(at *releasedHost) *releasedHost {
	for _, h := range u.hosts {
		if h != at {
			return h
		}
	}
	return at
}

// mailTo waits for a mail to an address, and returns it without its line breaks.
func (u *upgrade) mailTo(address string, hosts ...*releasedHost) string {
	u.Helper()
	for range 600 {
		for _, h := range hosts {
			files, _ := filepath.Glob(filepath.Join(h.mails(), "*.eml"))
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err == nil && strings.Contains(string(text), address) {
					return strings.ReplaceAll(strings.ReplaceAll(string(text), "=\r\n", ""), "=\n", "")
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ""
}

func (one *upgradePerson) forgot(at *releasedHost) {
	one.Helper()
	if a := one.post(at, "/auth/forgot-password", map[string]any{"email": one.email}); a.status != 200 {
		one.Fatalf("%s: forgot password: %d %q", at.name, a.status, a.body)
	}
}

// signIn returns the target of the next step, which is empty for a form.
func (one *upgradePerson) signIn(at *releasedHost, password string, remember bool, want int) string {
	one.Helper()
	a := one.post(at, "/auth/login", map[string]any{"login": one.email, "password": password, "remember": remember})
	if a.status != want {
		one.Fatalf("%s: the sign-in of %s: %d %q, want %d", at.name, one.email, a.status, a.body, want)
	}
	var body struct {
		Next struct{ Payload struct{ Target string } }
	}
	_ = json.Unmarshal([]byte(a.body), &body)
	return body.Next.Payload.Target
}

type upgradeAnswer struct {
	status         int
	location, body string
}

func (one *upgradePerson) get(at *releasedHost, path string) upgradeAnswer {
	one.Helper()
	return one.do(at, "GET", path, "", "Accept", "text/html,*/*;q=0.8")
}

func (one *upgradePerson) post(at *releasedHost, path string, fields map[string]any) upgradeAnswer {
	one.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		one.Fatal(err)
	}
	return one.do(at, "POST", path, string(body), "Accept", "application/json", "Content-Type", "application/json")
}

// follow goes to a page as a person does, over up to five redirects of the host.
func (one *upgradePerson) follow(at *releasedHost, path string) upgradeAnswer {
	one.Helper()
	a := one.get(at, path)
	for range 5 {
		u, err := url.Parse(a.location)
		if a.location == "" || err != nil {
			return a
		}
		a = one.get(at, u.RequestURI())
	}
	return a
}

func (one *upgradePerson) do(at *releasedHost, method, path, body string, header ...string) upgradeAnswer {
	one.Helper()
	r, err := http.NewRequestWithContext(one.Context(), method, "http://"+at.address+path, strings.NewReader(body))
	if err != nil {
		one.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for name, value := range one.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		one.Fatalf("%s: %v: %s", at.name, err, at.text())
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		one.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 {
			delete(one.cookies, c.Name)
			continue
		}
		one.cookies[c.Name] = c.Value
	}
	return upgradeAnswer{resp.StatusCode, resp.Header.Get("Location"), string(text)}
}
