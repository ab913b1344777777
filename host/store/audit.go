package store

import "context"

// Audit writes down what an operator did, and to whom or what. The row is part of the
// transaction of ctx, so that it is there exactly when the act has happened. Nothing
// of ours deletes it.
func (db *DB) Audit(ctx context.Context, operator, act, subject string) error {
	return db.run(ctx, "write audit row", `INSERT INTO vestibule_audit (at, operator, act, subject) VALUES (?, ?, ?, ?)`,
		ms(db.Now()), clip(operator, 255), clip(act, 64), clip(subject, 255))
}
