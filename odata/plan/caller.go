package plan

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Caller is who asks, as far as guards and row policies need to know.
type Caller struct {
	// SignedIn tells that there is a user; Settled that the user's intent loop has ended, too.
	SignedIn, Settled bool
	// ID names the user: what belongs to one user alone, such as the requests that are remembered for repeating, is bound to it.
	// It is empty for guests.
	ID string
	// ReadOnly is the code of the fault 403 with which every change of data is refused, such as "token_reads_only" for a machine
	// token without the right to write; empty where changes are decided by guards and sets.
	ReadOnly string
	// Next is the step at which an unsettled user is, in JSON, for the answer 403; nil for none.
	Next []byte
	// User holds the columns of the user's record by name, for @user_COLUMN in row policies, never credentials: nil, bool, integers,
	// floats, string, []byte, or time.Time. A missing or nil column lets no row pass.
	User map[string]any
	// Locale is the language of the caller in BCP 47, such as "de", for the messages of validators; empty if it is not known.
	Locale string
	// Client is whom the request counts for where clients have shares, such as a user or an address; it opens nothing.
	Client string
}

// Column returns the value of a column of the user: of that name, or else of the only one that differs by case alone. It
// is nil when there is none.
func (c Caller) Column(name string) any {
	if v, ok := c.User[name]; ok {
		return v
	}
	var found any
	alike := 0
	for candidate, v := range c.User {
		if strings.EqualFold(candidate, name) {
			found, alike = v, alike+1
		}
	}
	if alike != 1 {
		return nil
	}
	return found
}

// Pass tells whether a guard lets the caller in: nil, or an *Error of kind Unauthenticated or Forbidden.
func (c Caller) Pass(g edm.Guard) error {
	switch {
	case g == edm.GuardNone:
		return nil
	case !c.SignedIn:
		return Errorf(Unauthenticated, -1, "sign in first")
	case g == edm.GuardSettled && !c.Settled:
		return Errorf(Forbidden, -1, "finish signing in first")
	}
	return nil
}
