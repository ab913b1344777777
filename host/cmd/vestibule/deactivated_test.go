package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What operators see and do with people whom the application has deactivated.
func TestOperatorsOfDeactivatedPeople(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFile(t, dir, "config.hcl", `route "home" {
  path     = "/"
  redirect = "/login"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/odata/"
}
`)
	run := func(stdin string, args ...string) (string, error) {
		cmd := exec.Command("vestibule", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, os.Environ(), strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	const secret = "correct horse battery staple"
	if out, err := run(secret, "user", "add", "--email", "ada@example.com", "--name", "Ada", "--password-stdin"); err != nil {
		t.Fatal(out)
	}
	change(t, filepath.Join(dir, "vestibule.db"), "ALTER TABLE users ADD COLUMN deleted_at DATETIME")
	change(t, filepath.Join(dir, "vestibule.db"), "UPDATE users SET deleted_at = '2026-05-04 11:00:00'")
	const active = `--set=auth.active=deleted_at eq null`
	for _, step := range []struct {
		args []string
		ok   bool
		want string
	}{
		{[]string{"check"}, true, `config.hcl:1:1: warning: auth.active does not mention deleted_at of users: whom the application deactivates by it still signs in: write auth { active = "deleted_at eq null" }`},
		{[]string{"check", active}, true, "config.hcl is fine"},
		{[]string{"check", "--set=auth.active=delted_at eq null"}, false, `auth.active: the table users has no column "delted_at": did you mean "deleted_at"?`},
		{[]string{"serve", "--set=auth.active=delted_at eq null"}, false, `auth.active: the table users has no column "delted_at": did you mean "deleted_at"?`},
		{[]string{"user", "list"}, true, "Ada  enabled\n"},
		{[]string{"user", "list", active}, true, "Ada  not active\n"},
		{[]string{"user", "reset-link", "--email=ada@example.com", active}, false, "ada@example.com may not sign in, as auth.active says"},
		{[]string{"token", "add", "--email=ada@example.com", "--name=x", active}, false, "ada@example.com may not sign in, as auth.active says"},
		{[]string{"user", "passwd", "--email=ada@example.com", "--password-stdin", active}, true, "ada@example.com is not active and still cannot sign in"},
		{[]string{"user", "disable", "--email=ada@example.com", active}, true, "disabled ada@example.com"},
		{[]string{"user", "list", active}, true, "Ada  disabled, not active\n"},
		{[]string{"user", "enable", "--email=ada@example.com", active}, true, "ada@example.com is not active and still cannot sign in"},
	} {
		out, err := run(secret+" again", step.args...)
		if (err == nil) != step.ok || !strings.Contains(out, step.want) {
			t.Errorf("%q: %v\n%s\nwant %q", step.args, err, out, step.want)
		}
	}
}
