package sqlsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Migrate makes the table vestibule_requests where it is missing, in which requests are remembered that can be repeated, and
// reports whether it did. A model in which nothing can be written needs none. Any number of programs may call it at once.
// Call it before the source is used.
func (s *Source) Migrate(ctx context.Context) (made bool, err error) {
	if !s.writes() {
		return false, nil
	}
	there, err := s.Migrated(ctx)
	switch {
	case err != nil:
	case there:
		err = s.mayRemember(ctx)
	default:
		err = s.run(ctx, sqltext.Requests(s.dialect).Create)
		made = err == nil
		if now, look := s.Migrated(ctx); look == nil && now { // PostgreSQL refuses the second of two at once
			err = nil
		}
	}
	if err != nil {
		return false, fmt.Errorf("the table vestibule_requests: %w", err)
	}
	s.remembers = true
	return made, nil
}

// MayMigrate returns the reason for which Migrate would fail; nil if it knows none. It changes nothing.
func (s *Source) MayMigrate(ctx context.Context) error {
	there, err := s.Migrated(ctx)
	switch {
	case err != nil || !s.writes():
	case there:
		err = s.mayRemember(ctx)
	default:
		if err = s.tryWrite(ctx, sqltext.Requests(s.dialect).MayCreate); engine.NamesTwice(err) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("the table vestibule_requests: %w", err)
	}
	return nil
}

// mayRemember tries what the user of the database has to do with the table.
func (s *Source) mayRemember(ctx context.Context) error {
	for _, statement := range sqltext.Requests(s.dialect).Nothing {
		if err := s.tryWrite(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Migrated reports whether Migrate has nothing to do.
func (s *Source) Migrated(ctx context.Context) (bool, error) {
	if !s.writes() {
		return true, nil
	}
	there := false
	err := engine.Ask(ctx, s.db, 1, func([]engine.Cell) bool { there = true; return false }, sqltext.Requests(s.dialect).Find)
	return there, err
}

func (s *Source) writes() bool {
	for _, set := range s.model.Sets {
		if set.Write != nil {
			return true
		}
	}
	return false
}

// run runs statements in a transaction of their own.
func (s *Source) run(ctx context.Context, statements []string) error {
	tx, err := s.db.BeginWrite(ctx)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := tx.Exec(statement, nil); err != nil {
			return errors.Join(err, tx.Close())
		}
	}
	return errors.Join(tx.Commit(), tx.Close())
}

// Repeats reports whether Migrate was called. See odata.Repeating.
func (s *Source) Repeats() bool { return s.remembers }

// Forget deletes up to 1,000 requests that have ended. See odata.Repeating.
func (s *Source) Forget(ctx context.Context, now time.Time) (int, error) {
	texts, some := sqltext.Requests(s.dialect), false
	see := func([]engine.Cell) bool { some = true; return false }
	if err := engine.Ask(ctx, s.db, 1, see, texts.Ended, now.UnixMilli()); err != nil || !some {
		return 0, err
	}
	tx, err := s.db.BeginWrite(ctx)
	if err != nil {
		return 0, err
	}
	n, err := tx.Exec(texts.Forget, []any{now.UnixMilli()})
	if err == nil {
		err = tx.Commit()
	}
	return int(n), errors.Join(err, tx.Close())
}

// Claim inserts the row of a request, which waits for others with the same ID. See write.Transaction.
func (t *transaction) Claim(r *write.Repeat) (*write.Kept, error) {
	if t.ended {
		return nil, errEnded
	}
	texts := sqltext.Requests(t.source.dialect)
	var n int64
	err := t.opening(func() (err error) {
		n, err = t.tx.Exec(texts.Claim, []any{r.ID, r.Print, r.Ends.UnixMilli()})
		return err
	})
	var kept *write.Kept
	if err == nil && n == 0 {
		err = engine.Each(t.tx, 2, func(c []engine.Cell) bool {
			kept = &write.Kept{Print: bytes.Clone(c[0].Bytes), Answer: bytes.Clone(c[1].Bytes)}
			return false
		}, texts.Recall, r.ID)
		if err == nil && kept == nil { // its transaction was undone, or it was forgotten, meanwhile
			err = &write.Refusal{Kind: write.Conflict}
		}
	}
	if err != nil {
		return nil, t.unkept(err)
	}
	return kept, nil
}

// Keep keeps an answer with the row that Claim has inserted. See write.Transaction.
func (t *transaction) Keep(r *write.Repeat, answer []byte) error {
	if t.ended {
		return errEnded
	}
	if _, err := t.tx.Exec(sqltext.Requests(t.source.dialect).Keep, []any{answer, r.ID}); err != nil {
		return t.unkept(err)
	}
	return nil
}

// unkept ends the transaction for an error of the table of requests.
func (t *transaction) unkept(err error) error {
	t.ended = true
	if engine.IsChanged(err) {
		t.source.forgotten.Store(true)
	}
	return t.refusal(nil, err)
}

// errForgotten is the reason of Ready while the table of requests is gone.
var errForgotten = errors.New("the table vestibule_requests is gone: vestibule migrate makes it")
