package pluginsdk

import (
	"context"
	"errors"
)

// A Dispenser decides which step a person must complete. It is asked once after
// the credentials were right, and again after every satisfied step.
//
// It must terminate: the step that it dispenses must change the state that it
// tests. Dispense may be called from several goroutines at once, and a second
// time for the same request when the first process died; only one answer is
// used. An error means that no decision could be made: the sign-in fails with
// 503 and nothing is changed.
type Dispenser interface {
	Dispense(ctx context.Context, user User, req *Request) (Intent, error)
}

// An OrgSetupHandler receives the organisation form, which the host has already
// validated. Handle may be called from several goroutines at once. The host
// never repeats a call by itself, but a person may submit the same step again:
// [Request.IntentID] is the same then. An error means that the form could not
// be judged: the answer is 503 and the loop stays where it is.
type OrgSetupHandler interface {
	Handle(ctx context.Context, user User, req *Request) (Result, error)
}

// DispenserFunc lets an ordinary function be a [Dispenser].
type DispenserFunc func(ctx context.Context, user User, req *Request) (Intent, error)

// Dispense calls f.
func (f DispenserFunc) Dispense(ctx context.Context, user User, req *Request) (Intent, error) {
	return f(ctx, user, req)
}

// OrgSetupFunc lets an ordinary function be an [OrgSetupHandler].
type OrgSetupFunc func(ctx context.Context, user User, req *Request) (Result, error)

// Handle calls f.
func (f OrgSetupFunc) Handle(ctx context.Context, user User, req *Request) (Result, error) {
	return f(ctx, user, req)
}

// ErrUnavailable says that a plugin is down, late, restarting, or over its
// concurrency: no decision was made and the caller may try again.
var ErrUnavailable = errors.New("plugin unavailable")

// ErrContract says that a plugin answered with something that the contract
// forbids, such as no intent, an unknown kind, or an effect that is not granted.
var ErrContract = errors.New("plugin broke the contract")
