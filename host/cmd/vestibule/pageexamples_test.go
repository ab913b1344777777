package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The commands of each example's README do what they say, in a copy of its folder or in
// the root, as the README tells. What would build, install or serve for long is asked
// whether it is there, and not more: the example's own tests do the rest.
func TestPagesRunExamples(t *testing.T) {
	t.Parallel()
	programs, found := buildPlugins(t), 0
	for _, b := range blocksOf(t, files(t, "examples/*/README.md")) {
		if !slices.Contains([]string{"sh", "hcl", "text"}, b.language) {
			t.Errorf("%s:%d: no test reads a block in %q", b.page, b.line, b.language)
		}
		if b.language != "sh" || strings.Contains(b.text, "/odata/") { // which TestReadme of odata-only asks
			continue
		}
		found++
		t.Run(fmt.Sprintf("%s:%d", b.page, b.line), func(t *testing.T) {
			t.Parallel()
			for program, variable := range map[string]string{"node": "REQUIRE_NODE", "python3": "REQUIRE_PYTHON"} {
				if _, err := exec.LookPath(program); err != nil && strings.Contains(b.text, program+" ") {
					missingFor(t, variable, "no "+program)
				}
			}
			if strings.Contains(b.text, "ruby") && exec.Command("/usr/bin/ruby", "-e", "require 'grpc'").Run() != nil {
				missingFor(t, "REQUIRE_RUBY", "no Ruby with grpc")
			}
			runExample(t, b, programs)
		})
	}
	if found < 9 {
		t.Errorf("found %d blocks of commands, want more", found)
	}
}

// runExample runs a block where its README says, with programs of its own in front.
func runExample(t *testing.T, b block, programs string) {
	t.Helper()
	dir, where := t.TempDir(), "."
	for _, name := range []string{"pluginsdk", "Makefile"} {
		link(t, filepath.Join(root, name), filepath.Join(dir, name))
	}
	if strings.Contains(files(t, b.page)[b.page], "n this folder") {
		where = filepath.Dir(b.page)
		entries, err := os.ReadDir(filepath.Join(root, where))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.Name() != "terms" { // which somebody has made who followed the README here
				link(t, filepath.Join(root, where, entry.Name()), filepath.Join(dir, where, entry.Name()))
			}
		}
	}
	tools := filepath.Join(dir, "tools")
	if err := os.Mkdir(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range exampleTools(t, where, programs) {
		putFile(t, tools, name, "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(filepath.Join(tools, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-eu", "-c", b.text)
	cmd.Dir = filepath.Join(dir, where)
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nof\n%s", err, out, b.text)
	}
}

// exampleTools are the programs that take the place of others, as scripts: go knows the
// package that is named and has built the dispenser in Go already, npm its lock file,
// make its plan, and node the language of a server.
func exampleTools(t *testing.T, where, programs string) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for _, name := range []string{"go", "make", "node", "vestibule"} {
		paths[name], _ = exec.LookPath(name)
	}
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"go": fmt.Sprintf(`case $1 in run|build|test) ;; *) exit 2 ;; esac
for word; do
	case $word in
	./*|.) (cd %q && %q list "$word" > /dev/null) || exit 1; break ;;
	terms) cp %q terms ;;
	esac
done`, filepath.Join(tree, where), paths["go"], filepath.Join(programs, "dispenser-go")),
		"npm":       `test "$1" = ci && test -f package-lock.json`,
		"sudo":      `test "$1 $2" = "apt-get install"`,
		"node":      fmt.Sprintf(`[ "$1" != server.js ] || set -- --check "$@"`+"\nexec %q \"$@\"", paths["node"]),
		"make":      fmt.Sprintf(`exec env -u MAKEFLAGS -u MAKELEVEL PATH=%q %q --no-print-directory --dry-run --directory %q "$@" > /dev/null`, os.Getenv("PATH"), paths["make"], tree),
		"vestibule": fmt.Sprintf(`exec %q "$@"`, paths["vestibule"]),
	}
}
