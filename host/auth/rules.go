package auth

import (
	"cmp"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
)

// PasswordFormat is "argon2id", "bcrypt" or "keep", which leaves each user the
// format that the stored hash has.
type PasswordFormat = password.Format

// Rules are the numbers of sign-in. The zero value of a field means its default.
type Rules struct {
	// LoginField is the column that people sign in with, "email" by default.
	LoginField string
	// Attempts failed logins are allowed in Window for a login name and client,
	// five in 60 s by default.
	Attempts int
	Window   time.Duration
	// ClientAttempts failed logins are allowed in Window for one client over all
	// names, 100 by default.
	ClientAttempts int
	// ResetLifetime is how long a reset link works, 60 min by default.
	ResetLifetime time.Duration
	// ResetResend is the least time between two mails to one address, 60 s by
	// default. It doubles after each mail, to one hour at most, and is itself again
	// after a day without one.
	ResetResend time.Duration
	// ResetAttempts forgot requests, and resets with a token that is not valid, are
	// allowed in Window by address and by client, five by default.
	ResetAttempts int
	// PasswordHash is the format of new passwords, and what becomes of others at the
	// next sign-in; argon2id by default.
	PasswordHash PasswordFormat
	// PasswordOff refuses login, forgotten passwords and resets: other proofs alone sign
	// people in.
	PasswordOff bool
	// MinLength is of a new password, in characters, 12 by default.
	MinLength int
	// TokenLifetime is the most that a machine token may last, 8760 h by default.
	TokenLifetime time.Duration
	// OwnTokens lets people make machine tokens of their own.
	OwnTokens bool
	// PasskeysOff offers and takes no passkeys.
	PasskeysOff bool
	// PasskeyRPID is the RP id of passkeys, the host name of the site where it is empty. It is that host name or the end of
	// it, such as "example.com".
	PasskeyRPID string
	// Recent is how fresh the proof of a session must be before what somebody signs in
	// with is changed, 10 min by default.
	Recent time.Duration
	// Remember is how long a device stays signed in without use, 720 h by default.
	Remember time.Duration
}

// withDefaults returns r with every zero field at its default.
func (r Rules) withDefaults() Rules {
	r.LoginField = cmp.Or(r.LoginField, "email")
	r.Attempts = cmp.Or(r.Attempts, 5)
	r.Window = cmp.Or(r.Window, time.Minute)
	r.ClientAttempts = cmp.Or(r.ClientAttempts, 100)
	r.ResetLifetime = cmp.Or(r.ResetLifetime, time.Hour)
	r.ResetResend = cmp.Or(r.ResetResend, time.Minute)
	r.ResetAttempts = cmp.Or(r.ResetAttempts, 5)
	r.PasswordHash = cmp.Or(r.PasswordHash, password.Argon2id)
	r.MinLength = cmp.Or(r.MinLength, 12)
	r.TokenLifetime = cmp.Or(r.TokenLifetime, 8760*time.Hour)
	r.Recent = cmp.Or(r.Recent, 10*time.Minute)
	r.Remember = cmp.Or(r.Remember, 720*time.Hour)
	return r
}
