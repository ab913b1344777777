package session

import (
	"maps"
	"time"

	"github.com/gorilla/sessions"
)

// A Record is one stored session.
type Record struct {
	// Hash is the SHA-256 of the id in the cookie, the primary key.
	Hash []byte
	// Version grows with every Update, so that a late save is noticed.
	Version int64
	// UserID is empty for a guest.
	UserID string
	// Device is the selector of the device that the session belongs to; nil for
	// none.
	Device []byte
	// Data is the encoded values, opaque to the backend.
	Data []byte
	// Created, Seen and Expires are when the session began, was last seen, and
	// ends at the latest. Milliseconds are kept.
	Created, Seen, Expires time.Time
	// UserAgent and Address describe the browser, for `vestibule session list`;
	// at most 255 and 64 characters. FindSession leaves them empty.
	UserAgent, Address string
}

// recordKey is the key of the record among a session's values: gorilla hands the
// application a session without room for more, and a key of this type meets no
// name of the application's.
type recordKey struct{}

// RecordOf returns the stored record that s was loaded from or saved as. It
// reports false for a session without a row.
func RecordOf(s *sessions.Session) (Record, bool) {
	r, ok := s.Values[recordKey{}].(Record)
	return r, ok
}

func setRecord(s *sessions.Session, r Record) { s.Values[recordKey{}] = r }

// ownValues returns the values of s without the record.
func ownValues(s *sessions.Session) map[any]any {
	values := maps.Clone(s.Values)
	delete(values, recordKey{})
	return values
}
