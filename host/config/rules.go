package config

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// checkRules checks what concerns several keys at once.
func (c *Config) checkRules(f *Findings) {
	c.checkServer(f)
	c.checkPassword(f)
	c.checkPasskeys(f)
	c.checkSchemes(f)
	c.checkRoutes(f)
	c.checkFoldedPaths(f)
	c.checkUpstreams(f)
	c.checkPlugins(f)
	c.checkDispensers(f)
	c.checkIdentities(f)
	c.checkIdleValidators(f)
	c.checkFirstWay(f)
	c.checkOData(f)
}

func (c *Config) at(path ...string) Position { return c.origins.At(path...) }

// maxRunDir is what host/pluginproc can use of a directory's path, in bytes.
const maxRunDir = 45

func (c *Config) checkServer(f *Findings) {
	s := c.Server
	if s.PublicURL == nil && !schema.Loopback(s.Address) && !c.faulty("server", "public_url") && !c.faulty("server", "address") {
		f.Add(c.at("server", "address"), fmt.Sprintf("server.public_url is required, as %s is no loopback address", s.Address),
			`add public_url = "https://app.example.com" to server`)
	}
	if s.AdminAddress != nil && *s.AdminAddress == s.Address && !strings.HasSuffix(s.Address, ":0") {
		f.Add(c.at("server", "admin_address"), "admin_address is the public address", "give metrics and profiles an address of their own")
	}
	if s.RunDir != nil && len(*s.RunDir) > maxRunDir {
		f.Add(c.at("server", "run_dir"), fmt.Sprintf("run_dir has %d bytes, and the path of a socket has no room for more than %d", len(*s.RunDir), maxRunDir), "name a shorter directory, such as /run/vestibule")
	}
	c.checkMemory(f)
	c.checkPair(f, s.TLS.Cert == nil, s.TLS.Key == nil, "cert", "key", "server", "tls")
	c.checkQueries(f)
}

// checkPassword demands that some password is long enough and yet not too long, and that
// people can sign in without one where they must.
func (c *Config) checkPassword(f *Findings) {
	if p := c.Auth.Password; p.Hash == "bcrypt" && p.MinLength > 72 {
		f.Add(c.at("auth", "password", "min_length"), fmt.Sprintf("min_length = %d is more than the 72 bytes that bcrypt reads", p.MinLength),
			`give at most 72, or take hash = "bcrypt" out`)
	}
	if !c.Auth.Password.SignIn && !c.hasPasskeys() && len(c.Identities) == 0 && !c.faulty("auth", "passkeys", "enabled") && !c.faulty("server", "public_url") {
		f.Add(c.at("auth", "password", "sign_in"), "sign_in = false leaves nobody a way to sign in: people have no passkeys either, and there is no identity",
			"take it out, add identity \"NAME\" { … }, or set auth.passkeys.enabled to true and server.public_url to an address of https or localhost")
	}
}

// hasPasskeys reports whether people can have passkeys, as host/auth/passkey decides it by the
// address of the page.
func (c *Config) hasPasskeys() bool {
	if !c.Auth.Passkeys.Enabled || c.Server.PublicURL == nil {
		return c.Auth.Passkeys.Enabled
	}
	u, err := url.Parse(*c.Server.PublicURL)
	if err != nil {
		return false
	}
	_, notName := netip.ParseAddr(u.Hostname())
	return notName != nil && (u.Scheme == "https" || u.Hostname() == "localhost")
}

// checkPasskeys demands an RP id to which pages of the site have a right.
func (c *Config) checkPasskeys(f *Findings) {
	id := value(c.Auth.Passkeys.RPID)
	if id == "" || !c.Auth.Passkeys.Enabled || c.faulty("auth", "passkeys") || c.faulty("server", "public_url") {
		return
	}
	name := "localhost"
	if c.Server.PublicURL != nil {
		u, err := url.Parse(*c.Server.PublicURL)
		if err != nil {
			return
		}
		name = u.Hostname()
	}
	if id != name && !strings.HasSuffix(name, "."+id) {
		f.Add(c.at("auth", "passkeys", "rp_id"), fmt.Sprintf("browsers have no passkeys of %q on %s", id, name),
			"name the host of server.public_url or the end of it, such as example.com for app.example.com, or take rp_id out")
	}
}

// checkPair demands both keys or none.
func (c *Config) checkPair(f *Findings, noFirst, noSecond bool, first, second string, path ...string) {
	if noFirst == noSecond || c.faulty(append(path, first)...) || c.faulty(append(path, second)...) {
		return
	}
	there, missing := first, second
	if noFirst {
		there, missing = second, first
	}
	f.Add(c.at(append(path, there)...), fmt.Sprintf("%s.%s stands without %s", strings.Join(path, "."), there, missing), fmt.Sprintf("add %s = …, or take %s out", missing, there))
}

// faulty tells whether a layer set the value and had it refused.
func (c *Config) faulty(path ...string) bool { return c.origins.Refused(path...) }

// wrong tells whether an error was found at the block or at a setting inside it.
// Later findings there follow from that error and are left out.
func (c *Config) wrong(found Findings, block ...string) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return !f.Warning && c.origins.Within(f.At, block...) })
}

func (c *Config) checkRoutes(f *Findings) {
	paths := map[string]string{}
	for _, name := range labels(c, c.Routes, "route") {
		r := c.Routes[name]
		at := c.at("route", name)
		var targets []string
		for key, value := range map[string]*string{"file": r.File, "dir": r.Dir, "proxy": r.Proxy, "redirect": r.Redirect} {
			if value != nil || c.faulty("route", name, key) {
				targets = append(targets, key)
			}
		}
		slices.Sort(targets)
		switch len(targets) {
		case 0:
			f.Add(at, fmt.Sprintf("route %q leads nowhere", name), "add one of file, dir, proxy and redirect")
		case 1:
		default:
			f.Add(c.at("route", name, targets[1]), fmt.Sprintf("route %q has %s", name, strings.Join(targets, " and ")), "keep exactly one of file, dir, proxy and redirect")
		}
		if first, twice := paths[r.Path]; twice && r.Path != "" {
			f.Add(c.at("route", name, "path"), fmt.Sprintf("routes %q and %q have one path, %s", first, name, r.Path), "give each a path of its own")
		}
		paths[r.Path] = name
		c.checkGuardNamed(f, name, r)
		c.checkProxyKeys(f, name, r)
	}
}

// checkGuardNamed demands a guard where the default would open a whole application.
func (c *Config) checkGuardNamed(f *Findings, name string, r Route) {
	many := "proxy"
	if r.Dir != nil {
		many = "dir"
	}
	if r.Guard != "" || c.faulty("route", name, "guard") || r.Proxy == nil && r.Dir == nil {
		return
	}
	if r.Path != "/" && !slices.Contains(publicRoutes(), name) {
		return
	}
	f.Add(c.at("route", name, many), fmt.Sprintf("route %q is a %s without a guard, and would be open with all that is below it", name, many),
		`add guard = "settled", or guard = "none" to let everybody in`)
}

// checkProxyKeys checks the keys that only a proxy has.
func (c *Config) checkProxyKeys(f *Findings, name string, r Route) {
	if r.Tokens && name == reserved.VerifyAudience {
		f.Add(c.at("route", name, "tokens"), fmt.Sprintf("the tokens of route %q would open /auth/verify, too, which has that name", name), "rename the route")
	}
	if r.Proxy == nil && !c.faulty("route", name, "proxy") {
		for key, set := range map[string]bool{"strip_prefix": r.StripPrefix, "headers": len(r.Headers) > 0, "tokens": r.Tokens, "assertion": r.Assertion} {
			if set {
				f.Add(c.at("route", name, key), fmt.Sprintf("route %q has %s without a proxy", name, key), "take it out: only a proxy has it")
			}
		}
	}
	c.checkAssertion(f, name, r)
	spelled := map[string]string{}
	for _, header := range slices.Sorted(maps.Keys(r.Headers)) {
		at := c.at("route", name, "headers", header)
		if why := reserved.ProxyHeader(header); why != "" {
			f.Add(at, fmt.Sprintf("route %q: the header %q %s", name, header, why), `choose a name that the application reads, such as "Remote-User"`)
			continue
		}
		c.warnOfCommonHeader(f, name, header)
		if !regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$").MatchString(header) {
			f.Add(at, fmt.Sprintf("route %q: %q is no header name", name, header), `write a name, such as "Remote-User"`)
		}
		if first, twice := spelled[reserved.FoldHeader(header)]; twice {
			f.Add(at, fmt.Sprintf("route %q: an application may take the headers %q and %q for one", name, first, header), "keep one of them")
		}
		spelled[reserved.FoldHeader(header)] = header
	}
}

// checkAssertion checks what would make the assertions of a route say something else
// than they are meant to.
func (c *Config) checkAssertion(f *Findings, name string, r Route) {
	if !r.Assertion {
		return
	}
	if name == reserved.VerifyAudience {
		f.Add(c.at("route", name, "assertion"), fmt.Sprintf("the assertions of route %q would pass for those of /auth/verify, whose audience is %q", name, name), "rename the route")
	}
	for _, header := range slices.Sorted(maps.Keys(r.Headers)) {
		column := r.Headers[header]
		if reserved.Claim(column) && column != "email" && column != "name" {
			f.Add(c.at("route", name, "headers", header), fmt.Sprintf("route %q: an assertion says something else under the name of the column %q", name, column),
				"take the header out, or expose the column under another name, such as by a generated column")
		}
	}
}

func (c *Config) checkPlugins(f *Findings) {
	owners := reserved.RoleOwners{}
	for _, name := range labels(c, c.Plugins, "plugin") {
		p := c.Plugins[name]
		if len(p.Command) == 0 && c.origins.Has("plugin", name, "command") && !c.faulty("plugin", name, "command") {
			f.Add(c.at("plugin", name, "command"), fmt.Sprintf("plugin %q has an empty command", name), `write command = ["bin/orgsetup"]`)
		}
		if len(p.Roles) == 0 && c.origins.Has("plugin", name, "roles") && !c.faulty("plugin", name, "roles") {
			f.Add(c.at("plugin", name, "roles"), fmt.Sprintf("plugin %q has no role", name), `write roles = ["dispenser"], or what else the plugin declares`)
		}
		for i, role := range p.Roles {
			at := c.at("plugin", name, "roles", fmt.Sprint(i))
			switch first, ok := owners.Take(role, name); {
			case !ok && first == name:
				f.Add(at, fmt.Sprintf("plugin %q has the role %s twice", name, role), "name it once")
			case !ok:
				f.Add(at, fmt.Sprintf("plugins %q and %q have one role, %s", first, name, role), "take the role from one of them")
			}
		}
		for i, column := range p.UserWrite {
			if !reserved.Credential(column) && !reserved.Writable(column, c.Auth.LoginField) {
				f.Add(c.at("plugin", name, "user_write", fmt.Sprint(i)), fmt.Sprintf("plugin %q: the column %q identifies a person and cannot be changed", name, column), "take it out of user_write")
			}
		}
		for key := range p.Env {
			if reserved.Env(key) {
				f.Add(c.at("plugin", name, "env", key), fmt.Sprintf("plugin %q: %s is the host's to set", name, key), "choose a name that begins with neither PLUGIN_ nor VESTIBULE_")
			}
		}
	}
}

func (c *Config) checkOData(f *Findings) {
	for i, table := range c.OData.Discover {
		if what, _ := schema.CheckExposable(table); what != "" {
			f.Warn(c.at("odata", "discover", fmt.Sprint(i)), what, "take it out: it is passed over")
		}
	}
	names := map[string]string{}
	for _, kind := range []string{"entity_set", "singleton"} {
		sets := c.OData.EntitySets
		if kind == "singleton" {
			sets = c.OData.Singletons
		}
		for _, name := range labels(c, sets, "odata", kind) {
			if other, taken := names[name]; taken {
				f.Add(c.at("odata", kind, name), fmt.Sprintf("%s %q and %s %q have one name", other, name, kind, name), "rename one of them")
			}
			names[name] = kind
			c.checkSet(f, sets[name], "odata", kind, name)
		}
	}
	for name, enum := range c.OData.Enums {
		if len(enum.Members) == 0 && c.origins.Has("odata", "enum", name, "members") && !c.faulty("odata", "enum", name, "members") {
			f.Add(c.at("odata", "enum", name, "members"), fmt.Sprintf("enum %q has no members", name), "write members = { None = 0 }")
		}
	}
}

// warnOfWeakerGuard tells of a set that asks for less than the service, which opens nothing.
func (c *Config) warnOfWeakerGuard(f *Findings, guard string, path []string) {
	fewer := []string{"none", "session", "settled"}
	if slices.Index(fewer, guard) < slices.Index(fewer, c.OData.Guard) {
		f.Warn(c.at(path...), fmt.Sprintf("guard = %q opens nothing: odata.guard is %q, and holds for every set", guard, c.OData.Guard),
			fmt.Sprintf("take it out, or write odata { guard = %q } and give the other sets guards of their own", guard))
	}
}

func (c *Config) checkSet(f *Findings, set EntitySet, path ...string) {
	below := func(more ...string) []string { return append(path[:len(path):len(path)], more...) }
	guard := c.OData.Guard
	if set.Guard != nil {
		guard = *set.Guard
	}
	if set.Filter != nil && guard == "none" && regexp.MustCompile(`@user_\w`).MatchString(*set.Filter) {
		f.Add(c.at(below("filter")...), `the row policy asks who is signed in, and guard = "none" lets in who is not`, `write guard = "session", or take @user_… out of filter`)
	} else {
		c.warnOfWeakerGuard(f, guard, below("guard"))
	}
	for i, column := range set.Key {
		if slices.Contains(set.Hide, column) {
			f.Add(c.at(below("key", fmt.Sprint(i))...), fmt.Sprintf("the key column %q is hidden", column), "take it out of hide")
		}
	}
	for i, column := range set.Search {
		if slices.Contains(set.Hide, column) {
			f.Add(c.at(below("search", fmt.Sprint(i))...), fmt.Sprintf("the searched column %q is hidden", column), "take it out of hide or of search")
		}
	}
	c.checkWrite(f, set, below("write"))
	for name, nav := range set.Navigation {
		at := c.at(below("navigation", name)...)
		via := nav.Via != nil
		switch {
		case via && len(nav.On) > 0:
			f.Add(at, fmt.Sprintf("navigation %q has both on and via", name), "keep on for a foreign key, or via, from_key and to_key for a table between")
		case via && (nav.FromKey == nil || nav.ToKey == nil):
			f.Add(at, fmt.Sprintf("navigation %q has via without from_key and to_key", name), "add the columns of the table between")
		case !via && (nav.FromKey != nil || nav.ToKey != nil):
			f.Add(at, fmt.Sprintf("navigation %q has from_key or to_key without via", name), "add via, the table between")
		}
	}
}
