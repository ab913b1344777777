package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// Verify finds what only this machine can tell: missing files and programs,
// databases that cannot be used, a mapping that the tables do not bear out. It
// changes nothing: a SQLite file that does not exist yet is not created.
func (c *Config) Verify(ctx context.Context) Findings {
	_, findings := c.static(hclog.NewNullLogger())
	c.checkNames(&findings)
	findings = append(findings, c.verifyDatabases(ctx)...)
	return append(findings, c.verifyPlugins(ctx)...).Sorted()
}

// checkNames warns of the named routes that the sign-in cannot do without; the
// host itself does so when it starts.
func (c *Config) checkNames(f *Findings) {
	if _, ok := c.Routes["home"]; !ok {
		f.Warn(c.at(), `there is no route "home"`, `add route "home" { … }: without it every logout fails`)
	}
	if _, ok := c.Routes["dashboard"]; !ok {
		f.Warn(c.at(), `there is no route "dashboard"`, `add route "dashboard" { … }: without it a login fails that has no other target`)
	}
}

// verifyPlugins starts every plugin whose settings are in order, lets it describe
// itself and check its config block, and stops it.
func (c *Config) verifyPlugins(ctx context.Context) Findings {
	var findings Findings
	for _, spec := range c.Startable() {
		_, err := host.ListPlugins(ctx, []host.Plugin{spec}, hclog.NewNullLogger())
		if err == nil {
			continue
		}
		if found, ok := c.Locate(err); ok {
			findings = append(findings, found...)
			continue
		}
		findings = append(findings, c.startFinding(spec.Name, oneLine(err)))
	}
	return findings
}

// startFinding makes a finding of why a plugin does not start, which ends with
// the remedy.
func (c *Config) startFinding(name, text string) Finding {
	f := Finding{At: c.at("plugin", name), What: text, Remedy: "try it with `vestibule plugin check " + name + "`"}
	if strings.Contains(text, "checksum") && c.origins.Has("plugin", name, "sha256") {
		f.At = c.at("plugin", name, "sha256")
	}
	if i := strings.LastIndex(text, ": "); i > 0 {
		f.What, f.Remedy = text[:i], text[i+2:]
	}
	return f
}

// checkFiles looks for the files and directories that settings name.
func (c *Config) checkFiles() Findings {
	var f Findings
	if c.origins.Has("server", "public_dir") && c.Server.PublicDir != nil {
		c.checkDir(&f, *c.Server.PublicDir, "server", "public_dir")
	}
	if t := c.Server.TLS; t.Cert != nil && t.Key != nil {
		if _, err := t.load(); err != nil {
			f.Add(c.at("server", "tls", "cert"), "certificate and key cannot be used", rootCause(err))
		}
	}
	for _, name := range labels(c, c.Routes, "route") {
		r := c.Routes[name]
		if r.Dir != nil {
			c.checkDir(&f, *r.Dir, "route", name, "dir")
		}
		if r.File == nil {
			continue
		}
		if info, err := os.Stat(*r.File); err != nil || info.IsDir() {
			f.Add(c.at("route", name, "file"), fmt.Sprintf("route %q: there is no file %s", name, c.shown(*r.File)), "make it, or correct the path")
		}
	}
	return append(f, c.checkMail()...)
}

func (c *Config) checkDir(f *Findings, dir string, path ...string) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		f.Add(c.at(path...), fmt.Sprintf("%s: there is no directory %s", strings.Join(path, "."), c.shown(dir)), "make it, or correct the path")
	}
}

// checkMail asks the mail package, whose faults begin with the setting's name.
func (c *Config) checkMail() Findings {
	var f Findings
	for _, err := range flatten(c.mailOptions().Check()) {
		path, what, ok := strings.Cut(err.Error(), ": ")
		setting := strings.Split(path, ".")
		if !ok || setting[0] != "mail" {
			what, setting = err.Error(), []string{"mail", "templates"}
		}
		f.Add(c.at(setting...), strings.Join(setting, "."), what)
	}
	return f
}

// flatten gives the errors that were joined.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, one := range joined.Unwrap() {
		list = append(list, flatten(one)...)
	}
	return list
}

// rootCause is the text of the innermost error.
func rootCause(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

// missingFile tells whether the SQLite database is still to be made, and what
// stands in the way of making it.
func missingFile(file string) (missing bool, err error) {
	if file == "" {
		return false, nil
	}
	if _, err := os.Stat(file); err == nil || !errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	info, err := os.Stat(filepath.Dir(file))
	if err != nil || !info.IsDir() {
		return true, fmt.Errorf("there is no directory %s", filepath.Dir(file))
	}
	return true, nil
}
