package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// roleDispenser is the role whose plugins auth.dispensers names.
const roleDispenser = "dispenser"

// checkDispensers demands that auth.dispensers names each dispenser once, and nothing
// else. One dispenser needs no order.
func (c *Config) checkDispensers(f *Findings) {
	named := c.Auth.Dispensers
	if c.faulty("auth", "dispensers") {
		return
	}
	for i, name := range named {
		at := c.at("auth", "dispensers", fmt.Sprint(i))
		p, known := c.Plugins[name]
		switch {
		case slices.Index(named, name) < i:
			f.Add(at, fmt.Sprintf("auth.dispensers names the plugin %q twice", name), "name it once, where it is to be asked")
		case !known && len(c.Plugins) == 0:
			f.Add(at, fmt.Sprintf("auth.dispensers names the plugin %q, and there is no plugin", name), fmt.Sprintf("add plugin %q { … }, or take the name out", name))
		case !known:
			f.Add(at, fmt.Sprintf("auth.dispensers names the plugin %q, which does not exist", name), schema.DidYouMean(name, c.PluginNames()))
		case !slices.Contains(p.Roles, roleDispenser) && !c.faulty("plugin", name, "roles"):
			f.Add(at, fmt.Sprintf("auth.dispensers names the plugin %q, which is no dispenser", name), fmt.Sprintf("add %q to its roles, or take the name out", roleDispenser))
		}
	}
	var dispensers, missing []string
	for _, name := range c.PluginNames() {
		if !slices.Contains(c.Plugins[name].Roles, roleDispenser) {
			continue
		}
		dispensers = append(dispensers, name)
		if !slices.Contains(named, name) {
			missing = append(missing, name)
		}
	}
	switch {
	case len(named) > 0:
		for _, name := range missing {
			f.Add(c.at("auth", "dispensers"), fmt.Sprintf("auth.dispensers leaves out the plugin %q, which is a dispenser", name), "add it where it is to be asked, or take the role from it")
		}
	case len(dispensers) > 1:
		second := dispensers[1]
		at := c.at("plugin", second, "roles", fmt.Sprint(slices.Index(c.Plugins[second].Roles, roleDispenser)))
		f.Add(at, "several plugins are dispensers, and auth.dispensers does not order them", "add dispensers = "+hclText(texts(dispensers))+" to auth, in the order in which they are to be asked")
	}
}

// inAskingOrder returns the plugins with the dispensers first, as auth.dispensers names
// them. All others, and a dispenser that needs no order, stay as they were written.
func (c *Config) inAskingOrder(list []host.Plugin) []host.Plugin {
	rank := func(p host.Plugin) int {
		if i := slices.Index(c.Auth.Dispensers, p.Name); i >= 0 {
			return i
		}
		return len(c.Auth.Dispensers)
	}
	slices.SortStableFunc(list, func(a, b host.Plugin) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}
