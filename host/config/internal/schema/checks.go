package schema

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// A Check gets a value of its key's kind, or one element of it, and returns what is
// wrong and what to write instead, both empty for a good value.
type Check func(value any) (what, remedy string)

// checks are the checks of single values by their names in tags.
func checks() map[string]Check {
	const day = 24 * time.Hour
	return map[string]Check{
		"filled": checkFilled, "positive": checkPositive, "connections": checkConnections, "count": checkCount, "port": checkPort,
		"lifetime": spans(time.Minute, maxSpan), "window": spans(time.Second, 30*day), "wait": spans(0, time.Hour),
		"address": checkAddress, "admin_address": checkAdminAddress, "origin": checkOrigin, "cidr": checkCIDR,
		"redirect_host": checkRedirectHost, "sender": checkSender, "identifier": checkIdentifier,
		"user_column":     noCredential("take it out: no plugin ever sees or sets it"),
		"identity_column": noCredential("take it out: no application ever sees it"),
		"login_field":     noCredential(`name the column that people sign in with, such as "email"`),
		"exposable":       CheckExposable, "sha256": checkSHA256, "header": checkHeader, "env_value": checkEnvValue,
		"route_path": checkRoutePath, "route_name": checkRouteName, "plugin_name": checkPluginName, "identity_name": checkIdentityName, "mail_name": checkMailName, "module": checkModule,
		"proxy": checkProxy, "redirect": checkRedirect,
	}
}

// checkNamed returns the check that a tag names, nil for none.
func checkNamed(name string) Check {
	check, ok := checks()[name]
	if !ok && name != "" {
		panic("no check is called " + name)
	}
	return check
}

func checkFilled(v any) (string, string) {
	if s, ok := v.(string); ok && strings.TrimSpace(s) == "" {
		return "is empty", "give a value, or leave the line out"
	}
	return "", ""
}

func checkPositive(v any) (string, string) {
	switch v := v.(type) {
	case int64:
		if v < 1 {
			return fmt.Sprintf("is %d", v), "use an integer from 1 on"
		}
	case Bytes:
		if v < 1 {
			return fmt.Sprintf("is %s", v), `use a size greater than zero, such as "4GiB"`
		}
	case time.Duration:
		return spans(minSpan, maxSpan)(v)
	}
	return "", ""
}

// maxConnections is more than any server takes. Memory is allocated for each on SQLite.
const maxConnections = 100_000

func checkConnections(v any) (string, string) {
	if n, ok := v.(int64); ok && (n < 1 || n > maxConnections) {
		return fmt.Sprintf("is %d", n), fmt.Sprintf("use an integer from 1 to %d", maxConnections)
	}
	return "", ""
}

// The bounds of all durations: below it nobody could sign in, and above it sums with
// the clock leave what databases hold.
const (
	minSpan = time.Millisecond
	maxSpan = 10 * 365 * 24 * time.Hour
)

// spans is the check of durations from least to most. Unless least is zero, none may be.
func spans(least, most time.Duration) Check {
	return func(v any) (string, string) {
		switch d := v.(time.Duration); {
		case d <= 0 && least > 0:
			return fmt.Sprintf("is %s", d), `use a duration greater than zero, such as "60s"`
		case d < least || d > most:
			return fmt.Sprintf("%s is out of reason", d), fmt.Sprintf("use a duration from %s to %s", least, most)
		}
		return "", ""
	}
}

func checkCount(v any) (string, string) {
	if n, ok := v.(int64); ok && n < 0 {
		return fmt.Sprintf("is %d", n), "use an integer from 0 on"
	}
	return "", ""
}

func checkPort(v any) (string, string) {
	if n, ok := v.(int64); ok && (n < 1 || n > 65535) {
		return fmt.Sprintf("%d is no port", n), "use an integer from 1 to 65535"
	}
	return "", ""
}

func checkAddress(v any) (string, string) {
	const remedy = `write host:port, such as "127.0.0.1:8080"`
	host, port, err := net.SplitHostPort(v.(string))
	if err != nil {
		return fmt.Sprintf("%q is no address", v), remedy
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Sprintf("%q is no port", port), "use an integer from 0 to 65535"
	}
	if host != "" && net.ParseIP(host) == nil && !hostName().MatchString(host) {
		return fmt.Sprintf("%q is no host", host), remedy
	}
	return "", ""
}

// checkAdminAddress is checkAddress for what must not be reached from everywhere.
func checkAdminAddress(v any) (string, string) {
	if what, remedy := checkAddress(v); what != "" {
		return what, remedy
	}
	const remedy = `name a loopback or private address, such as "127.0.0.1:9090": metrics and profiles hold secrets`
	host, _, _ := net.SplitHostPort(v.(string)) // checked above
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "", err == nil && ip.IsUnspecified():
		return fmt.Sprintf("%q listens on every address", v), remedy
	case err == nil && !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast() && !netip.MustParsePrefix("100.64.0.0/10").Contains(ip):
		return fmt.Sprintf("%q is a public address", v), remedy
	}
	return "", ""
}

func hostName() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(%[A-Za-z0-9]+)?$`)
}

// Loopback reports whether an address is reachable from this machine only.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

func checkOrigin(v any) (string, string) {
	const remedy = `write scheme and host only, such as "https://app.example.com"`
	u, err := url.Parse(v.(string))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.Opaque != "" {
		return fmt.Sprintf("%q is no http or https URL", v), remedy
	}
	if u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || strings.Contains(v.(string), "#") {
		return fmt.Sprintf("%q is more than an origin", withoutUser(u)), remedy
	}
	if strings.HasSuffix(u.Host, ":") {
		return fmt.Sprintf("%q has a colon without a port", v), remedy
	}
	return checkURLPort(u)
}

func checkURLPort(u *url.URL) (string, string) {
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return fmt.Sprintf("%q is no port", p), "use an integer from 1 to 65535"
		}
	}
	return "", ""
}

func withoutUser(u *url.URL) string {
	clean := *u
	if clean.User != nil {
		clean.User = url.User("***")
	}
	return clean.String()
}

func checkCIDR(v any) (string, string) {
	if prefix, err := netip.ParsePrefix(v.(string)); err == nil {
		// 10.0.0.0/8 and fc00::/7 are the widest private networks there are.
		if least := map[bool]int{true: 8, false: 7}[prefix.Addr().Is4()]; prefix.Bits() < least {
			return fmt.Sprintf("%q trusts strangers", v), "name the networks of your own proxies, such as \"10.0.0.0/8\": whoever is in one chooses the address that is counted and logged"
		}
		return "", ""
	}
	if ip, err := netip.ParseAddr(v.(string)); err == nil {
		return fmt.Sprintf("%q is an address, not a CIDR", v), fmt.Sprintf(`write "%s/%d"`, ip, ip.BitLen())
	}
	return fmt.Sprintf("%q is no CIDR", v), `write a network, such as "10.0.0.0/8"`
}

// checkRedirectHost allows an origin of http or https, or a host that https is meant for.
func checkRedirectHost(v any) (string, string) {
	const remedy = `write scheme and host, such as "https://crm.example.com"`
	origin := RedirectOrigin(v.(string))
	if what, _ := checkOrigin(origin); what != "" {
		return fmt.Sprintf("%q is no origin", v), remedy
	}
	if strings.Contains(v.(string), "*") {
		return fmt.Sprintf("%q is a pattern", v), "name each host by itself, as targets are compared with whole origins"
	}
	u, err := url.Parse(origin)
	if err != nil || !plausibleHost(u.Hostname()) {
		return fmt.Sprintf("%q has no host that there could be", v), remedy
	}
	return "", ""
}

// plausibleHost reports whether a text can be the name of a host, or its address.
func plausibleHost(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return !strings.HasPrefix(name, ".") && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// RedirectOrigin completes a host to its https origin.
func RedirectOrigin(host string) string {
	if !strings.Contains(host, "://") {
		return "https://" + host
	}
	return strings.TrimSuffix(host, "/")
}

func checkSender(v any) (string, string) {
	if _, _, err := reserved.Sender(v.(string)); err != nil {
		return fmt.Sprintf("%q is no mail address", v), `write "Name <name@example.com>"`
	}
	return "", ""
}

func checkIdentifier(v any) (string, string) {
	for i, r := range v.(string) {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return fmt.Sprintf("%q is no name", v), "use letters, digits and underscores, not starting with a digit"
		}
	}
	if n := len([]rune(v.(string))); n == 0 || n > 128 {
		return fmt.Sprintf("a name of %d characters", n), "use 1 to 128 characters"
	}
	return "", ""
}

// noCredential is the check of columns of users that must be none with a secret.
func noCredential(remedy string) Check {
	return func(v any) (string, string) {
		if reserved.Credential(v.(string)) {
			return fmt.Sprintf("%q is a credential", v), remedy
		}
		return checkFilled(v)
	}
}

// CheckExposable refuses the tables that no client may ever reach, whatever
// schema they are in.
func CheckExposable(v any) (string, string) {
	if reserved.Table(v.(string)) {
		return fmt.Sprintf("the table %q can never be exposed", v), "name another table, or a view of your own that leaves the credentials out"
	}
	return checkFilled(v)
}

func checkSHA256(v any) (string, string) {
	if b, err := hex.DecodeString(v.(string)); err != nil || len(b) != 32 {
		return fmt.Sprintf("%q is no sha256", v), "write the 64 hexadecimal digits that `vestibule plugin sum` prints"
	}
	return "", ""
}

func checkHeader(v any) (string, string) {
	name := strings.ToLower(v.(string))
	if reserved.Header(name) {
		return fmt.Sprintf("%q holds credentials", v), "take it out: no plugin ever sees it"
	}
	if !regexp.MustCompile("^[a-z0-9!#$%&'*+.^_`|~-]+$").MatchString(name) {
		return fmt.Sprintf("%q is no header name", v), `write a name, such as "accept-language"`
	}
	return "", ""
}

func checkEnvValue(v any) (string, string) {
	if strings.ContainsRune(v.(string), 0) {
		return "holds a NUL character", "take it out: environments cannot hold it"
	}
	return "", ""
}

func checkRoutePath(v any) (string, string) {
	p := v.(string)
	if !strings.HasPrefix(p, "/") {
		return fmt.Sprintf("%q is not rooted", p), fmt.Sprintf("write %q", "/"+p)
	}
	if strings.ContainsAny(p, "?#\\{}%") || strings.ContainsFunc(p, unicode.IsControl) {
		return fmt.Sprintf("%q is no plain path", p), `write a path without ?, #, %, \ and braces, such as "/dashboard"`
	}
	if clean := path.Clean(p); clean != strings.TrimSuffix(p, "/") && p != "/" {
		return fmt.Sprintf("%q is not clean", p), fmt.Sprintf("write %q", clean)
	}
	if reserved.RoutePath(p) {
		return fmt.Sprintf("%q belongs to the host itself", p), "choose another path"
	}
	return "", ""
}

func checkRouteName(v any) (string, string) {
	if reserved.RouteName(v.(string)) {
		return fmt.Sprintf("the route %q is the host's own", v), "choose another name"
	}
	return checkFilled(v)
}

func checkPluginName(v any) (string, string) {
	if !reserved.PluginName(v.(string)) {
		return fmt.Sprintf("%q is no name for a plugin", v), reserved.PluginNameRule
	}
	return "", ""
}

func checkIdentityName(v any) (string, string) {
	if !reserved.IdentityName(v.(string)) {
		return fmt.Sprintf("%q is no name for an identity", v), reserved.IdentityNameRule
	}
	return "", ""
}

func checkMailName(v any) (string, string) {
	if !reserved.MailName(v.(string)) {
		return fmt.Sprintf("%q is no name for a mail of a plugin", v), reserved.MailNameRule
	}
	return "", ""
}

func checkModule(v any) (string, string) {
	if v.(string) != "auth" {
		return fmt.Sprintf("there is no module %q", v), `use "auth", the one module that there is`
	}
	return "", ""
}

func checkProxy(v any) (string, string) {
	u, err := url.Parse(v.(string))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" {
		return "is no http or https URL", `write "http://127.0.0.1:3000"`
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Sprintf("%q holds more than an address", withoutUser(u)), "leave user, query and fragment out"
	}
	what, remedy := checkURLPort(u)
	return what, remedy
}

func checkRedirect(v any) (string, string) {
	const remedy = `write a rooted path or an http or https URL, such as "/dashboard"`
	u, err := url.Parse(v.(string))
	if err != nil || strings.ContainsFunc(v.(string), func(r rune) bool { return unicode.IsControl(r) || r == '\\' }) {
		return fmt.Sprintf("%q is no place to go to", v), remedy
	}
	rooted := u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/") && !strings.HasPrefix(u.Path, "//")
	absolute := (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
	if !rooted && !absolute {
		return fmt.Sprintf("%q is no place to go to", v), remedy
	}
	return "", ""
}

// checkOneOf is the check of keys with a list of words.
func checkOneOf(k Key, v any) (string, string) {
	word, ok := v.(string)
	if !ok || len(k.OneOf) == 0 || slices.Contains(k.OneOf, word) {
		return "", ""
	}
	return fmt.Sprintf("%q is not allowed", word), cmp.Or(hintOneOf(word, k.OneOf), "use one of ") + list(k.OneOf)
}

func hintOneOf(word string, words []string) string {
	if near := closest(word, words); near != "" {
		return fmt.Sprintf("did you mean %q? allowed: ", near)
	}
	return ""
}
