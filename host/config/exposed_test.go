package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// check and serve refuse alike to serve directories that hold secrets.
func TestServedDirectoriesHoldNoSecrets(t *testing.T) {
	const head = "database {\n  dsn = \"data/app.db\"\n}\nmail {\n  dir = \"letters/out\"\n}\nplugin \"p\" {\n  command = [\"bin/p\"]\n  roles = [\"dispenser\"]\n}\n"
	for name, test := range map[string]struct{ text, want string }{
		"the directory of the configuration": {"server {\n  public_dir = \".\"\n}\n", "would serve the configuration: serve a directory"},
		"one above":                          {"server {\n  public_dir = \"..\"\n}\n", "would serve the configuration"},
		"the database":                       {"server {\n  public_dir = \"data\"\n}\n", "would serve the database"},
		"mail":                               {"server {\n  public_dir = \"letters\"\n}\n", "would serve mail"},
		"a plugin":                           {"server {\n  public_dir = \"bin\"\n}\n", "would serve the plugin p"},
		"a link":                             {"server {\n  public_dir = \"link\"\n}\n", "would serve the database"},
		"a route":                            {"route \"r\" {\n  path = \"/r\"\n  dir = \".\"\n}\n", "config.hcl:13:9: route.r.dir: "},
		"a file":                             {"route \"r\" {\n  path = \"/r\"\n  file = \"config.hcl\"\n}\n", "config.hcl:13:10: route.r.file: "},
		"public files":                       {"server {\n  public_dir = \"public\"\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, sub := range []string{"data", "letters/out", "bin", "public"} {
				if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("data", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "config.hcl")
			if err := os.WriteFile(file, []byte(head+test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, findings := config.Load(config.Source{File: file, Environ: []string{}})
			if findings.Err() != nil {
				t.Fatal(findings.Err())
			}
			checked := cfg.Verify(t.Context()).Err()
			_, refused := cfg.Options(t.Context(), hclog.NewNullLogger())
			for _, err := range []error{checked, refused} {
				if said := err != nil && strings.Contains(err.Error(), "would serve"); said != (test.want != "") || said && !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			}
		})
	}
}

// A plugin's paths are relative to the file that names it, also where secrets are kept from being served.
func TestServedDirectoriesHoldNoPluginOfConfD(t *testing.T) {
	write(t, map[string]string{
		"config.hcl":      "server {\n  public_dir = \"tools\"\n}\n",
		"conf.d/p.hcl":    "plugin \"p\" {\n  command = [\"../tools/p\"]\n  roles = [\"dispenser\"]\n}\n",
		"tools/p!":        "#!/bin/sh\n",
		"tools/style.css": "",
	})
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	if err := cfg.Verify(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "server.public_dir: tools would serve the plugin p") {
		t.Errorf("got %v", err)
	}
}
