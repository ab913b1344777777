package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// checkSchemes warns of origins of http, which anybody on the way reads and changes.
func (c *Config) checkSchemes(f *Findings) {
	if s := c.Server; s.PublicURL != nil && plainHTTP(*s.PublicURL) && !c.faulty("server", "public_url") {
		f.Warn(c.at("server", "public_url"), fmt.Sprintf("public_url %q is of http: passwords and cookies travel in the clear, and cookies lack Secure", *s.PublicURL),
			`write https, as people see it in the browser, also where a proxy in front ends TLS`)
	}
	for i, name := range c.Auth.RedirectHosts {
		if plainHTTP(name) && !c.faulty("auth", "redirect_hosts", fmt.Sprint(i)) {
			f.Warn(c.at("auth", "redirect_hosts", fmt.Sprint(i)), fmt.Sprintf("%q is of http: whoever is on the way decides what people see after the sign-in", name), "write https")
		}
	}
}

// plainHTTP reports whether an origin is of http and not on loopback.
func plainHTTP(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && !schema.Loopback(net.JoinHostPort(u.Hostname(), "80"))
}

// checkUpstreams warns where one application stands behind two guards: it may read a path
// as one behind the other guard in a way that no host foresees.
func (c *Config) checkUpstreams(f *Findings) {
	first := map[string]string{}
	warned := map[string]bool{}
	for _, name := range labels(c, c.Routes, "route") {
		r := c.Routes[name]
		if r.Proxy == nil || c.faulty("route", name, "proxy") || c.faulty("route", name, "guard") {
			continue
		}
		u, err := url.Parse(*r.Proxy)
		if err != nil {
			continue
		}
		upstream := originOf(u)
		other, seen := first[upstream]
		if !seen {
			first[upstream] = name
			continue
		}
		one, two := c.guardOf(other), c.guardOf(name)
		if one == two || warned[upstream] {
			continue
		}
		warned[upstream] = true
		f.Warn(c.at("route", name, "proxy"), fmt.Sprintf("routes %q and %q lead to one application, %s, behind two guards, %s and %s", other, name, upstream, one, two),
			"give both one guard, or let the application itself check who asks: what it serves by another name than the path of the route passes the other guard")
	}
}

// originOf is the scheme, host and port of an address, without a default port.
func originOf(u *url.URL) string {
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), port)
}

// guardOf is the guard of a route, also where it names none.
func (c *Config) guardOf(name string) string {
	if c.Routes[name].Guard == "" && slices.Contains(publicRoutes(), name) {
		return string(host.GuardNone)
	}
	return cmp.Or(c.Routes[name].Guard, string(host.GuardSettled))
}

// checkFoldedPaths finds routes that differ by the case of letters alone and have two
// guards: every request to one of them is refused.
func (c *Config) checkFoldedPaths(f *Findings) {
	folded := map[string]string{}
	for _, name := range labels(c, c.Routes, "route") {
		path := c.Routes[name].Path
		if path == "" || c.faulty("route", name, "path") {
			continue
		}
		key := reserved.Fold(strings.TrimSuffix(path, "/"))
		other, seen := folded[key]
		switch {
		case !seen:
			folded[key] = name
		case c.Routes[other].Path != path && c.guardOf(other) != c.guardOf(name):
			f.Add(c.at("route", name, "path"), fmt.Sprintf("routes %q and %q differ by the case of letters alone, and have two guards", other, name),
				"give both one guard, or paths that differ: servers that ignore case take them for one, so that both are refused")
		}
	}
}

// warnOfCommonHeader tells of a header that browsers send themselves: no application gets
// theirs any more, since the names of all routes are taken out of every request.
func (c *Config) warnOfCommonHeader(f *Findings, name, header string) {
	common := []string{
		"accept", "acceptencoding", "acceptlanguage", "cachecontrol", "contenttype", "contentencoding", "ifmatch", "ifmodifiedsince", "ifnonematch", "ifrange", "ifunmodifiedsince",
		"origin", "pragma", "range", "referer", "useragent", "xrequestedwith",
	}
	folded := reserved.FoldHeader(header)
	if slices.Contains(common, folded) || strings.HasPrefix(folded, "sec") && strings.HasPrefix(strings.ToLower(header), "sec-") {
		f.Warn(c.at("route", name, "headers", header), fmt.Sprintf("route %q: browsers send the header %q themselves, and no application of any route gets theirs any more", name, header),
			`choose a name of its own, such as "Remote-User"`)
	}
}
