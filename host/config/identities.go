package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// roleIdentity is the role of the plugins that identities name.
const roleIdentity = "identity_provider"

// checkIdentities demands a plugin with the role for each identity, and an address to which providers send browsers back. It
// warns of what the other settings of an identity make useless.
func (c *Config) checkIdentities(f *Findings) {
	for _, name := range labels(c, c.Identities, "identity") {
		i := c.Identities[name]
		p, known := c.Plugins[i.Plugin]
		at := c.at("identity", name, "plugin")
		switch {
		case c.faulty("identity", name, "plugin") || i.Plugin == "":
		case !known && len(c.Plugins) == 0:
			f.Add(at, fmt.Sprintf("identity %q names the plugin %q, and there is no plugin", name, i.Plugin), fmt.Sprintf("add plugin %q { … }, or take the identity out", i.Plugin))
		case !known:
			f.Add(at, fmt.Sprintf("identity %q names the plugin %q, which does not exist", name, i.Plugin), schema.DidYouMean(i.Plugin, c.PluginNames()))
		case !slices.Contains(p.Roles, roleIdentity) && !c.faulty("plugin", i.Plugin, "roles"):
			f.Add(at, fmt.Sprintf("identity %q names the plugin %q, which is no identity provider", name, i.Plugin), fmt.Sprintf("add %q to its roles, or name another plugin", roleIdentity))
		}
		if c.Server.PublicURL == nil && !c.faulty("server", "public_url") {
			f.Add(c.at("identity", name), fmt.Sprintf("identity %q needs server.public_url: its provider sends browsers back to /auth/identity/%s/callback there", name, name),
				`add public_url = "https://app.example.com" to server, or "http://localhost:8080" to try it`)
		}
		if i.Create && i.Link == "confirm" {
			f.Warn(c.at("identity", name, "create"), fmt.Sprintf("identity %q makes nobody a user: with link = \"confirm\" each identity that nobody has waits to be linked", name),
				`take create out, or write link = "verified_email" or "never"`)
		}
	}
}

// checkFirstWay warns where identities alone sign people in, and nobody who has none can get one.
func (c *Config) checkFirstWay(f *Findings) {
	if c.Auth.Password.SignIn || c.hasPasskeys() || len(c.Identities) == 0 {
		return
	}
	for _, i := range c.Identities {
		if i.Link == "verified_email" || i.Create && i.Link != "confirm" {
			return
		}
	}
	f.Warn(c.at("auth", "password", "sign_in"), "people sign in with identities alone, and nobody who has none can link one",
		`write link = "verified_email" or create = true in an identity, unless everybody has linked theirs`)
}

// identities are the accounts elsewhere, in the order of their buttons. Without all, those are left out whose plugin is not there.
func (c *Config) identities(all bool) []host.Identity {
	var list []host.Identity
	for _, name := range labels(c, c.Identities, "identity") {
		i := c.Identities[name]
		if all || slices.Contains(c.Plugins[i.Plugin].Roles, roleIdentity) {
			list = append(list, host.Identity{Name: name, Label: value(i.Label), Plugin: i.Plugin, Link: i.Link, Create: i.Create})
		}
	}
	return list
}

// checkVerified warns where the table users has no column for verified addresses, so that identities are linked to accounts
// which a stranger may have made in advance.
func (r *columnResolver) checkVerified() {
	if slices.Contains(r.names, "email_verified_at") {
		return
	}
	for _, name := range labels(r.config, r.config.Identities, "identity") {
		if r.config.Identities[name].Link == "verified_email" {
			r.found.Warn(r.config.at("identity", name, "link"), fmt.Sprintf("identity %q is linked to whoever has its address, and the table users has no column email_verified_at", name),
				"make sure that the application verifies each address, or write link = \"confirm\"")
		}
	}
}

// checkCreation finds columns of users that a new user would need a value for, where identities make users.
func (r *columnResolver) checkCreation(columns []store.Column) {
	missing := store.Unfilled(columns)
	if len(missing) == 0 {
		return
	}
	for _, name := range labels(r.config, r.config.Identities, "identity") {
		if r.config.Identities[name].Create {
			r.found.Add(r.config.at("identity", name, "create"), fmt.Sprintf("identity %q makes users with a name and an address, and the table users needs a value for %s", name, strings.Join(missing, ", ")),
				"give these columns a default, or take create out")
		}
	}
}
