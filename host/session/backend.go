package session

import (
	"context"
	"errors"
	"time"
)

// ErrGone is returned when the session has no row, or when another request has
// changed the row since it was read. Nothing was written then.
var ErrGone = errors.New("session gone")

// A Backend keeps records. All methods are safe for concurrent use, and join the
// transaction that ctx carries, if any. Only CreateSession inserts, so that a late
// save never brings a deleted session back.
type Backend interface {
	// FindSession returns the record but for UserAgent and Address, or ErrGone.
	// It may return expired ones.
	FindSession(ctx context.Context, hash []byte) (Record, error)
	// FindSessions returns those of the records that there are, in any order, with Hash,
	// Seen and Expires alone. It may return expired ones.
	FindSessions(ctx context.Context, hashes [][]byte) ([]Record, error)
	// CreateSession inserts a record with Version 1.
	CreateSession(ctx context.Context, r Record) error
	// UpdateSession writes UserID, Device and Data where Hash and Version match, adds
	// one to the version, and returns ErrGone where no row does.
	UpdateSession(ctx context.Context, r Record) error
	// TouchSession sets Seen, and leaves the version alone.
	TouchSession(ctx context.Context, hash []byte, seen time.Time) error
	// DeleteSession removes the record; that there is none is no error.
	DeleteSession(ctx context.Context, hash []byte) error
	// DeleteUserSessions removes all records of the user.
	DeleteUserSessions(ctx context.Context, userID string) error
	// DeleteDeviceSessions removes all records that belong to the device.
	DeleteDeviceSessions(ctx context.Context, device []byte) error
	// DeleteExpiredSessions removes up to limit records that expired before now
	// or were last seen before idleSince, and returns how many.
	DeleteExpiredSessions(ctx context.Context, now, idleSince time.Time, limit int) (int, error)
}
