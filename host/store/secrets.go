package store

import (
	"context"
)

// secretsLock is the row of vestibule_locks that new secrets wait for.
const secretsLock = "secrets"

// Secret returns the secret of a name. If there is none, it keeps fresh and returns it;
// of several hosts that try, one does.
func (db *DB) Secret(ctx context.Context, name string, fresh []byte) ([]byte, error) {
	secret, err := db.findSecret(ctx, name)
	if err != nil || secret != nil {
		return secret, err
	}
	err = db.InTx(ctx, func(ctx context.Context) error {
		if err := db.lock(ctx, secretsLock); err != nil {
			return err
		}
		// Another host may have made it before this one got the lock.
		if secret, err = db.findSecret(ctx, name); err != nil || secret != nil {
			return err
		}
		secret = fresh
		return db.run(ctx, "make a secret", `INSERT INTO vestibule_secrets (name, created, secret) VALUES (?, ?, ?)`, name, ms(db.settings.Now()), fresh)
	})
	return secret, err
}

// findSecret returns the secret of a name, nil if there is none.
func (db *DB) findSecret(ctx context.Context, name string) ([]byte, error) {
	var found [][]byte
	if err := db.list(ctx, "read a secret", &found, `SELECT secret FROM vestibule_secrets WHERE name = ?`, name); err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}
