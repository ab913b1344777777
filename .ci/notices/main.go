// Notices prints the licences of everything that is linked into our programs: a
// list, and every text in full. It is made anew for each release, from what the go
// command links, so that it is never older than go.mod. A licence that is not in its
// table ends it: somebody has to read that one first.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// A module is what the go command tells of one.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// A library is a module that is linked, or Go itself.
type library struct {
	module
	licences []string
	texts    []text
}

// A text stands in a file, which is named without its folder.
type text struct{ file, words string }

func main() {
	platforms := flag.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "those that are released, with commas between")
	flag.Parse()
	err := run(os.Stdout, strings.Split(*platforms, ","), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, platforms, programs []string) error {
	found := map[string]*library{}
	for _, platform := range platforms {
		if err := linked(found, platform, programs); err != nil {
			return err
		}
	}
	list := []*library{}
	for _, l := range found {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *library) int { return cmp.Compare(a.Path, b.Path) })
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	golang := &library{module: module{Path: "Go, its runtime and standard library", Version: runtime.Version(), Dir: strings.TrimSpace(string(root))}}
	if err := golang.read(golang.Dir); err != nil {
		return err
	}
	list = append([]*library{golang}, list...)
	var wrong []error
	for _, l := range list {
		wrong = append(wrong, l.classify())
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	write(w, list)
	return nil
}

// linked adds the modules of what the programs link on a platform, with the texts
// that stand beside the linked packages and above them.
func linked(found map[string]*library, platform string, programs []string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("%q is no platform: write linux/amd64", platform)
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, programs...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list what is linked on %s: %w", platform, err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			Dir    string
			Module *module
		}
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if pkg.Module == nil || pkg.Module.Main {
			continue
		}
		if pkg.Module.Replace != nil {
			return fmt.Errorf("%s is replaced by %s: a release is made of what is published", pkg.Module.Path, pkg.Module.Replace.Path)
		}
		l, ok := found[pkg.Module.Path]
		if !ok {
			l = &library{module: *pkg.Module}
			found[l.Path] = l
		}
		for dir := pkg.Dir; ; dir = filepath.Dir(dir) {
			if err := l.read(dir); err != nil {
				return err
			}
			if dir == l.Dir || len(dir) < len(l.Dir) {
				break
			}
		}
	}
}

// read adds the texts in a folder.
func (l *library) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	legal := regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([-._].*)?$`)
	for _, e := range entries {
		if !e.Type().IsRegular() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		words, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if t := (text{e.Name(), strings.TrimSpace(strings.ReplaceAll(string(words), "\r", ""))}); !slices.Contains(l.texts, t) {
			l.texts = append(l.texts, t)
		}
	}
	return nil
}

func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
