package store

import "context"

// Audit adds a row to vestibule_audit: what an operator did, and to whom or what. It
// joins the transaction of ctx, so that the row is there exactly when the act has
// happened. Vestibule never deletes such rows.
func (db *DB) Audit(ctx context.Context, operator, act, subject string) error {
	return db.run(ctx, "write audit row", `INSERT INTO vestibule_audit (at, operator, act, subject) VALUES (?, ?, ?, ?)`,
		ms(db.settings.Now()), clip(operator, 255), clip(act, 64), clip(subject, 255))
}
