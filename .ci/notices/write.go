package main

import (
	"fmt"
	"io"
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

// classify finds the names of the licences. One text that has a name is enough:
// others beside it are notices, patents, or the story of the files.
func (l *library) classify() error {
	for _, text := range l.texts {
		words := strings.Join(strings.Fields(text), " ")
		for _, known := range licences() {
			if strings.Contains(strings.ToLower(words), strings.ToLower(known.words)) {
				if !slices.Contains(l.licences, known.name) {
					l.licences = append(l.licences, known.name)
				}
				break
			}
		}
	}
	if len(l.licences) == 0 {
		return fmt.Errorf("%s %s has no licence that is known (%d texts in %s): read it, and add it to .ci/notices/write.go where we may link it",
			l.Path, l.Version, len(l.texts), l.Dir)
	}
	return nil
}

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
		for _, text := range l.texts {
			if owners[text] == nil {
				texts = append(texts, text)
			}
			owners[text] = append(owners[text], l.Path)
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
