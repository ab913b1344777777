package host

import (
	"context"
	"os"
	"os/user"
	"strconv"
)

// systemUser names who runs this process, and with sudo who asked for it.
func systemUser() string {
	uid := os.Getuid()
	name := "uid " + strconv.Itoa(uid)
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); uid == 0 && by != "" {
		name += " (sudo by " + by + ")"
	}
	return name
}

// act carries out what an operator does, with a row of vestibule_audit in the same
// transaction and a line in the log after it.
func (a *Admin) act(ctx context.Context, name, subject string, do func(ctx context.Context) error) error {
	return a.actOn(ctx, name, func() string { return subject }, do)
}

// actOn is act for a subject that is known once the act is done.
func (a *Admin) actOn(ctx context.Context, name string, subject func() string, do func(ctx context.Context) error) error {
	err := a.db.InTx(ctx, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return a.db.Audit(ctx, a.operator, name, subject())
	})
	if err == nil {
		a.log.Info("audit", "event", name, "operator", a.operator, "subject", subject())
	}
	return err
}
