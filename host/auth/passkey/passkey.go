package passkey

import (
	"context"
	"errors"
	"time"
)

// A Passkey is a credential that somebody signs in with. The private key never leaves the authenticator.
type Passkey struct {
	// ID names the passkey where it is listed and deleted. It opens nothing.
	ID string
	// UserID is the user who signs in with it.
	UserID string
	// Handle is the user handle of WebAuthn, 32 random bytes for each user. An authenticator keeps it with the passkey.
	Handle []byte
	// Credential is the credential id, up to 1023 bytes that the authenticator has chosen.
	Credential []byte
	// Key is the public key in COSE form.
	Key []byte
	// Name is that by which the person knows the passkey.
	Name string
	// Transports are how a browser reaches the authenticator, such as "internal" or "usb".
	Transports []string
	// Counter is the number of signatures that the authenticator has made, 0 for one that does not count.
	Counter uint32
	// BackupEligible reports whether the passkey can be copied to other devices, which never changes.
	BackupEligible bool
	// BackedUp reports whether the passkey was copied when it was last used.
	BackedUp bool
	// Created is when the passkey was made, and Used when it was last used. Used is zero before the first use.
	Created, Used time.Time
}

// The errors of a [Store].
var (
	// ErrKnown is returned for a credential that somebody has already.
	ErrKnown = errors.New("the passkey is known")
	// ErrTooMany is returned for a user who has as many passkeys as allowed.
	ErrTooMany = errors.New("too many passkeys")
	// ErrSpent is returned for a challenge that was spent before.
	ErrSpent = errors.New("the challenge is spent")
)

// A Store keeps the passkeys. Its methods join the transaction of their context. Where nothing matches they return the
// ErrNotFound of package auth. They may be called by several goroutines.
type Store interface {
	// Handle returns the user handle of the user. If there is none, it keeps fresh and returns it. Lock the user before.
	Handle(ctx context.Context, userID string, fresh []byte) ([]byte, error)
	// Add stores a passkey of a user who has fewer than most; see [ErrKnown] and [ErrTooMany]. Lock the user before.
	Add(ctx context.Context, p Passkey, most int) error
	// Find returns the passkey with this credential id.
	Find(ctx context.Context, credential []byte) (Passkey, error)
	// FindID returns the passkey with this ID.
	FindID(ctx context.Context, id string) (Passkey, error)
	// List returns up to limit passkeys of the user, or of everybody where userID is empty, the newest first.
	List(ctx context.Context, userID string, limit int) ([]Passkey, error)
	// Use keeps Counter, BackedUp and Used of a passkey that was used, and reports whether it is still there with a lower
	// counter, or with none like p. Lock the user before.
	Use(ctx context.Context, p Passkey) (bool, error)
	// Rename gives a passkey of the user another name.
	Rename(ctx context.Context, id, userID, name string) error
	// Delete ends a passkey of the user.
	Delete(ctx context.Context, id, userID string) error
	// Spend notes that a challenge was used, or returns [ErrSpent]. It may forget the challenge an hour after ends.
	Spend(ctx context.Context, challenge []byte, ends time.Time) error
}
