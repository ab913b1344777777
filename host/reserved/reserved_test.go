package reserved_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// each runs a predicate over names that it must accept and names that it must not.
func each(t *testing.T, holds func(string) bool, yes, no []string) {
	t.Helper()
	for _, name := range yes {
		if !holds(name) {
			t.Errorf("%q: false, want true", name)
		}
	}
	for _, name := range no {
		if holds(name) {
			t.Errorf("%q: true, want false", name)
		}
	}
}

func TestCredential(t *testing.T) {
	each(t, reserved.Credential,
		[]string{"password", "Password", "REMEMBER_TOKEN", "paſſword"},
		[]string{"", "passwords", "password_hint", "email"})
}

func TestIdentity(t *testing.T) {
	each(t, reserved.Identity, []string{"id", "name", "email"}, []string{"", "password", "partner_id"})
}

func TestWritable(t *testing.T) {
	each(t, func(column string) bool { return reserved.Writable(column, "user_Name") },
		[]string{"partner_id", "name"},
		[]string{"id", "ID", "email", "EMAIL", "password", "Remember_Token", "user_name", "USER_NAME"})
}

func TestTable(t *testing.T) {
	each(t, reserved.Table,
		[]string{"users", "USERS", "public.users", `main."Users"`, "[password_reset_tokens]", "Vestibule_Sessions", "veſtibule_x", "`users`"},
		[]string{"", "products", "users_view", "vestibule", "sessions"})
}

func TestSessionTable(t *testing.T) {
	each(t, reserved.SessionTable,
		[]string{"sessions", "Sessions", "public.sessions", "personal_access_tokens", "django_session", "AspNetUserTokens"},
		[]string{"", "training_sessions", "session_plans", "products", "cache"})
}

func TestHeader(t *testing.T) {
	each(t, reserved.Header,
		[]string{"cookie", "Cookie", "SET-COOKIE", "Authorization", "proxy-authorization", "X-CSRF-Token", "x-xsrf-token"},
		[]string{"accept-language", "cookies", "x-token"})
}

func TestRouteName(t *testing.T) {
	each(t, reserved.RouteName,
		[]string{"login", "login.submit", "logout", "password.reset", "auth.docs", "auth.bootstrap", "ui.modules", "odata", "healthz", "readyz", "public", "not-found", "tidy", "ambiguous"},
		[]string{"home", "dashboard", "password", "authors", "health", "docs.auth", "odata-docs", "public.files"})
}

func TestRoutePath(t *testing.T) {
	each(t, reserved.RoutePath,
		[]string{"/login", "/login/x", "/odata/Products", "/healthz"},
		[]string{"/", "/loginx", "/docs/login", "/dashboard"})
}

func TestRoleOwners(t *testing.T) {
	owners := reserved.RoleOwners{"listener": "the program"}
	for _, step := range []struct {
		role, owner, first string
		ok                 bool
	}{
		{"org_setup", "a", "", true},
		{"org_setup", "b", "a", false},
		{"org_setup", "a", "a", false},
		{"listener", "a", "the program", false},
	} {
		if first, ok := owners.Take(step.role, step.owner); first != step.first || ok != step.ok {
			t.Errorf("%s takes %s: %q, %v", step.owner, step.role, first, ok)
		}
	}
}

func TestPluginName(t *testing.T) {
	each(t, reserved.PluginName,
		[]string{"a", "orgs", "9-a_B", strings.Repeat("a", 63), strings.Repeat("a", 64)},
		[]string{"", "-a", "_a", "a b", "a/b", "ä", "a\n", strings.Repeat("a", 65)})
}

func TestResolve(t *testing.T) {
	names := []string{"id", "Email", "tenant", "TENANT"}
	for written, want := range map[string]string{
		"id": "id", "ID": "id", "EMAIL": "Email", "Email": "Email", "tenant": "tenant", "TENANT": "TENANT",
		"Tenant": "", // two columns: which one is meant cannot be told
		"emails": "", "": "",
	} {
		if got, ok := reserved.Resolve(written, names); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", written, got, ok, want)
		}
	}
}

func TestIdentityHeader(t *testing.T) {
	each(t, reserved.IdentityHeader,
		[]string{"X-Vestibule-User", "x_vestibule_user", "X.Vestibule.User", "XVESTIBULE-name", "X-Vestibule_Assertion"},
		[]string{"", "X-User", "Vestibule-User", "X-Vestibul-User"})
}

func TestForwardingHeader(t *testing.T) {
	each(t, reserved.ForwardingHeader,
		[]string{"Forwarded", "X-Forwarded-For", "x_forwarded_host", "X.Forwarded.Proto", "X-Forwarded-Prefix", "X-Real-IP", "X_Real_Ip", "True-Client-IP", "X-Original-URL", "X-Rewrite-URL"},
		[]string{"", "Forward", "X-Realm", "Accept", "Via", "X-Request-Id"})
}

func TestProxyHeader(t *testing.T) {
	each(t, func(name string) bool { return reserved.ProxyHeader(name) != "" },
		[]string{
			"", "--", "Host", "cookie", "Cookie_", "Authorization", "Connection", "keep-alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
			"Proxy-Authorization", "Content-Length", "Expect", "X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Vestibule-User", "x_vestibule_partner", "X-Request-Id",
		},
		[]string{"Remote-User", "X-WEBAUTH-USER", "X-Auth-Email", "Tenant"})
}

// A role has one owner, but any number of plugins may listen, dispense or identify people,
// each once.
func TestPluginsShareRoles(t *testing.T) {
	owners := reserved.RoleOwners{}
	for i, take := range []struct {
		role, owner, first string
		ok                 bool
	}{
		{"org_setup", "a", "", true},
		{"org_setup", "b", "a", false},
		{"dispenser", "a", "", true},
		{"dispenser", "b", "", true},
		{"dispenser", "b", "b", false},
		{"listener", "a", "", true},
		{"listener", "b", "", true},
		{"listener", "a", "a", false},
		{"identity_provider", "a", "", true},
		{"identity_provider", "b", "", true},
		{"identity_provider", "a", "a", false},
		{"validator", "a", "", true},
		{"validator", "b", "", true},
		{"validator", "b", "b", false},
	} {
		if first, ok := owners.Take(take.role, take.owner); first != take.first || ok != take.ok {
			t.Errorf("%d: got %q %v, want %q %v", i, first, ok, take.first, take.ok)
		}
	}
}
