package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
)

// The purposes of mail that this package has templates for. They are the words
// of the column purpose in the outbox.
const (
	PasswordReset   = "password_reset"   // the link to set a new password
	PasswordChanged = "password_changed" // the notice that one was set
	TokenAdded      = "token_added"      // the notice of a new machine token
	PasskeyAdded    = "passkey_added"    // the notice of a new passkey
	IdentityAdded   = "identity_added"   // the notice of a new identity
	ManyFailures    = "many_failures"    // the notice of a hundred failed sign-ins in a day
	Invitation      = "invitation"       // the link to set the first password
)

// Purposes are the mails that there are.
func Purposes() []string {
	return []string{PasswordReset, PasswordChanged, TokenAdded, PasskeyAdded, IdentityAdded, ManyFailures, Invitation}
}

// Outcomes are the words of metrics for each [outbox.Outcome].
func Outcomes() []string { return []string{"sent", "retried", "returned", "dead", "dropped"} }

const (
	sendTimeout = 30 * time.Second // of one attempt
	lease       = 2 * time.Minute
	parallel    = 2 // mails sent at the same time
	attempts    = 10
	firstPause  = 10 * time.Second
)

// Letter holds what is looked up or minted only when the mail is sent.
type Letter struct {
	// To is the recipient's address, without a display name.
	To string
	// Name is the person's name, for the greeting; may be empty.
	Name string
	// Link is the absolute URL with a freshly minted token, for PasswordReset and
	// Invitation. It is a secret: it goes into the mail and nowhere else. For PasswordChanged
	// it is that of the screen where such a link is asked for.
	Link string
	// Logo is the absolute URL of a picture that mail programs show, empty for the name
	// of the application in its place.
	Logo string
	// Host is the host of the links, as the mail shows it; empty for [Options.Host].
	Host string
	// ValidFor is how long the link works; shown in whole minutes or days.
	ValidFor time.Duration
	// Passkey reports that nobody has a password: the link of an Invitation is for a passkey, and that of a notice is
	// the address of the account.
	Passkey bool
	// Elsewhere reports that accounts elsewhere alone sign people in: the link of an Invitation is for one of them.
	Elsewhere bool
	// Texts are those of a plugin's mail.
	Texts map[string]string
	// Passkeys and Identities are those of the person, for the mails about the password.
	Passkeys, Identities []Way
}

// Item is a mail in the outbox.
type Item = outbox.Item

// Resolve turns an item into a letter when it is about to be sent, minting the
// token. It returns an error that is [ErrNotWanted] when the user is gone,
// disabled or has no address, and any other error when the attempt is to be
// repeated. The item's UserID is never empty.
type Resolve func(ctx context.Context, item Item) (Letter, error)

// ErrNotWanted is returned by a [Resolve] function for an item that must not be
// sent any more. The worker deletes the item.
var ErrNotWanted = outbox.ErrUnwanted

// Options configure a worker. Config, Outbox, Resolve, Log and Now are needed.
type Options struct {
	Config  Config
	Outbox  outbox.Store
	Resolve Resolve
	// App is the application's name and Host that of its public address, as the
	// mails show them. An empty App is the display name of Config.From, and
	// "Vestibule" where that has none.
	App, Host string
	// Sender replaces the transport of Config when not nil.
	Sender Sender
	Log    hclog.Logger
	Now    func() time.Time
	// Observe is called with every outcome, for counters. It must be fast and safe for
	// concurrent use.
	Observe func(purpose, outcome string)
}

// Worker sends the mails of the outbox.
type Worker struct {
	*outbox.Worker
	o         Options
	templates atomic.Pointer[Templates]
	from      string
}

// NewWorker checks the options and loads the templates. The error names every
// fault of the configuration and how to mend it.
func NewWorker(o Options) (*Worker, error) {
	from, fromErr := o.Config.sender()
	templates, tmplErr := LoadTemplates(o.Config.Templates, o.Config.Mails...)
	sender, sendErr := o.Sender, error(nil)
	if sender == nil {
		sender, sendErr = NewSender(o.Config, o.Log)
	}
	if err := errors.Join(fromErr, sendErr, tmplErr); err != nil {
		return nil, err
	}
	o.Sender, o.App = sender, cmp.Or(o.App, o.Config.displayName())
	w := &Worker{o: o, from: from}
	w.templates.Store(templates)
	w.Worker = outbox.New(w, outbox.Options{Store: o.Outbox, Log: o.Log, Now: o.Now, Lease: lease, Parallel: parallel})
	return w, nil
}

// Load reads the templates again, with those of the mails that plugins send from now on.
// [Worker.Use] makes the worker use them.
func (w *Worker) Load(mails []string) (*Templates, error) {
	return LoadTemplates(w.o.Config.Templates, mails...)
}

// Use makes the worker render the mails that it sends from now on with t.
func (w *Worker) Use(t *Templates) { w.templates.Store(t) }

// Listeners returns one empty name: mails have no listener.
func (w *Worker) Listeners() []string { return []string{""} }

// Deliver sends the item's mail, if it is still wanted. Its error has no link or token.
func (w *Worker) Deliver(ctx context.Context, item Item) error {
	if item.UserID == "" {
		return ErrNotWanted
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := w.send(ctx, item); err != nil {
		return redacted{err}
	}
	return nil
}

func (w *Worker) send(ctx context.Context, item Item) error {
	letter, err := w.o.Resolve(ctx, item)
	if err != nil {
		return fmt.Errorf("prepare the mail: %w", err)
	}
	content, err := w.templates.Load().Render(item.Purpose, item.Locale, Data{
		App: w.o.App, Host: cmp.Or(letter.Host, w.o.Host), Name: letter.Name, Email: letter.To,
		Link: letter.Link, Minutes: minutes(letter.ValidFor), Days: days(letter.ValidFor), Passkey: letter.Passkey, Elsewhere: letter.Elsewhere, Logo: letter.Logo, Device: item.Device, At: item.Created, Passkeys: letter.Passkeys, Identities: letter.Identities,
		texts: letter.Texts,
	})
	if err != nil {
		return err
	}
	return w.o.Sender.Send(ctx, Message{
		Purpose: item.Purpose, From: w.o.Config.From, To: letter.To,
		Subject: content.Subject, Text: content.Text, HTML: content.HTML, Lang: content.Lang,
		ID: newID(w.from), Date: w.o.Now(),
	})
}

// Pause returns the pause after a failed attempt: 10 s, doubled every time up to 15 min, of
// which a random quarter is taken off, so that mails that failed together are not retried
// together. After ten attempts, which take about an hour, it gives the mail up.
func (w *Worker) Pause(item Item, _ time.Time) time.Duration {
	if item.Attempt >= attempts {
		return 0
	}
	d := outbox.Backoff(firstPause, item.Attempt)
	return d - rand.N(d/4)
}

// Observe counts the outcome.
func (w *Worker) Observe(item Item, o outbox.Outcome) { w.o.Observe(item.Purpose, Outcomes()[o]) }
