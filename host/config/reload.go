package config

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// A Reload is what a host that serves goes over to when its configuration was read again.
type Reload struct {
	// Config is what the host runs with afterwards: the new settings that can change
	// while serving, and the old ones otherwise.
	Config *Config
	// Options are those of Config, with the databases that are open.
	Options host.Options
	// Waiting are the settings that differ from Config until the host is restarted.
	Waiting []Waiting
}

// Waiting is a changed setting that needs a restart.
type Waiting struct {
	// Key is the path of the setting, such as odata.entity_set.Products.hide. A labelled
	// block that was added or removed is one setting. Key never holds a value.
	Key string
	// At is where the setting is written, or the block around a setting that is gone.
	At Position
}

// Reload compares c, which was just read, with running, and returns what a host with the
// options old goes over to. It verifies all of c as Verify does, but for the plugins,
// which host.Reload starts. It refuses a file that has become empty: a host that serves
// does not lose its settings by accident.
func (c *Config) Reload(ctx context.Context, running *Config, old host.Options) (Reload, error) {
	if err := c.emptied(running).Err(); err != nil {
		return Reload{}, err
	}
	whole, findings := c.static(old.Logger)
	if err := findings.Err(); err != nil {
		return Reload{}, err
	}
	r := Reload{Config: c.over(running)}
	if err := r.Config.decode(); err != nil {
		return Reload{}, err
	}
	r.Waiting = c.differs(r.Config)
	if len(r.Waiting) > 0 { // without, the databases were verified at the start
		if err := c.verifyDatabases(ctx, &whole).Err(); err != nil {
			return Reload{}, err
		}
	}
	var err error
	r.Options, err = r.Config.beside(ctx, old)
	for _, w := range r.Waiting {
		r.Options.RestartNeeded[w.Key] = true
	}
	return r, err
}

// emptied finds the files that running has settings from, and c has none.
func (c *Config) emptied(running *Config) (found Findings) {
	for file, empty := range c.empty {
		if was, known := running.empty[file]; empty && known && !was {
			found.Add(Position{File: file}, emptyFile, "put its settings back, or restart the host to go on without them")
		}
	}
	return found.Sorted()
}

// over returns running with the settings of c that can change while serving. TLS cannot be
// switched on or off. Positions are those of c.
func (c *Config) over(running *Config) *Config {
	next := &Config{
		values: Keys().Reload(running.values, c.values), origins: c.origins, empty: c.empty, file: c.file, dir: c.dir,
	}
	if (running.Server.TLS.Cert == nil) != (c.Server.TLS.Cert == nil) {
		server := maps.Clone(next.values["server"].(map[string]any))
		server["tls"] = running.values["server"].(map[string]any)["tls"]
		next.values["server"] = server
	}
	return next
}

// differs lists the settings of c that are not those of running.
func (c *Config) differs(running *Config) (list []Waiting) {
	Keys().Changed(running.values, c.values, func(path ...string) {
		list = append(list, Waiting{Key: dotted(path), At: c.at(path...)})
	})
	return list
}

// beside returns the options of c for a reload of a host that has old. New settings must
// also suit the old ones that wait for a restart. Files of old settings are not looked
// for: they may be gone with the settings.
func (c *Config) beside(ctx context.Context, old host.Options) (host.Options, error) {
	var rules Findings
	c.checkRules(&rules)
	c.checkExposed(&rules)
	opts, _ := c.static(old.Logger)
	if err := rules.Err(); err != nil {
		return opts, err
	}
	columns, err := c.resolveColumns(ctx, old.Store, &opts)
	if err != nil {
		return opts, err
	}
	opts.Store, opts.OData, opts.Now = old.Store, old.OData, old.Now
	opts.Server.OnReady = old.Server.OnReady
	return opts, columns.found.Err()
}

// restartNeeded are the settings that a reload leaves alone, none of which differs.
// Settings in labelled blocks are left out: most of them never change.
func restartNeeded() map[string]bool {
	needed := map[string]bool{}
	for _, path := range Keys().Fixed() {
		needed[dotted(path)] = false
	}
	return needed
}

// dotted is a path as --set takes it: a label with a dot or a blank is in quotes.
func dotted(path []string) string {
	steps := make([]string, len(path))
	for i, step := range path {
		if steps[i] = step; strings.ContainsFunc(step, func(r rune) bool { return r == '.' || unicode.IsSpace(r) }) {
			steps[i] = strconv.Quote(step)
		}
	}
	return strings.Join(steps, ".")
}
