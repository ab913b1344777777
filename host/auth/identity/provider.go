package identity

import (
	"fmt"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// A Rule names the way in which an identity that nobody has is linked. The zero value is [LinkNever].
type Rule string

// The rules.
const (
	// LinkNever links on the account screen alone.
	LinkNever Rule = "never"
	// LinkConfirm links at the next sign-in of the browser.
	LinkConfirm Rule = "confirm"
	// LinkVerifiedEmail links to the one user whose verified address is that of the identity.
	LinkVerifiedEmail Rule = "verified_email"
)

// A Provider is a provider of accounts elsewhere with which people sign in.
type Provider struct {
	// Name is part of addresses, and Label is on the button.
	Name, Label string
	Link        Rule
	// Create makes a user for an identity that nobody has, if its address is verified and no user's.
	Create bool
}

// Check returns an error for providers that no host can have.
func Check(list []Provider) error {
	names := map[string]bool{}
	for _, one := range list {
		switch {
		case !reserved.IdentityName(one.Name):
			return fmt.Errorf("no identity may be named %q: %s", one.Name, reserved.IdentityNameRule)
		case names[one.Name]:
			return fmt.Errorf("two identities are named %q: rename one of them", one.Name)
		case !slices.Contains([]Rule{"", LinkNever, LinkConfirm, LinkVerifiedEmail}, one.Link):
			return fmt.Errorf("the identity %q: the rule for links is %q: write never, confirm or verified_email", one.Name, one.Link)
		}
		names[one.Name] = true
	}
	return nil
}

// Path returns the path where a sign-in with a provider begins. The provider sends the browser back to /callback below it.
func Path(name string) string { return "/auth/identity/" + name }

// An Own is an identity as its person knows it.
type Own struct {
	Name, Label string
	Linked      time.Time
}
