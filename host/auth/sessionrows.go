package auth

import (
	"context"
	"time"
)

// A SessionRow is one stored session.
type SessionRow struct {
	// Hash is the SHA-256 of the id in the cookie, the primary key.
	Hash []byte
	// Version grows with every Update, so that a late save is noticed.
	Version int64
	// UserID is empty for a guest.
	UserID string
	// Device is the selector of the device that the session belongs to; nil for
	// none.
	Device []byte
	// State and Format are how far the session's user has come, in words of the
	// application that keeps the session, and the format in which Data says so. They
	// are empty and 0 in a row that a release without these columns has written.
	State  string
	Format int64
	// Data is the encoded values, opaque to the backend.
	Data []byte
	// Created, Seen and Expires are when the session began, was last seen, and
	// ends at the latest. Milliseconds are kept.
	Created, Seen, Expires time.Time
	// UserAgent and Address describe the browser, for `vestibule session list`;
	// at most 255 and 64 characters.
	UserAgent, Address string
}

// SessionRows keeps the rows of sessions. All methods are safe for concurrent use, and join the
// transaction that ctx carries, if any. Only CreateSession inserts, so that a late
// save never brings a deleted session back.
type SessionRows interface {
	// FindSession returns the row but for Created, UserAgent and Address, or ErrSessionGone.
	// It may return expired ones.
	FindSession(ctx context.Context, hash []byte) (SessionRow, error)
	// FindSessions returns those of the rows that there are, in any order, with Hash,
	// UserID, Seen and Expires alone. It may return expired ones.
	FindSessions(ctx context.Context, hashes [][]byte) ([]SessionRow, error)
	// UserSessions returns up to limit rows of the user that end after now and were seen
	// after idleSince, the last seen ones first, without Version, State, Format and Data.
	UserSessions(ctx context.Context, userID string, now, idleSince time.Time, limit int) ([]SessionRow, error)
	// CreateSession inserts a row with Version 1.
	CreateSession(ctx context.Context, r SessionRow) error
	// UpdateSession writes UserID, Device, State, Format and Data where Hash and Version match, adds
	// one to the version, and returns ErrSessionGone where no row does.
	UpdateSession(ctx context.Context, r SessionRow) error
	// TouchSession sets Seen, and leaves the version alone. A host whose clock is a
	// little behind does not turn it back; a Seen that lies further ahead is replaced.
	TouchSession(ctx context.Context, hash []byte, seen time.Time) error
	// DeleteSession removes the row; that there is none is no error.
	DeleteSession(ctx context.Context, hash []byte) error
	// DeleteUserSessions removes all rows of the user.
	DeleteUserSessions(ctx context.Context, userID string) error
	// DeleteDeviceSessions removes all rows that belong to the device.
	DeleteDeviceSessions(ctx context.Context, device []byte) error
	// DeleteExpiredSessions removes up to limit rows that expired before now
	// or were last seen before idleSince, and returns how many.
	DeleteExpiredSessions(ctx context.Context, now, idleSince time.Time, limit int) (int, error)
}
