package auth

import (
	"encoding/json"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A kind is all that the loop knows of one kind of intent. Each kind has a file of
// its own, and a line in kinds.
type kind struct {
	// name is the kind in a dispenser's answer.
	name string

	// accept validates a dispensed intent and returns the one that is stored and
	// shown; s is the session as the step leaves it. It may add to the step.
	accept func(p *Pipeline, r *http.Request, s Session, i pluginsdk.Intent, out *step) (pluginsdk.Intent, error)

	// payload is the kind's part of the envelope, and restore the intent of such a
	// payload. Both are nil for a kind that accept replaces by another.
	payload func(pluginsdk.Intent) any
	restore func(json.RawMessage) (pluginsdk.Intent, error)

	// path names the kind in POST /auth/intents/{path}. It is empty, and what
	// follows nil, for a kind that takes no form.
	path string
	// available returns a fault when there is no handler for the form.
	available func(*Pipeline) error
	// form reads and validates the fields.
	form func(*http.Request) (map[string]pluginsdk.Value, error)
	// answer has the form of a session judged, commits what follows, and returns what
	// the browser is told.
	answer func(p *Pipeline, r *http.Request, s Session, form map[string]pluginsdk.Value) (satisfaction, error)
}

// kinds is the catalogue, which is closed.
func kinds() []kind {
	return []kind{doneKind(), redirectKind(), orgSetupKind()}
}

// kindNamed returns the kind of a dispenser's answer.
func kindNamed(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// kindAt returns the kind whose form is posted to /auth/intents/{path}.
func kindAt(path string) (kind, bool) {
	for _, k := range kinds() {
		if k.path == path && path != "" {
			return k, true
		}
	}
	return kind{}, false
}
