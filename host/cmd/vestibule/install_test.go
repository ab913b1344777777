package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	repository = "github.com/vestibule-dev/vestibule"
	program    = repository + "/v2/host/cmd/vestibule"
	// later is a tag that the sources know nothing of, so that what the program
	// prints can only come from its build.
	later = "v2.99.7"
)

// A stranger installs the command by its tag and as the latest: from a repository
// with this tree, which git finds in place of the public one, into a Go workspace
// with nothing in it. Other modules come from this machine's cache. Those that only a
// stranger's `go mod tidy` wants, such as what libraries are tested with, come from
// where this machine takes its modules, unless they are there.
func TestInstallAsAStranger(t *testing.T) {
	cache := moduleCache(t)
	repo := publish(t)
	env := stranger(t, repo, cache)
	for _, page := range []string{"README.md", "docs/tutorial.md"} {
		if !strings.Contains(pages(t)[page], "\ngo install "+program+"@latest\n") {
			t.Errorf("%s installs another program than %s", page, program)
		}
	}
	for _, c := range []struct{ query, want string }{{"v2.0.0", "2.0.0"}, {"latest", later[1:]}} {
		bin := filepath.Join(t.TempDir(), "bin")
		cmd := exec.Command("go", "install", program+"@"+c.query)
		cmd.Dir, cmd.Env = t.TempDir(), append(env, "GOBIN="+bin)
		if out, err := cmd.CombinedOutput(); err != nil {
			if missing := notCached(out, cache); missing != "" {
				lacks(t, "the module cache lacks "+missing+": run go mod download")
			}
			t.Fatalf("go install %s@%s: %v\n%s", program, c.query, err, out)
		}
		out, err := exec.Command(filepath.Join(bin, "vestibule"), "version").CombinedOutput()
		if want := "vestibule " + c.want + "\ncommit v" + c.want + "\n"; err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("@%s: version prints %q (%v), want %q", c.query, out, err, want)
		}
		if c.query != "latest" {
			continue
		}
		saysRan(t, "README.md", 1)
		saysRan(t, "docs/tutorial.md", 1)
		for lang := range walks() {
			t.Run("and writes a plugin in "+lang, func(t *testing.T) { walk(t, env, bin, lang) })
		}
		t.Run("and follows the tutorial", func(t *testing.T) { tutorial(t, env, bin) })
	}
}

// lacks skips the test, or fails it where nothing may be lacking.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("REQUIRE_INSTALL") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// moduleCache returns the downloads of this machine's module cache, which have the
// layout of a proxy.
func moduleCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	if _, err := os.Stat(cache); err != nil {
		lacks(t, fmt.Sprintf("no module cache: %v", err))
	}
	return cache
}

// notCached names the file that a failed installation did not find in the cache.
func notCached(out []byte, cache string) string {
	for line := range strings.Lines(string(out)) {
		if _, found, ok := strings.Cut(line, "reading file://"+cache+"/"); ok {
			file, _, _ := strings.Cut(strings.TrimSpace(found), ": ")
			return file
		}
	}
	return ""
}

// publish makes a repository of this tree, tagged with two versions.
func publish(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		lacks(t, fmt.Sprintf("the files of this tree are unknown, since git ls-files fails: %v", err))
	}
	repo := t.TempDir()
	for _, name := range strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(repo, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(repo, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet")
	git("add", "--force", ".")
	git("commit", "--quiet", "--message", "Release")
	git("tag", "v2.0.0")
	git("commit", "--quiet", "--allow-empty", "--message", "Release again")
	git("tag", later)
	return repo
}

// stranger is the environment of a person who has Go and git, and nothing of this
// tree.
func stranger(t *testing.T, repo, cache string) []string {
	t.Helper()
	var env []string
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "GIT_") {
			env = append(env, pair)
		}
	}
	out, err := exec.Command("go", "env", "GOCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	built, proxy, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	workspace := t.TempDir()
	return append(env,
		"GOPATH="+workspace, "GOMODCACHE="+filepath.Join(workspace, "mod"), "GOENV=off", "GOTOOLCHAIN=local", "GOWORK=off",
		"GOPROXY=file://"+cache+","+proxy, "GOPRIVATE="+repository, "GOSUMDB=off",
		// Without paths in them, compiled packages serve the next run. The cache is
		// writable, so that it can be removed.
		"GOCACHE="+built, "GOFLAGS=-trimpath -modcacherw", "CGO_ENABLED=0",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+repo+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+repository,
		"GIT_TERMINAL_PROMPT=0",
	)
}
