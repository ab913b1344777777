package config

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// CheckTokenRoute returns why a token for the route of this name would open nothing;
// empty is the query endpoint, and [reserved.VerifyAudience] forward auth.
func (c *Config) CheckTokenRoute(name string) error {
	r, ok := c.Routes[name]
	switch {
	case name == "", name == reserved.VerifyAudience, ok && r.Tokens:
		return nil
	case ok && r.Proxy == nil:
		return fmt.Errorf("%s: route %q takes no tokens: only a route with a proxy can", c.at("route", name), name)
	case ok:
		return fmt.Errorf("%s: route %q takes no tokens: add tokens = true to it", c.at("route", name), name)
	}
	var names []string
	for _, name := range labels(c, c.Routes, "route") {
		if c.Routes[name].Tokens {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no route %q: no route takes tokens; add tokens = true to one with a proxy", name)
	}
	return fmt.Errorf("there is no route %q: those that take tokens are %s", name, strings.Join(names, ", "))
}

// maxTokensSeen bounds how many machine tokens are looked at.
const maxTokensSeen = 10_000

// checkTokens warns of machine tokens whose route takes none any more.
func (c *Config) checkTokens(ctx context.Context, db *store.DB) Findings {
	var f Findings
	// It fails on a database that was not migrated yet, and so has no tokens; a broken
	// database is found by others.
	list, _ := db.Tokens().List(ctx, "", maxTokensSeen)
	lost := map[string][]string{}
	for _, t := range list {
		if t.Expires.After(time.Now()) && c.CheckTokenRoute(t.Route) != nil {
			lost[t.Route] = append(lost[t.Route], t.ID)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		at, remedy := c.at("route", name), "add tokens = true to it"
		if _, ok := c.Routes[name]; !ok {
			at, remedy = c.at(), "give a route that name and tokens = true"
		}
		f.Warn(at, fmt.Sprintf("%d machine tokens open nothing: they are for the route %q, which takes none", len(lost[name]), name),
			remedy+", or revoke them: vestibule token revoke "+strings.Join(lost[name][:min(3, len(lost[name]))], " "))
	}
	return f
}
