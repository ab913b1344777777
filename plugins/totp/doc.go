// Totp is a dispenser that asks for a second factor: the six digits that an
// authenticator app shows (RFC 6238), or a recovery code. It holds the person at a
// page of the application until one of them was right, and sets the factor up where
// there is none:
//
//	plugin "totp" {
//	  command    = ["bin/totp"]
//	  roles      = ["dispenser"]
//	  user_read  = ["second_factor"]
//	  user_write = ["second_factor"]
//	  config {
//	    key    = env("TOTP_KEY")      # openssl rand -base64 32
//	    page   = "/second-factor"     # a route with guard = "session"
//	    issuer = "Fernweh"            # what the app shows
//	  }
//	}
//
// The column is a text of at least 2,000 characters. What it holds, the secret of the
// app, the last code that counted and the hashes of the recovery codes, is sealed with
// the key for that one user, and every change names the value that it replaces: so a
// code counts once, on any host, and the row of one user is of no use to another.
// An operator who sets the column to null lets the person begin anew.
//
// Who has signed in may ask for the step from their account, and set up one more app, make new
// recovery codes, or turn the factor off where it is offered only: see account.go.
//
// The page posts to /auth/intents/redirect; docs/how-to/totp.md has its fields and the answers.
//
// Start reading at factor.Dispense in dispense.go.
package main
