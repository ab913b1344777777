package configblock

import (
	"errors"
	"fmt"
	"strings"
)

// A Problem is a mistake in a plugin's config block.
type Problem struct {
	// Path leads to the mistake: names joined by dots, list elements by index,
	// as in rules[1].target. Empty means the block as a whole.
	Path string `json:"path"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// A Error is the mistakes that a plugin found in its config block.
type Error struct {
	Problems []Problem
}

// Error lists the problems in one line.
func (e *Error) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = strings.TrimSuffix("config."+p.Path, ".") + ": " + p.Message
	}
	return strings.Join(texts, "; ")
}

// Bad is an error about the place in the config block that path leads to.
func Bad(path, format string, args ...any) error {
	return &Error{Problems: []Problem{{Path: path, Message: fmt.Sprintf(format, args...)}}}
}

// ProblemsOf collects the problems in an error's tree. It returns none when any
// leaf of the tree is an error of another kind, which must not get lost.
func ProblemsOf(err error) []Problem {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Problem
		for _, e := range joined.Unwrap() {
			p := ProblemsOf(e)
			if p == nil {
				return nil
			}
			all = append(all, p...)
		}
		return all
	}
	var config *Error
	if errors.As(err, &config) {
		return config.Problems
	}
	return nil
}
