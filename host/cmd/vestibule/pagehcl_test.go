package main

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// Each configuration of the documentation is one: `vestibule check` finds nothing in
// it, once what it names is there. A part of one is completed by the two routes and the
// demo's database, where it has none of its own. Of those that name a server of a
// database, which is not there, and of examples the text is read and not more.
func TestPagesConfigure(t *testing.T) {
	t.Parallel()
	programs := buildPlugins(t)
	all := readHere(t, "hcl")
	for _, b := range blocksOf(t, files(t, "examples/*/README.md")) {
		if b.language == "hcl" {
			all = append(all, b)
		}
	}
	for _, b := range all {
		t.Run(fmt.Sprintf("%s:%d", b.page, b.line), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeConfiguration(t, dir, b, programs)
			env := append(os.Environ(), "OIDC_CLIENT_SECRET=only-for-trying", "TOTP_KEY=MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", "WEBHOOK_SECRET=whsec_", "VERIFY_SECRET=MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
				"GITHUB_CLIENT_ID=Iv1.0123456789abcdef", "GITHUB_CLIENT_SECRET=secret")
			file := filepath.Join(dir, "config.hcl")
			if _, findings := config.Load(config.Source{File: file, Environ: env}); len(findings) > 0 {
				t.Fatal(findings)
			}
			if strings.Contains(b.text, "@") && strings.Contains(b.text, "dsn") || strings.HasPrefix(b.page, "examples/") {
				return // a server, or a program that is built by the test of its example
			}
			cmd := exec.Command("vestibule", "check")
			cmd.Dir, cmd.Env = dir, env
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "config.hcl is fine\n" {
				t.Errorf("check says %v:\n%s", err, out)
			}
		})
	}
}

// writeConfiguration puts the block into a folder, with what it names.
func writeConfiguration(t *testing.T, dir string, b block, programs string) {
	t.Helper()
	text := b.text
	if strings.HasPrefix(text, "source ") {
		putFile(t, dir, ".ui5-sources.hcl", text)
		text = ""
	}
	for _, route := range []string{"home", "dashboard"} {
		if !strings.Contains(text, `route "`+route+`"`) {
			text += fmt.Sprintf("route %q {\n  path = \"/its-%[1]s\"\n  redirect = \"/login\"\n}\n", route)
		}
	}
	if !strings.Contains("\n"+text, "\ndatabase {") {
		text += "database {\n  dsn = \"shop.db\"\n}\n"
		copyShop(t, dir)
		addColumns(t, filepath.Join(dir, "shop.db"), text)
	}
	text = strings.ReplaceAll(text, "/usr/lib/vestibule/plugins", "bin")
	link(t, programs, filepath.Join(dir, "bin"))
	link(t, filepath.Join(root, "examples"), filepath.Join(dir, "examples"))
	link(t, filepath.Join(root, "examples/own-login"), filepath.Join(dir, "my-login/dist"))
	for _, m := range regexp.MustCompile(`(?m)^ +file += "([^"/]+)"`).FindAllStringSubmatch(text, -1) {
		putFile(t, dir, m[1], "<!doctype html><title>A page of yours</title>")
	}
	putFile(t, dir, "config.hcl", text)
}

// addColumns gives people the columns that a configuration grants or passes on.
func addColumns(t *testing.T, database, text string) {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile(`user_(?:read|write) += \[([^\]]*)\]|headers += \{([^}]*)\}`).FindAllStringSubmatch(text, -1) {
		for _, name := range regexp.MustCompile(`"([a-z_]+)"`).FindAllStringSubmatch(m[1]+m[2], -1) {
			names = append(names, name[1])
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.Contains([]string{"partner_id", "terms_version", "second_factor", "email_verified_at"}, name) { // which the demo has
			change(t, database, "ALTER TABLE users ADD COLUMN "+name+" TEXT")
		}
	}
	for name, kind := range map[string]string{"deleted_at": "DATETIME", "is_active": "BOOLEAN"} {
		if regexp.MustCompile(`active += "[^"]*\b` + name + `\b`).MatchString(text) {
			change(t, database, "ALTER TABLE users ADD COLUMN "+name+" "+kind)
		}
	}
}

// change runs a statement in a SQLite file.
func change(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(60000)")
	if err == nil {
		_, err = db.Exec(statement)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func putFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// link makes a symbolic link to a folder of the tree, and the folders above the link.
func link(t *testing.T, target, name string) {
	t.Helper()
	target, err := filepath.Abs(target)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.Symlink(target, name)
	}
	if err != nil {
		t.Fatal(err)
	}
}
