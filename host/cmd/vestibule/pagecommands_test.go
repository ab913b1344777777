package main

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What pages say of the command and of make, in lines of code, is there: each verb, each
// flag and each target.
func TestPagesNameCommands(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
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
				if wrong := misnamed(commands(), words); wrong != "" {
					t.Errorf("%s: %s: %s", page, line, wrong)
				}
			}
			for _, m := range regexp.MustCompile(`(?:^|; *)make ([a-z0-9-]+)`).FindAllStringSubmatch(line, -1) {
				found++
				if !strings.Contains(string(makefile), "\n"+m[1]+":") {
					t.Errorf("%s: there is no target %s", page, m[1])
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
func misnamed(list []command, words []string) string {
	at := slices.IndexFunc(list, func(c command) bool { return c.name == words[0] })
	switch {
	case strings.ToUpper(words[0]) == words[0]:
		return "" // the name of a folder, in a sentence
	case at < 0:
		return "there is no command " + words[0]
	case list[at].sub != nil && len(words) > 1:
		return misnamed(list[at].sub, words[1:])
	}
	known := map[string]bool{"help": true}
	list[at].flagSet(&invocation{}).VisitAll(func(f *flag.Flag) { known[f.Name] = true })
	for _, word := range words[1:] {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if strings.HasPrefix(word, "-") && !known[name] {
			return list[at].name + " has no flag " + word
		}
	}
	return ""
}
