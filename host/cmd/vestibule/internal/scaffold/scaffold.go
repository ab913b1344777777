package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/node"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/python"
)

//go:embed all:template
var templates embed.FS

// A Plugin is what to write.
type Plugin struct {
	// Name is the plugin's, and that of its folder.
	Name string
	// Lang is one of [Languages].
	Lang string
	// Roles are some of [Roles]; none means the dispenser.
	Roles []string
	// Version is that of the SDK for Go, such as v2.0.0; empty for the latest.
	Version string
}

// Languages are those that a plugin can be written in.
func Languages() []string { return []string{"go", "node", "python"} }

// Roles are those that a plugin can be written for.
func Roles() []string {
	return []string{pluginsdk.RoleDispenser, pluginsdk.RoleOrgSetup, pluginsdk.RoleListener, pluginsdk.RoleIdentityProvider, pluginsdk.RoleValidator}
}

// A Written is a plugin that was written.
type Written struct {
	// Files are the paths of its files below the folder.
	Files []string
	// Program is what to start, below the folder.
	Program string
	// Test and Build are the commands that test and build it there; Build is empty
	// where there is nothing to build.
	Test, Build string
}

// Write writes the plugin into the new folder Name below dir. It overwrites nothing:
// where the folder exists the error wraps [fs.ErrExist].
func Write(dir string, p Plugin) (Written, error) {
	if !reserved.PluginName(p.Name) {
		return Written{}, fmt.Errorf("%q is no name for a plugin: %s", p.Name, reserved.PluginNameRule)
	}
	if !slices.Contains(Languages(), p.Lang) {
		return Written{}, fmt.Errorf("there is no template for the language %q: use one of %s", p.Lang, strings.Join(Languages(), ", "))
	}
	if len(p.Roles) == 0 {
		p.Roles = []string{pluginsdk.RoleDispenser}
	}
	for _, role := range p.Roles {
		if !slices.Contains(Roles(), role) {
			return Written{}, fmt.Errorf("there is no template for the role %q: use some of %s", role, strings.Join(Roles(), ", "))
		}
	}
	folder := filepath.Join(dir, p.Name)
	if err := os.Mkdir(folder, 0o755); err != nil {
		return Written{}, fmt.Errorf("make the folder of the plugin: %w", err)
	}
	out, err := p.write(folder)
	if err != nil {
		return Written{}, errors.Join(err, os.RemoveAll(folder))
	}
	return out, nil
}

func (p Plugin) write(folder string) (Written, error) {
	out := Written{Program: "plugin.js", Test: "node --test"}
	sdk := map[string]string{"vestibule.js": node.SDK}
	switch p.Lang {
	case "go":
		out = Written{Program: p.Name, Test: "go mod tidy && go test ./...", Build: "go build -o " + p.Name + " ."}
		sdk = nil
	case "python":
		out = Written{Program: "plugin.py", Test: "python3 -m unittest"}
		sdk = map[string]string{"vestibule.py": python.SDK}
	}
	base := path.Join("template", p.Lang)
	entries, err := fs.ReadDir(templates, base)
	if err != nil {
		return out, err
	}
	files := sdk
	if files == nil {
		files = map[string]string{}
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".tmpl")
		if name == "gitignore" {
			name = ".gitignore"
		}
		text, err := p.execute(path.Join(base, entry.Name()))
		if err != nil {
			return out, err
		}
		if text != "" { // else it is of a role that the plugin does not have
			files[name] = text
		}
	}
	for name, text := range files {
		mode := fs.FileMode(0o644)
		if name == out.Program {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), mode); err != nil {
			return out, err
		}
		out.Files = append(out.Files, name)
	}
	slices.Sort(out.Files)
	return out, nil
}

// execute fills one template.
func (p Plugin) execute(file string) (string, error) {
	t, err := template.ParseFS(templates, file)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, struct {
		Plugin
		Dispenser, OrgSetup, Listener, IdentityProvider, Validator bool
	}{
		p, slices.Contains(p.Roles, pluginsdk.RoleDispenser), slices.Contains(p.Roles, pluginsdk.RoleOrgSetup),
		slices.Contains(p.Roles, pluginsdk.RoleListener), slices.Contains(p.Roles, pluginsdk.RoleIdentityProvider),
		slices.Contains(p.Roles, pluginsdk.RoleValidator),
	})
	if err != nil || !strings.HasSuffix(file, ".go.tmpl") {
		return out.String(), err
	}
	text, err := format.Source([]byte(out.String())) // which roles there are moves columns
	return string(text), err
}
