package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A password rests after restAfter failures without a success between them, over all
// clients (NIST SP 800-63B-4, 3.2.2). No time ends that: restsFor only stands for never,
// in the column that all counters have.
const (
	restAfter = 100
	restsFor  = 100 * 365 * 24 * time.Hour
)

// Somebody is told of manyFailures within a day.
const (
	manyFailures = 100
	failuresFor  = 24 * time.Hour
)

// An attempt is an attempt to sign in, and what it is counted by. Its place in the order
// of failures and successes is where it was counted, before its hash: a success forgets
// the guesses that are still under way.
type attempt struct {
	// field is the field at fault where the attempt is refused, and failure the event of a wrong password.
	field, failure string
	known          known
	// client is the counter of the client over all names, and name that of the login name
	// at the client or at a browser that is known.
	client, name Counter
	// account is the counter of the account over all clients; zero while the attempt does
	// not count there.
	account Counter
	// last reports that this is the last attempt before the password rests.
	last bool
	// before holds the effects of an identity provider, which are committed with the session.
	before []pluginsdk.Effect
	// link is the identity that the sign-in links once the person is settled; nil for none.
	link *identity.Link
	// use keeps what the sign-in uses up, in the transaction that begins its session; nil for nothing.
	use func(ctx context.Context) error
}

// restLimit is how many failures a password takes. The throttle of one window is never
// the larger one.
func (p *Pipeline) restLimit() int { return max(restAfter, p.Attempts) }

// accountCounters returns the counters of all clients together and of a day. Those of a
// known person go by the id, so that no spelling and no new address evades them; those of
// an unknown name by the name.
func accountCounters(user User, isKnown bool, login string) (account, day Counter) {
	if isKnown {
		return Counter{Kind: countPassword, Login: user.ID}, Counter{Kind: countPasswordDay, Login: user.ID}
	}
	return Counter{Kind: CountUnknown, Login: folded(login)}, Counter{Kind: countUnknownDay, Login: folded(login)}
}

// takeAccount counts an attempt by its account, and fails if the password rests. A
// browser that is known goes on then, by its own counter alone. An attempt that is
// refused is no failure, and does not count.
func (p *Pipeline) takeAccount(r *http.Request, a *attempt, account Counter, user User) error {
	a.account, a.last = Counter{}, false // of an earlier try
	count, _, err := p.Throttle.Hit(r.Context(), account, p.Now(), restsFor)
	if err != nil {
		return err
	}
	if count <= p.restLimit() {
		a.account, a.last = account, count == p.restLimit()
		return nil
	}
	p.refundAttempt(r, account)
	if a.known.signedIn(user) {
		return nil
	}
	return &fault.Fault{Code: fault.PasswordRests, Fields: []fault.Field{{Field: a.field, Code: fault.PasswordRests}}}
}

// failed notes that an attempt had a wrong password: once when the password begins to
// rest, and once when there were many within a day, which the person is told by mail. A
// name that nobody has costs the same writes.
func (p *Pipeline) failed(r *http.Request, a *attempt, day Counter, user User) error {
	if a.last {
		p.lockedOut(r, a.account, p.restLimit())
	}
	count, _, err := p.Throttle.Hit(r.Context(), day, p.Now(), failuresFor)
	if err != nil || count != manyFailures {
		return err
	}
	if user.ID != "" {
		p.Logger.Warn("a hundred sign-ins of one person failed within a day", "request_id", RequestOf(r.Context()).ID, "user", user.ID)
	}
	// Not in the language of the request, which is that of whoever guesses.
	return p.Mailer.QueueNotice(r.Context(), noticeFailures, user.ID, "", "")
}
