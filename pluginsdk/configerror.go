package pluginsdk

import (
	"errors"
	"fmt"
	"strings"
)

// A ConfigProblem is a mistake in a plugin's config block.
type ConfigProblem struct {
	// Path leads to the mistake: names joined by dots, list elements by index,
	// as in rules[1].target. Empty means the block as a whole.
	Path string `json:"path"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// A ConfigError is the mistakes that a plugin found in its config block.
type ConfigError struct {
	Problems []ConfigProblem
}

// Error lists the problems in one line.
func (e *ConfigError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = strings.TrimSuffix("config."+p.Path, ".") + ": " + p.Message
	}
	return strings.Join(texts, "; ")
}

// BadConfig is an error about the config block, for [Plugin.Configure] and for
// the Validate method of a config struct. The host reports it at the place in
// config.hcl that path leads to. Several can be joined with [errors.Join].
func BadConfig(path, format string, args ...any) error {
	return &ConfigError{Problems: []ConfigProblem{{Path: path, Message: fmt.Sprintf(format, args...)}}}
}

// problemsOf collects the problems in an error's tree. It returns none when any
// leaf of the tree is an error of another kind, which must not get lost.
func problemsOf(err error) []ConfigProblem {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []ConfigProblem
		for _, e := range joined.Unwrap() {
			p := problemsOf(e)
			if p == nil {
				return nil
			}
			all = append(all, p...)
		}
		return all
	}
	var config *ConfigError
	if errors.As(err, &config) {
		return config.Problems
	}
	return nil
}
