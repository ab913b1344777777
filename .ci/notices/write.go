package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A licence is known by words that only it has, in the order in which they are
// looked for: a text may quote another one further down.
type licence struct{ name, words string }

func licences() []licence {
	return []licence{
		{"MPL-2.0", "Mozilla Public License, version 2.0"},
		{"MPL-2.0", "Mozilla Public License Version 2.0"},
		{"Apache-2.0", "Apache License Version 2.0, January 2004"},
		{"BSD-3-Clause", "Neither the name of"},
		{"BSD-3-Clause", "may not be used to endorse or promote products"},
		{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
		{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose"},
		{"public domain", "dedicated to the public domain"},
		{"public domain", "disclaims copyright to this source code"},
	}
}

// others returns the names of licences that no words are known of, by the SHA-256 of
// what [library.read] makes of their text. Somebody has read each. A text that is called
// a licence and is none of what we link has the name "".
func others() map[string]string {
	return map[string]string{
		// modernc.org/memory: where the picture of its documentation is from.
		"ce9c578c2968e316b80b180c3f5a5d70a8f32f37256c1bcf944a5de4f9f4eb59": "",
	}
}

// classify finds the names of the licences. Notices, patents and lists of authors need
// none, but what is called a licence has one: it may be that of a part beside the rest.
func (l *library) classify() error {
	var wrong []error
	for _, t := range l.texts {
		name, known := t.licence()
		if !known && granting().MatchString(t.file) {
			wrong = append(wrong, fmt.Errorf("%s %s has a licence in %s (SHA-256 %s, in %s or below) that is not known: read it, and add it to .ci/notices/write.go where we may link it",
				l.Path, l.Version, t.file, t.sum(), l.Dir))
		}
		if name != "" && !slices.Contains(l.licences, name) {
			l.licences = append(l.licences, name)
		}
	}
	if len(l.licences) == 0 && len(wrong) == 0 {
		return fmt.Errorf("%s %s has no licence (%d texts in %s): find out which one it has before it is linked", l.Path, l.Version, len(l.texts), l.Dir)
	}
	return errors.Join(wrong...)
}

// granting are the names of files that say what one may do.
func granting() *regexp.Regexp { return regexp.MustCompile(`(?i)^(licen[cs]e|copying)`) }

// licence is the name of the licence that a text is, and whether the text is known.
func (t text) licence() (name string, known bool) {
	if name, known := others()[t.sum()]; known {
		return name, true
	}
	words := strings.ToLower(strings.Join(strings.Fields(t.words), " "))
	for _, l := range licences() {
		if strings.Contains(words, strings.ToLower(l.words)) {
			return l.name, true
		}
	}
	return "", false
}

func (t text) sum() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(t.words))) }

func write(w io.Writer, list []*library) {
	fmt.Fprint(w, "Vestibule is published under the MIT licence, which is in the file LICENSE.\n"+
		"Its programs contain the following libraries. Their licences follow in full.\n\n")
	for _, l := range list {
		fmt.Fprintf(w, "- %s %s: %s\n", l.Path, l.Version, strings.Join(l.licences, ", "))
	}
	fmt.Fprint(w, "\nLibraries under the Mozilla Public License are used as they were published. Their sources:\n\n")
	for _, l := range list {
		if slices.Contains(l.licences, "MPL-2.0") {
			fmt.Fprintf(w, "- https://%s, version %s; or: go mod download %s@%s\n", repository(l.Path), l.Version, l.Path, l.Version)
		}
	}
	var texts []string
	owners := map[string][]string{}
	for _, l := range list {
		for _, t := range l.texts {
			if owners[t.words] == nil {
				texts = append(texts, t.words)
			}
			if !slices.Contains(owners[t.words], l.Path) {
				owners[t.words] = append(owners[t.words], l.Path)
			}
		}
	}
	for _, text := range texts {
		fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), text)
	}
}

// repository is a module's path without the number of its major version.
func repository(path string) string {
	parts := strings.Split(path, "/")
	if last := parts[len(parts)-1]; len(parts) > 3 && strings.HasPrefix(last, "v") {
		return strings.Join(parts[:len(parts)-1], "/")
	}
	return path
}
