package host_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// A result is what became of an operation: done, refused, or the text of a failure,
// which no race may lead to.
type result string

const (
	done    result = "done"
	refused result = "refused"
)

func resultOf(err error) result {
	switch {
	case err == nil:
		return done
	case errors.Is(err, auth.ErrNotFound), strings.HasPrefix(err.Error(), "no session "), strings.HasPrefix(err.Error(), "no user "):
		return refused
	}
	return result("failed: " + err.Error())
}

// An operation is one side of a race, carried out by host 0 or 1.
type operation struct {
	name string
	run  func(s *scene, ctx context.Context, on int) result
	// disabled says that the person is disabled before.
	disabled bool
}

func operations() []operation {
	return []operation{
		{name: "sign in", run: (*scene).signIn},
		{name: "come back", run: (*scene).comeBack},
		{name: "come back within the grace", run: (*scene).comeBackLate},
		{name: "reset", run: (*scene).reset},
		{name: "disable", run: (*scene).disable},
		{name: "enable", run: (*scene).enable, disabled: true},
		{name: "revoke", run: (*scene).revoke},
		{name: "revoke all", run: (*scene).revokeAll},
		{name: "sign out", run: (*scene).signOut},
		{name: "delete", run: (*scene).delete},
		{name: "effect", run: (*scene).effect},
	}
}

func (s *scene) signIn(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/login", fmt.Sprintf(`{"login":%q,"password":%q,"remember":true}`, s.email, adaPassword))
}

func (s *scene) comeBack(ctx context.Context, on int) result {
	return s.request(ctx, on, "GET", "/auth/intents/current", "", s.laptop.deviceCookie(s.laptop.verifier))
}

func (s *scene) comeBackLate(ctx context.Context, on int) result {
	return s.request(ctx, on, "GET", "/auth/intents/current", "", s.laptop.deviceCookie(s.laptop.older))
}

func (s *scene) reset(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/reset-password", fmt.Sprintf(
		`{"token":%q,"email":%q,"password":%q,"password_confirmation":%[3]q}`, s.token, s.email, newPassword))
}

func (s *scene) disable(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.SetDisabled(ctx, s.email, true))
}

func (s *scene) enable(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.SetDisabled(ctx, s.email, false))
}

func (s *scene) revoke(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.RevokeSession(ctx, hex.EncodeToString(s.laptop.hash)[:16]))
}

func (s *scene) revokeAll(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.RevokeUser(ctx, s.email))
}

func (s *scene) signOut(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/logout", "", s.laptop.sessionCookie(), s.laptop.deviceCookie(s.laptop.verifier))
}

// delete is what the application does with its own table.
func (s *scene) delete(ctx context.Context, on int) result {
	_, err := s.hosts[on].db.Writer().ExecContext(ctx, s.bind(`DELETE FROM users WHERE email = ?`), s.email)
	return resultOf(err)
}

func (s *scene) effect(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/intents/org-setup", fmt.Sprintf(`{"legal_form":1,"org_name":"effect-%d",`+
		`"company_size":"solo","function":"developer","marketing_consent":false}`, on), s.laptop.sessionCookie())
}
