// Package finding is the one form in which packages say what is wrong with their
// settings: the place, what is wrong there, and the remedy. A Finding is an error,
// so it travels in joined and wrapped errors; [In] takes them out again.
//
// A package finds it by the Path of the setting; host/config, which knows where each
// setting was written, adds its Position, and collects them as [Findings].
package finding

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Finding is one thing that is wrong.
type Finding struct { //nolint:errname // it is a finding first, which may be returned as an error
	// Path leads to the setting from the block of the package that found it: blocks,
	// labels, the key, and the index of an element, such as "entity_set", "Products",
	// "hide", "0". Empty means the whole.
	Path []string
	// At is where the setting was written; the zero value where that is not known yet.
	At Position
	// What is wrong, and the Remedy for it, which is empty where none is known.
	// Neither holds a secret.
	What, Remedy string
	// Warning is set for what is merely odd.
	Warning bool
}

// Error gives `place: what: remedy`. The place is the position, or else the path without
// indexes, since What names the element.
func (f Finding) Error() string {
	place, what := f.At.String(), f.What
	if f.At == (Position{}) {
		place = dotted(f.Path)
	}
	if f.Warning {
		what = "warning: " + what
	}
	parts := slices.DeleteFunc([]string{place, what, f.Remedy}, func(part string) bool { return part == "" })
	return strings.Join(parts, ": ")
}

func dotted(path []string) string {
	var steps []string
	for _, step := range path {
		if _, err := strconv.Atoi(step); err == nil {
			continue
		}
		if strings.ContainsFunc(step, func(r rune) bool { return r == '.' || unicode.IsSpace(r) }) {
			step = strconv.Quote(step)
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, ".")
}

// In returns the findings in the tree of err, in order, those of errors with a method
// Finding among them, and the errors of the tree that neither are nor hold a finding.
func In(err error) (findings []Finding, others []error) {
	if err == nil {
		return nil, nil
	}
	switch e := err.(type) { //nolint:errorlint // this walks the tree of wrapped errors itself
	case Finding:
		return []Finding{e}, nil
	case interface{ Finding() Finding }:
		return []Finding{e.Finding()}, nil
	}
	var below []error
	switch e := err.(type) { //nolint:errorlint // this walks the tree of wrapped errors itself
	case interface{ Unwrap() []error }:
		below = e.Unwrap()
		for _, one := range below {
			more, rest := In(one)
			findings, others = append(findings, more...), append(others, rest...)
		}
		return findings, others
	case interface{ Unwrap() error }:
		if findings, _ = In(e.Unwrap()); findings != nil {
			return findings, nil
		}
	}
	return nil, []error{err}
}
