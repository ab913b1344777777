package session

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound is returned by a [Backend] when there is no such row, or no longer.
var ErrNotFound = errors.New("session not found")

// A Record is one stored session.
type Record struct {
	// Hash is the SHA-256 of the id in the cookie, the primary key.
	Hash []byte
	// Version grows with every Update, so that a late save is noticed.
	Version int64
	// UserID is empty for a guest.
	UserID string
	// Device is the selector of the device token that the session belongs to;
	// nil for none.
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

// A Backend keeps records. All methods are safe for concurrent use, and join the
// transaction that ctx carries, if any. Only Create inserts: a save that comes
// late must never revive a deleted session.
type Backend interface {
	// FindSession returns the record but for UserAgent and Address, or ErrNotFound.
	// It may return expired ones.
	FindSession(ctx context.Context, hash []byte) (Record, error)
	// CreateSession inserts a record with Version 1.
	CreateSession(ctx context.Context, r Record) error
	// UpdateSession writes UserID, Device, Data and Seen where Hash and Version
	// match, adds one to the version, and returns ErrNotFound where none does.
	UpdateSession(ctx context.Context, r Record) error
	// TouchSession sets Seen, and leaves the version alone.
	TouchSession(ctx context.Context, hash []byte, seen time.Time) error
	// DeleteSession removes the record; that there is none is no error.
	DeleteSession(ctx context.Context, hash []byte) error
	// DeleteUserSessions removes all records of the user.
	DeleteUserSessions(ctx context.Context, userID string) error
	// DeleteDeviceSessions removes all records that belong to the device token.
	DeleteDeviceSessions(ctx context.Context, device []byte) error
	// DeleteExpiredSessions removes up to limit records that expired before now
	// or were last seen before idleSince, and returns how many.
	DeleteExpiredSessions(ctx context.Context, now, idleSince time.Time, limit int) (int, error)
}
