package pluginproc

import (
	"context"
	"encoding/json"
	"errors"
)

// Call starts the plugin that spec describes, makes the one call that the JSON
// document describes, and returns the answer as JSON. The document is that of a
// plugin's flag -call; see docs/plugins.md.
func Call(_ context.Context, _ Spec, _ Options, _ []byte) (json.RawMessage, error) {
	return nil, errors.New("not yet")
}

// Check starts the plugin that spec describes, runs the conformance checks
// against it, and returns what it found. The error is about a plugin that
// cannot be started.
func Check(_ context.Context, _ Spec, _ Options) (Report, error) {
	return Report{}, errors.New("not yet")
}

// A Report is the outcome of the conformance checks.
type Report struct {
	// Name, Version and Roles are what the plugin says of itself.
	Name, Version string
	Roles         []string
	// Findings are the checks in the order in which they ran.
	Findings []Finding
}

// A Finding is the outcome of one conformance check.
type Finding struct {
	// Check says in a few words what was checked.
	Check string
	// Err is nil when the plugin passed.
	Err error
}

// Failed tells whether any check failed.
func (r Report) Failed() bool {
	for _, f := range r.Findings {
		if f.Err != nil {
			return true
		}
	}
	return false
}
