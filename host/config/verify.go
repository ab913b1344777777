package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
)

// Verify finds what only this machine can tell: missing files and programs,
// databases that cannot be used, a mapping that does not fit the tables. It
// changes nothing: a SQLite file that does not exist yet is not created.
func (c *Config) Verify(ctx context.Context) Findings {
	opts, findings := c.static(hclog.NewNullLogger())
	c.checkNames(&findings)
	unfit := c.verifyDatabases(ctx, &opts)
	started := c.verifyPlugins(ctx, c.startable(opts.Plugins, findings), unfit)
	return append(append(findings, unfit...), started...).Sorted()
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

// verifyPlugins starts each plugin with the grants that serving would give it, lets
// it describe itself and check its config block, and stops it. Where unfit has a
// fault in its grants, mistakes in its config block are left out, because they may
// only follow from it.
func (c *Config) verifyPlugins(ctx context.Context, plugins []host.Plugin, unfit Findings) Findings {
	var findings Findings
	for _, spec := range plugins {
		err := host.TryPlugin(ctx, spec, c.runDir(), hclog.NewNullLogger())
		if err == nil {
			continue
		}
		found, ok := c.Locate(err)
		inConfig := func(f Finding) bool { return len(f.Path) > 2 && f.Path[2] == "config" }
		if slices.ContainsFunc(found, inConfig) && c.wrong(unfit, "plugin", spec.Name) {
			continue
		}
		if !ok {
			found.Add(c.at("plugin", spec.Name), oneLine(err), "try it with `vestibule plugin check "+spec.Name+"`")
		}
		findings = append(findings, found...)
		if slices.ContainsFunc(found, func(f Finding) bool { return len(f.Path) > 0 && f.Path[0] == "server" }) {
			break // which is the same for all plugins
		}
	}
	return findings
}

// checkFiles looks for the files and directories that settings name.
func (c *Config) checkFiles() Findings {
	var f Findings
	if c.origins.Has("server", "public_dir") && c.Server.PublicDir != nil {
		c.checkDir(&f, *c.Server.PublicDir, "server", "public_dir")
	}
	c.checkExposed(&f)
	c.scarceMemory(&f)
	if c.Server.RunDir != nil {
		c.checkDir(&f, *c.Server.RunDir, "server", "run_dir")
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
	c.checkMails(&f)
	return append(f, c.checkMail()...)
}

// checkMails looks for the templates of the mails that plugins send.
func (c *Config) checkMails(f *Findings) {
	for _, name := range labels(c, c.Plugins, "plugin") {
		for i, mail := range c.Plugins[name].Mails {
			at, missing := c.at("plugin", name, "mails", fmt.Sprint(i)), c.missingTemplates(mail)
			switch {
			case c.Mail.Templates == nil:
				f.Add(at, fmt.Sprintf("plugin %q sends the mail %q, and mail.templates names no directory", name, mail),
					fmt.Sprintf(`write mail { templates = "templates" }, and put %s.txt and %s.html there`, mail, mail))
			case len(missing) > 0:
				f.Add(at, fmt.Sprintf("plugin %q sends the mail %q, and there is no %s", name, mail, strings.Join(missing, " and no ")),
					`write it: the first line of the .txt file is "Subject: …", and {{.Text "name"}} shows a text of the plugin`)
			}
		}
	}
}

// missingTemplates returns the files that the mail of a plugin lacks.
func (c *Config) missingTemplates(mail string) (missing []string) {
	for _, ending := range []string{".txt", ".html"} {
		file := filepath.Join(value(c.Mail.Templates), mail+ending)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			missing = append(missing, c.shown(file))
		}
	}
	return missing
}

func (c *Config) checkDir(f *Findings, dir string, path ...string) {
	if !isDir(dir) {
		f.Add(c.at(path...), fmt.Sprintf("%s: there is no directory %s", strings.Join(path, "."), c.shown(dir)), "make it, or correct the path")
	}
}

// checkMail asks the mail package.
func (c *Config) checkMail() Findings {
	var f Findings
	opts := c.mailOptions()
	for _, p := range c.Plugins {
		opts.Mails = append(opts.Mails, p.Mails...)
	}
	lacks := func(mail string) bool { return len(c.missingTemplates(mail)) > 0 }
	if slices.ContainsFunc(opts.Mails, lacks) { // which checkMails reports
		opts.Templates, opts.Mails = "", nil
	}
	found, others := layer.FindingsIn(opts.Check())
	for _, one := range found {
		f.Add(c.at(one.Path...), strings.Join(one.Path, ".")+": "+one.What, one.Remedy)
	}
	for _, err := range others {
		f.Add(c.at("mail", "templates"), "mail.templates", err.Error())
	}
	return f
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
	if !isDir(filepath.Dir(file)) {
		return true, fmt.Errorf("there is no directory %s", filepath.Dir(file))
	}
	return true, nil
}
