package config

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
)

// plugins are the processes to start, in the order in which dispensers are asked. What is wrong with their programs is a finding.
func (c *Config) plugins() ([]host.Plugin, Findings) {
	var list []host.Plugin
	var findings Findings
	for _, name := range c.PluginNames() {
		spec, found := c.plugin(name)
		list, findings = append(list, spec), append(findings, found...)
	}
	return c.inAskingOrder(list), findings
}

// plugin is the process of one block, and what is wrong with its program.
func (c *Config) plugin(name string) (host.Plugin, Findings) {
	var findings Findings
	p := c.Plugins[name]
	spec := host.Plugin{
		Name: name, Dir: c.origins.Dir("plugin", name, "command"), Roles: p.Roles, SHA256: value(p.SHA256),
		UserRead: p.UserRead, UserWrite: p.UserWrite, Headers: p.Headers, Env: p.Env,
		Mails: p.Mails, PublicURL: c.publicURL(),
		Timeout: p.Timeout,
	}
	spec.Command = append(spec.Command, p.Command...)
	if len(spec.Command) > 0 {
		program, what, remedy := findProgram(spec.Dir, spec.Command[0])
		if what != "" {
			findings.Add(c.at("plugin", name, "command", "0"), fmt.Sprintf("plugin %q: %s", name, what), remedy)
		}
		spec.Command[0] = program
	}
	spec.Checksums = c.checksums(name, p, &findings)
	if p.Config != nil {
		text, err := json.Marshal(p.Config)
		if err != nil {
			findings.Add(c.at("plugin", name, "config"), fmt.Sprintf("the config of plugin %q cannot be passed on", name), err.Error())
		}
		spec.Config = text
	}
	return spec, findings
}

// publicURL is server.public_url without a slash at the end, empty for none.
func (c *Config) publicURL() string { return strings.TrimSuffix(value(c.Server.PublicURL), "/") }

// PluginNames are the labels of the plugin blocks, in the order of the file.
func (c *Config) PluginNames() []string { return labels(c, c.Plugins, "plugin") }

// PluginsByName are the plugins of these names, or all when there are none. What
// is wrong with one of them is the error.
func (c *Config) PluginsByName(names ...string) ([]host.Plugin, error) {
	known := c.PluginNames()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no plugin %q in the configuration: there are %s", name, strings.Join(known, ", "))
		}
	}
	var list []host.Plugin
	var findings Findings
	for _, name := range known {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		spec, found := c.plugin(name)
		list, findings = append(list, spec), append(findings, found...)
	}
	return list, findings.Err()
}

// startable are those of the plugins whose settings are in order, as far as that
// can be told without starting them; found is what is wrong with others.
func (c *Config) startable(plugins []host.Plugin, found Findings) []host.Plugin {
	return slices.DeleteFunc(slices.Clone(plugins), func(p host.Plugin) bool {
		return len(p.Command) == 0 || len(p.Roles) == 0 || c.wrong(c.refused.With(found), "plugin", p.Name)
	})
}

// checksums are those of p by absolute path.
func (c *Config) checksums(name string, p Plugin, findings *Findings) map[string]string {
	sums := map[string]string{}
	for path, sum := range p.Checksums {
		file := layer.Absolute(c.origins.Dir("plugin", name, "checksums"), path)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			findings.Add(c.at("plugin", name, "checksums", path), fmt.Sprintf("plugin %q: there is no file %s", name, path), "name a file that the plugin reads, or take the line out")
		}
		sums[file] = sum
	}
	return sums
}

// findProgram looks a bare name up in PATH and anything else from dir.
func findProgram(dir, name string) (path, what, remedy string) {
	if !strings.ContainsRune(name, filepath.Separator) {
		path, err := exec.LookPath(name)
		if err != nil {
			return name, fmt.Sprintf("%q is not in PATH", name), fmt.Sprintf("install it, or write a path such as \"bin/%s\"", name)
		}
		if path, err = filepath.Abs(path); err != nil {
			return name, fmt.Sprintf("%q cannot be found", name), err.Error()
		}
		return path, "", ""
	}
	path = layer.Absolute(dir, name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return path, fmt.Sprintf("there is no program %s", path), "build it, or correct the path"
	case !info.Mode().IsRegular():
		return path, fmt.Sprintf("%s is no file", path), "name the program itself"
	case info.Mode()&0o111 == 0:
		return path, fmt.Sprintf("%s is not executable", path), "run chmod +x on it, or put its interpreter first, as in [\"node\", \"plugin.js\"]"
	}
	return path, "", ""
}

// Locate gives the findings in err the places where their settings were written:
// why plugins do not start, and the mistakes that they found in their config
// blocks. ok is false when err is about something else as well.
func (c *Config) Locate(err error) (found Findings, ok bool) {
	found, others := layer.FindingsIn(err)
	for i := range found {
		found[i].At = c.at(found[i].Path...)
	}
	return found.Sorted(), found != nil && len(others) == 0
}

// InPluginConfig reports whether err is about the config block of a plugin.
func InPluginConfig(err error) bool {
	found, _ := layer.FindingsIn(err)
	return slices.ContainsFunc(found, func(f Finding) bool { return len(f.Path) > 2 && f.Path[2] == "config" })
}

func value[T any](v *T) T {
	if v == nil {
		var none T
		return none
	}
	return *v
}
