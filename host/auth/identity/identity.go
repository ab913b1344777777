package identity

import (
	"context"
	"errors"
	"time"
)

// An Identity is an account elsewhere that a user signs in with. A user has at most one of a name.
type Identity struct {
	// Name is that of the provider in the configuration.
	Name string
	// Subject names the person at the provider, in up to 255 bytes.
	Subject string
	// UserID is the user who signs in with it.
	UserID string
	// Created is when it was linked.
	Created time.Time
}

// The errors of a [Store].
var (
	// ErrKnown is returned for a subject that some user has already.
	ErrKnown = errors.New("the identity is known")
	// ErrHasOne is returned for a user who has an identity of the name already.
	ErrHasOne = errors.New("the user has an identity of the name")
	// ErrTaken is returned when another user has an address, compared without regard to case.
	ErrTaken = errors.New("address is taken")
	// ErrSpent is returned for a state that was spent before.
	ErrSpent = errors.New("the state is spent")
)

// A Store keeps the identities, and finds and adds the users whom they sign in. Its methods join the transaction of their context. Where nothing matches they return the
// ErrNotFound of package auth. They may be called by several goroutines.
type Store interface {
	// Add links an identity; see [ErrKnown] and [ErrHasOne]. Lock the user before.
	Add(ctx context.Context, i Identity) error
	// Find returns the identity of a name with this subject.
	Find(ctx context.Context, name, subject string) (Identity, error)
	// List returns up to limit identities of the user, or of everybody where userID is empty, the newest first.
	List(ctx context.Context, userID string, limit int) ([]Identity, error)
	// Delete ends the identity of a name that the user has.
	Delete(ctx context.Context, name, userID string) error
	// UsersAt returns the ids of all users who have the address, compared without regard to case.
	UsersAt(ctx context.Context, email string) ([]string, error)
	// AddUser adds a user with a password hash and returns the id, or [ErrTaken].
	AddUser(ctx context.Context, email, name, hash string) (id string, err error)
	// Spend notes that a state was used, or returns [ErrSpent]. It may forget the state an hour after ends.
	Spend(ctx context.Context, state []byte, ends time.Time) error
}
