package mail

import (
	"context"
	"errors"
	"time"
)

// The purposes of mail that this package has templates for. They are the words
// of the column purpose in the outbox.
const (
	PasswordReset   = "password_reset"   // the link to set a new password
	PasswordChanged = "password_changed" // the notice that one was set
	TokenAdded      = "token_added"      // the notice of a new machine token
	ManyFailures    = "many_failures"    // the notice of a hundred failed sign-ins in a day
)

// Item is one mail to be sent: to which user and for which purpose, but never a
// token, a link or an address. It is an alias of an unnamed struct type so that
// a store can satisfy [Outbox] by writing the same fields, without importing
// this package.
//
// UserID is the user's key as text; an empty one is a decoy, written so that a
// request for an unknown person costs the same, and is thrown away unsent.
// Locale is a language tag, or empty for the default. Base is the origin that the person
// asked under, which whoever builds the links must check; empty for the public one. Attempt counts the leases
// of this item from 1.
type Item = struct {
	ID      string
	UserID  string
	Purpose string
	Locale  string
	Device  string
	Base    string
	Created time.Time
	Attempt int
}

// Outbox is the queue of mail in the shared store. Several hosts work on one
// outbox at the same time: whoever leases an item holds it until the lease ends,
// so that a host that died in between is followed up by another. All methods are
// safe for concurrent use, and each is one short transaction.
//
// The methods that end a lease carry the attempt that it was for. Where the item
// has been leased again since, RetryMail and BuryMail change nothing and return
// nil: the newer holder decides.
type Outbox interface {
	// LeaseMail takes the item that has been due longest at now and that nobody
	// holds, holds it until the given time, counts the attempt, and returns it;
	// the zero Item when there is none. With nothing due it only reads.
	LeaseMail(ctx context.Context, now, until time.Time) (Item, error)
	// MailDone deletes the item: it was sent, or is no longer wanted. That it is
	// gone already is no error.
	MailDone(ctx context.Context, id string) error
	// RetryMail ends the lease and makes the item due at next. The reason is kept
	// for the operator; it holds no secret and at most 500 bytes.
	RetryMail(ctx context.Context, id string, attempt int, next time.Time, reason string) error
	// BuryMail ends the lease for good: the item is never leased again and is
	// kept, with its reason, for the operator until the store sweeps it.
	BuryMail(ctx context.Context, id string, attempt int, now time.Time, reason string) error
}

// Letter holds what is looked up or minted only when the mail is sent.
type Letter struct {
	// To is the recipient's address, without a display name.
	To string
	// Name is the person's name, for the greeting; may be empty.
	Name string
	// Link is the absolute URL with a freshly minted token, for PasswordReset. It
	// is a secret: it goes into the mail and nowhere else. For PasswordChanged it is that
	// of the screen where such a link is asked for.
	Link string
	// Logo is the absolute URL of a picture that mail programs show, empty for the name
	// of the application in its place.
	Logo string
	// Host is the host of the links, as the mail shows it; empty for [Options.Host].
	Host string
	// ValidFor is how long the link works; shown in whole minutes.
	ValidFor time.Duration
}

// Resolve turns an item into a letter when it is about to be sent, minting the
// token. It returns an error that is [ErrNotWanted] when the user is gone,
// disabled or has no address, and any other error when the attempt is to be
// repeated. The item's UserID is never empty.
type Resolve func(ctx context.Context, item Item) (Letter, error)

// ErrNotWanted is returned by a [Resolve] function for an item that must not be
// sent any more. The worker deletes the item.
var ErrNotWanted = errors.New("mail no longer wanted")
