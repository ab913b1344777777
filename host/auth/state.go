package auth

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/auth/target"
)

// A State is how far a session has come. There are four, and this is how a session
// goes from one to another:
//
//	guest ----- sign-in ------> open, held or settled, as the dispenser answers
//	guest ----- device -------> open or held as the device was; else open and not asked
//	                            about yet, or settled where no dispenser is configured
//	open ------ its form -----> open, held or settled, as the dispenser answers
//	held ------ the page posts, or the person goes to /login: the same
//	not asked - the person goes to /login: the same; so is a session of which the store
//	            does not say how far it has come, in a format that this release knows
//	any ------- sign-out -----> guest
//
// A settled session stays settled, also while a step that the person has asked for lies
// beside it ([Session.Asked]). Each step from one to another is one transaction
// that replaces the stored session only if nobody has replaced it before, so that of
// parallel requests one takes it.
type State string

// The states. A held person is at a page of the application and sees only what is
// open to them ([Session.Opened]); an open step is one of the front-end app.
const (
	StateGuest   State = ""
	StateOpen    State = "open"
	StateHeld    State = "held"
	StateSettled State = "settled"
)

// State returns the state of the session.
func (s Session) State() State {
	switch {
	case !s.SignedIn():
		return StateGuest
	case s.Unasked:
		return StateOpen
	case s.Intent == nil || s.Intent.Ends():
		return StateSettled
	case s.Intent.Held():
		return StateHeld
	}
	return StateOpen
}

// SignedIn reports whether the session is a user's and not a guest's.
func (s Session) SignedIn() bool { return s.UserID != "" }

// Settled reports whether the intent loop has ended.
func (s Session) Settled() bool { return s.State() == StateSettled }

// open returns the step that the person is at: that of the loop, or one that they have asked
// for while settled; nil for none.
func (s Session) open() *OpenIntent {
	if s.Settled() {
		return s.Asked
	}
	return s.Intent
}

// due reports whether the dispenser is asked when the person goes to /login.
func (s Session) due() bool { return s.Unasked || s.State() == StateHeld }

// Opened returns the decoded paths at or below which a held session may see
// everything: that of the target, and the prefixes. It is empty for any other session.
func (s Session) Opened() []string {
	if s.State() != StateHeld {
		return nil
	}
	return target.Opened(s.Intent.Target(), s.Intent.Prefixes())
}

// OpensOData reports whether a held session may query /odata/: where a prefix names
// it as a whole, since a query can reach every set.
func (s Session) OpensOData() bool {
	return s.State() == StateHeld && slices.ContainsFunc(s.Intent.Prefixes(), target.IsOData)
}
