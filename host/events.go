package host

import (
	"context"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// subscribers are those who want to know of an event.
type subscribers struct {
	list []func(context.Context, auth.PasswordReset)
	log  hclog.Logger
}

// passwordReset calls each subscriber in turn. The password is changed by then, so
// that a subscriber's panic must not look like a failure.
func (s subscribers) passwordReset(ctx context.Context, e auth.PasswordReset) {
	for _, f := range s.list {
		func() {
			defer func() {
				if cause := recover(); cause != nil {
					s.log.Error("a subscriber of PasswordReset panicked", "user", e.UserID, "cause", cause, "stack", string(debug.Stack()))
				}
			}()
			f(ctx, e)
		}()
	}
}
