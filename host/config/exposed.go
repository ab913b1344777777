package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A secret is a file or directory that no route may serve.
type secret struct{ what, path string }

// checkExposed refuses directories and files to serve that hold the configuration,
// the database, mail, keys or plugins.
func (c *Config) checkExposed(f *Findings) {
	secrets := c.secrets()
	check := func(served string, path ...string) {
		for _, s := range secrets {
			if holds(served, s.path) {
				f.Add(c.at(path...), fmt.Sprintf("%s: %s would serve %s", strings.Join(path, "."), c.shown(served), s.what), "serve a directory that holds nothing but public files")
				return
			}
		}
	}
	if dir := c.Server.PublicDir; dir != nil {
		check(*dir, "server", "public_dir")
	}
	for _, name := range labels(c, c.Routes, "route") {
		r := c.Routes[name]
		if r.Dir != nil && isDir(*r.Dir) {
			check(*r.Dir, "route", name, "dir")
		}
		if r.File != nil {
			check(*r.File, "route", name, "file")
		}
	}
}

func (c *Config) secrets() []secret {
	list := []secret{{"the configuration", c.file}, {"the configuration", filepath.Join(c.dir, "conf.d")}}
	add := func(what string, path *string) {
		if path != nil && *path != "" {
			list = append(list, secret{what, *path})
		}
	}
	_, file := c.dsn()
	add("the database", &file)
	if driver, dsn, other := c.otherQueries(); other && driver == "sqlite" {
		file, _ := sqliteFile(dsn, c.origins.Dir("odata", "database", "dsn"))
		add("the database", &file)
	}
	if c.Mail.Transport == "file" {
		add("mail", &c.Mail.Dir)
	}
	add("the key of the certificate", c.Server.TLS.Key)
	plugins, _ := c.plugins()
	for _, p := range plugins {
		if len(p.Command) > 0 {
			add("the plugin "+p.Name, &p.Command[0])
		}
		for file := range p.Checksums {
			add("files of the plugin "+p.Name, &file)
		}
	}
	return list
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// holds reports whether a path is dir or below it, links followed.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(resolved(dir), resolved(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved follows the links of a path as far as it exists.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}
