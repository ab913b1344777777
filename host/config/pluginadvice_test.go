package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// The block of a program names the checksums of all that decides what runs: in Node the
// script, the SDK beside it, and the modules that it loads. It has the settings of the check.
func TestBlockOfANodePlugin(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugins/hello/plugin.js": "#!/usr/bin/env node\n", "plugins/hello/vestibule.js": "1", "plugins/node_modules/@grpc/grpc-js/package.json": "{}",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	modules, err := host.PluginSum(filepath.Join(dir, "plugins/node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	program := host.Plugin{
		Command: []string{filepath.Join(dir, "plugins/hello/plugin.js")},
		Config:  []byte(`{"page": "/terms", "days": 9007199254740993, "rules": [{"target": "/a"}], "on": true}`),
	}
	block, err := config.PluginBlock(dir, program, host.PluginReport{Name: "hello", Roles: []string{"dispenser"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"plugins/node_modules"`, `= "` + modules + `"`, `"plugins/hello/vestibule.js"`, "  config {\n", `page`, `= "/terms"`, "= 9007199254740993", "target = \"/a\"",
	} {
		if !strings.Contains(block, want) {
			t.Errorf("the block has no %s:\n%s", want, block)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "config.hcl"), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, found := config.Load(config.Source{File: filepath.Join(dir, "config.hcl")})
	if found.Failed() {
		t.Fatalf("the block cannot be read: %v\n%s", found, block)
	}
	list, err := cfg.PluginsByName("hello")
	if err != nil {
		t.Fatal(err)
	}
	if list[0].Checksums[filepath.Join(dir, "plugins/node_modules")] != modules {
		t.Errorf("the checksums are %v", list[0].Checksums)
	}
	if advice, err := cfg.AdvisePlugin(list[0]); err != nil || len(advice) > 0 {
		t.Errorf("the block still lacks %v, %v", advice, err)
	}
}
