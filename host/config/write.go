package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// allows reports whether a block write lets anything be written.
func (w Write) allows() bool { return w.Create || w.Update || w.Delete }

// rules reports whether a block write has keys besides those that allow something.
func (w Write) rules() bool {
	return w.Filter != nil || w.Version != nil || w.Validator != nil || len(w.Set)+len(w.Touch)+len(w.Fixed) > 0
}

// checkWrite finds what contradicts itself in the block write of a set, without a look at the table.
func (c *Config) checkWrite(f *Findings, set EntitySet, path []string) {
	if !c.origins.Has(path...) {
		return
	}
	w, at := set.Write, func(more ...string) Position { return c.at(append(path[:len(path):len(path)], more...)...) }
	c.checkValidator(f, value(w.Validator), append(path[:len(path):len(path)], "validator"))
	if !w.allows() {
		if w.rules() { // otherwise every key is as without the block
			f.Add(at(), "the block allows nothing", "write create = true, update = true or delete = true, or take the block out")
		}
		return
	}
	for _, column := range slices.Sorted(maps.Keys(w.Set)) {
		if _, both := w.Touch[column]; both {
			f.Add(at("set", column), fmt.Sprintf("the column %q is in set and in touch", column), "keep it in touch, which holds at creation, too")
		}
	}
	for i, column := range w.Fixed {
		_, set := w.Set[column]
		_, touched := w.Touch[column]
		if set || touched {
			f.Add(at("fixed", fmt.Sprint(i)), fmt.Sprintf("the host writes the column %q, which clients cannot give", column), "take it out of fixed")
		}
	}
	if v := value(w.Version); v != "" {
		_, set := w.Set[v]
		_, touched := w.Touch[v]
		if set || touched || slices.Contains(w.Fixed, v) {
			f.Add(at("version"), fmt.Sprintf("the host moves the column %q with every change", v), "take it out of set, touch and fixed")
		}
	}
	if (w.Update || w.Delete) && set.Filter == nil && w.Filter == nil {
		f.Warn(at(), "everybody who has signed in may change every row", `write filter = "author_id eq @user_id", or what else holds for the rows that somebody may change`)
	}
}

// roleValidator is the role of the plugins that sets name.
const roleValidator = "validator"

// checkValidator demands a plugin with the role for the validator of a set, at the place path; it is empty for none.
func (c *Config) checkValidator(f *Findings, plugin string, path []string) {
	p, known := c.Plugins[plugin]
	switch {
	case plugin == "" || c.faulty(path...):
	case !known && len(c.Plugins) == 0:
		f.Add(c.at(path...), fmt.Sprintf("the validator is the plugin %q, and there is no plugin", plugin), fmt.Sprintf("add plugin %q { … }, or take the validator out", plugin))
	case !known:
		f.Add(c.at(path...), fmt.Sprintf("the validator is the plugin %q, which does not exist", plugin), schema.DidYouMean(plugin, c.PluginNames()))
	case !slices.Contains(p.Roles, roleValidator) && !c.faulty("plugin", plugin, "roles"):
		f.Add(c.at(path...), fmt.Sprintf("the validator is the plugin %q, which is none", plugin), fmt.Sprintf("add %q to its roles, or name another plugin", roleValidator))
	}
}

// checkIdleValidators warns of plugins that judge the changes of no set.
func (c *Config) checkIdleValidators(f *Findings) {
	for _, name := range labels(c, c.Plugins, "plugin") {
		named := func(set EntitySet) bool { return value(set.Write.Validator) == name }
		if slices.Contains(c.Plugins[name].Roles, roleValidator) && !slices.ContainsFunc(slices.Collect(maps.Values(c.OData.EntitySets)), named) {
			f.Warn(c.at("plugin", name, "roles"), fmt.Sprintf("plugin %q is a validator, and no set names it", name), fmt.Sprintf("write validator = %q in the block write of an entity_set, or take the role out", name))
		}
	}
}

// cascades warns of the tables that the database changes when a set is written, and of those in between that take no links.
func (c *Config) cascades(source *sqlsource.Source) (found Findings) {
	for _, x := range source.Cascades() {
		what := fmt.Sprintf("a write of the set %q %s rows of the table %q: a foreign key of the table says so", x.Set, x.Effect, x.Table)
		found.Warn(c.at("odata", "entity_set", x.Set, "write"), what, "neither a filter nor an audit line of that table knows of it: make the foreign key ON DELETE RESTRICT where that must not happen")
	}
	for _, x := range source.Unlinkable() {
		found.Warn(c.at("odata", "entity_set", x.Set, "navigation", x.Navigation), "links cannot be added and removed: "+x.What, x.Remedy)
	}
	return found
}

// writeOf returns what sqlsource needs to know of a block write; nil for nothing.
func writeOf(w Write) *sqlsource.Write {
	if !w.allows() {
		return nil
	}
	return &sqlsource.Write{
		Create: w.Create, Update: w.Update, Delete: w.Delete, Filter: value(w.Filter), Set: w.Set, Touch: w.Touch, Fixed: w.Fixed, Version: value(w.Version),
		Validator: value(w.Validator),
	}
}
