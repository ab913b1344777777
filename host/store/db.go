package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
)

// ErrTaken is returned by [DB.AddUser] when another user has the address,
// compared without regard to case.
var ErrTaken = identity.ErrTaken

// A DB is the shared database. Open one with host/store/sqlite, postgres or
// mysql. All methods are safe for concurrent use, and all but those that say
// otherwise join the transaction that the context carries, see [DB.InTx].
type DB struct {
	*shared
	settings Settings
}

// Settings are the settings of a [DB].
type Settings struct {
	// Now is the clock of what has no time from its caller, such as updated_at;
	// [time.Now] when nil.
	Now func() time.Time
	// Wait is how long any call may wait for a connection, for a lock, or for the
	// database to come back, with its work in the end; 10 s when zero.
	Wait time.Duration
	// Active reports whether a person may sign in, by the columns of the row in users
	// but for credentials, as [auth.User] has them; nil lets everybody in who is not
	// disabled. It is asked for each row of users that is read.
	Active func(columns map[string]any, now time.Time) bool
}

// shared holds the pools and caches that a DB shares with its copies.
type shared struct {
	dialect        Dialect
	writer, reader *sqlx.DB
	probe          *DB // on the one connection of Ready; nil in a probe
	path           string
	users          atomic.Pointer[userTable]
	doubtful       holds       // leases in the outbox
	unlogged       atomic.Bool // TryWrite has found that the server does not know Dialect.Logged
	sessionQuery   string      // selects a session by its hash
}

// New makes a DB of open pools. Only the engine packages need it. Reader and
// writer may be the same pool; probe is that of [DB.Ready], which needs one
// connection; path is the database's file, empty for servers.
func New(d Dialect, writer, reader, probe *sqlx.DB, path string) *DB {
	db := (&DB{shared: &shared{dialect: d, writer: writer, reader: reader, path: path}}).With(Settings{})
	db.sessionQuery = db.rebind(`SELECT ` + sessionColumns + ` FROM vestibule_sessions s WHERE s.hash = ?`)
	db.probe = (&DB{shared: &shared{dialect: d, writer: probe, reader: probe, path: path}}).With(Settings{})
	return db
}

// With returns a copy of db with other settings. The copy shares connections, caches and
// transactions with db. Closing one of them closes both.
func (db *DB) With(s Settings) *DB {
	if s.Now == nil {
		s.Now = time.Now
	}
	s.Wait = cmp.Or(s.Wait, 10*time.Second)
	return &DB{db.shared, s}
}

// Settings returns the settings of db, with the defaults of those that were zero.
func (db *DB) Settings() Settings { return db.settings }

// Close closes all connections. It waits for statements that are running.
func (db *DB) Close() error {
	err := errors.Join(db.probe.writer.Close(), db.writer.Close())
	if db.reader == db.writer {
		return err
	}
	return errors.Join(err, db.reader.Close())
}

// SetMaxConnections bounds the connections to a server to n, and on SQLite those
// that read; there one more writes. [DB.Ready] has one more in any case. Without
// it there are up to 20, on SQLite as many as processors and 4 at least.
func (db *DB) SetMaxConnections(n int) {
	db.reader.SetMaxOpenConns(n)
	db.reader.SetMaxIdleConns(n)
}

// Engine returns sqlite, postgres or mysql, the driver's name in config.hcl.
func (db *DB) Engine() string { return db.dialect.Name }

// Path returns the absolute path of a SQLite database; it is empty for servers.
func (db *DB) Path() string { return db.path }

// Reader returns a pool for reading: on SQLite its connections refuse to write.
func (db *DB) Reader() *sqlx.DB { return db.reader }

// Writer returns the pool for writing. On SQLite it has one connection, which
// every sign-in waits for: hold it briefly, and never call a method of DB
// meanwhile. A server ends a transaction that stands still for 3 s.
func (db *DB) Writer() *sqlx.DB { return db.writer }

// Users returns the people in the stock table users.
func (db *DB) Users() auth.Users { return users{db} }

// Throttle returns the counters of attempts.
func (db *DB) Throttle() auth.Throttle { return throttle{db} }

// ResetTokens returns the rights to set a new password.
func (db *DB) ResetTokens() auth.ResetTokens { return resetTokens{db, resetClaims, true} }

// Invitations returns the rights of invited people to set their first password or passkey.
func (db *DB) Invitations() auth.ResetTokens { return resetTokens{db, invitations, false} }

// Devices returns the devices that stay signed in.
func (db *DB) Devices() auth.Devices { return devices{db} }

// Tokens returns the machine tokens.
func (db *DB) Tokens() auth.Tokens { return tokens{db} }

// Passkeys returns the passkeys.
func (db *DB) Passkeys() passkey.Store { return passkeys{db} }

// Identities returns the accounts elsewhere that people sign in with.
func (db *DB) Identities() identity.Store { return identities{db} }

// Sessions returns the sessions.
func (db *DB) Sessions() auth.SessionRows { return sessions{db} }

// GuestKeys returns the keys that sign the cookies of guests.
func (db *DB) GuestKeys() keyring.Keys { return keys{db, "guest_keys"} }

// AssertionKeys returns the keys that sign assertions for applications.
func (db *DB) AssertionKeys() keyring.Keys { return keys{db, "assertion_keys"} }

// Outbox returns the mails and events to deliver.
func (db *DB) Outbox() Outbox { return Outbox{db} }

// Backup writes a consistent copy of a SQLite database into file, which must not
// exist, while the database is in use. Other engines have programs for that; the
// error names them. It does not join a transaction.
func (db *DB) Backup(ctx context.Context, file string) error {
	if db.dialect.Backup == nil {
		return fmt.Errorf("backup copies SQLite databases only: use %s for this one", db.dialect.BackupTool)
	}
	if err := db.dialect.Backup(ctx, db.reader, file); err != nil {
		return fmt.Errorf("back up the database: %w", err)
	}
	return nil
}
