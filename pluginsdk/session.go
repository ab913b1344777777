package pluginsdk

import (
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// The limits of what one plugin keeps in a session, in bytes. The host counts the same.
const (
	maxSession      = 32 << 10
	maxSessionValue = 16 << 10
	sessionEntry    = 10 // what a value counts beside its name and content
)

// checkSession returns an error with [ErrContract] when the session values that req
// has would be too large with these effects. The author learns it in a test, and not
// from the host.
func checkSession(req *Request, effects []Effect) error {
	after := req.Session.All()
	if after == nil {
		after = map[string]Value{}
	}
	changed := false
	for _, e := range effects {
		if e.kind != effectSetSession {
			continue
		}
		changed = true
		if n := length(e.value); n > maxSessionValue {
			return fmt.Errorf("%w: the session value %q has %d bytes; %d are allowed: keep it in a column or with the plugin", ErrContract, words.Cut(e.name, 64), n, maxSessionValue)
		}
		if after[e.name] = e.value; e.value == nil {
			delete(after, e.name)
		}
	}
	size := 0
	for name, v := range after {
		size += len(name) + sessionEntry + length(v)
	}
	if changed && size > maxSession {
		return fmt.Errorf("%w: the session values would have %d bytes together; %d are allowed: remove some with SetSession(name, nil)", ErrContract, size, maxSession)
	}
	return nil
}

func length(v Value) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}
