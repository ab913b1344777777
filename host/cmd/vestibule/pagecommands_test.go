package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What pages say of the command and of make, in lines of code, is there: each verb, each
// flag and each target.
func TestPagesNameCommands(t *testing.T) {
	t.Parallel()
	found := 0
	all := pages(t)
	maps.Copy(all, files(t, "examples/*/README.md"))
	for page, text := range all {
		for _, line := range codeOf(text) {
			for _, m := range regexp.MustCompile(`(?:^|[ /(])(-n |-u |namespace |name: )?vestibule((?: [^ ;|&)]+)+)`).FindAllStringSubmatch(line, -1) {
				words := strings.Fields(m[2])
				if m[1] != "" && words[0] != "vestibule" {
					continue // a user or a namespace
				}
				if words[0] == "vestibule" {
					words = words[1:]
				}
				found++
				if wrong := misnamed(rootCommand(console{}), words); wrong != "" {
					t.Errorf("%s: %s: %s", page, line, wrong)
				}
			}
			for _, m := range regexp.MustCompile(`(?:^|; *)make (?:-C (\S+) )?([a-z0-9-]+)`).FindAllStringSubmatch(line, -1) {
				found++
				makefile, err := os.ReadFile(filepath.Join(root, m[1], "Makefile"))
				if err != nil || !strings.Contains(string(makefile), "\n"+m[2]+":") {
					t.Errorf("%s: %s: there is no such target: %v", page, m[0], err)
				}
			}
		}
	}
	if found < 150 {
		t.Errorf("found %d commands, want more", found)
	}
}

// codeOf returns the lines of a page's commands, and what stands in its text as code.
func codeOf(text string) []string {
	var lines []string
	prose := text
	for _, m := range regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```").FindAllStringSubmatch(text, -1) {
		prose = strings.Replace(prose, m[0], "", 1)
		if m[1] == "sh" {
			lines = append(lines, strings.Split(withoutComments(m[2]), "\n")...)
		}
	}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(prose, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// misnamed says what the words after the program's name have that it has not. Words in
// capitals stand for others.
func misnamed(group *cobra.Command, words []string) string {
	list := group.Commands()
	at := slices.IndexFunc(list, func(c *cobra.Command) bool { return c.Name() == words[0] })
	switch {
	case strings.ToUpper(words[0]) == words[0]:
		return "" // the name of a folder, in a sentence
	case at < 0:
		return "there is no command " + words[0]
	case list[at].HasSubCommands() && len(words) > 1:
		return misnamed(list[at], words[1:])
	}
	known := append(flagNames(list[at]), "help", "c")
	for _, word := range words[1:] {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if strings.HasPrefix(word, "-") && !slices.Contains(known, name) {
			return list[at].Name() + " has no flag " + word
		}
	}
	return ""
}
