// Package prepared keeps the statements of a pool prepared, where preparing costs
// more than running them.
package prepared

import (
	"context"
	"database/sql"
	"sync"

	"github.com/jmoiron/sqlx"
)

// maxKept bounds the statements: those on users name columns of the application.
const maxKept = 128

// Statements are those of one pool. It is safe for concurrent use. Nil keeps none.
type Statements struct {
	pool *sqlx.DB

	mu   sync.Mutex
	kept map[string]*sqlx.Stmt // nil is one that is yet to be prepared
	more bool
}

// New returns the statements of a pool.
func New(pool *sqlx.DB) *Statements {
	return &Statements{pool: pool, kept: map[string]*sqlx.Stmt{}}
}

// Find returns the prepared query. It is nil for a new one, which
// [Statements.Prepare] will prepare.
func (s *Statements) Find(query string) *sqlx.Stmt {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stmt, ok := s.kept[query]
	if !ok && len(s.kept) < maxKept {
		s.kept[query], s.more = nil, true
	}
	return stmt
}

// Prepare prepares what was looked for since it was last called. It needs a
// connection, and so must not be called in a transaction on the only one.
// Running a statement tells what is wrong with it; here it is just left out.
func (s *Statements) Prepare(ctx context.Context) {
	for _, query := range s.wanted() {
		stmt, err := s.pool.PreparexContext(ctx, query)
		if err != nil {
			continue
		}
		s.mu.Lock()
		first := s.kept[query]
		if first == nil {
			s.kept[query] = stmt
		}
		s.mu.Unlock()
		if first != nil {
			_ = stmt.Close() //nolint:sqlclosecheck // the other one is kept
		}
	}
}

func (s *Statements) wanted() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.more {
		return nil
	}
	s.more = false
	var queries []string
	for query, stmt := range s.kept {
		if stmt == nil {
			queries = append(queries, query)
		}
	}
	return queries
}

// Close closes all statements.
func (s *Statements) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.kept {
		if stmt != nil {
			_ = stmt.Close()
		}
	}
	clear(s.kept)
}

// On returns db, or tx when it is not nil, with the statements prepared.
func (s *Statements) On(db *sqlx.DB, tx *sqlx.Tx) sqlx.ExtContext {
	switch {
	case s == nil && tx == nil:
		return db
	case s == nil:
		return tx
	case tx == nil:
		return runner{db, s, nil}
	}
	return runner{tx, s, tx}
}

type runner struct {
	sqlx.ExtContext
	s  *Statements
	tx *sqlx.Tx
}

func (r runner) stmt(ctx context.Context, query string) *sqlx.Stmt {
	stmt := r.s.Find(query)
	if stmt == nil || r.tx == nil {
		return stmt
	}
	return r.tx.StmtxContext(ctx, stmt)
}

// ExecContext implements sqlx.ExecerContext.
func (r runner) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := r.stmt(ctx, query); stmt != nil {
		return stmt.ExecContext(ctx, args...)
	}
	return r.ExtContext.ExecContext(ctx, query, args...)
}

// QueryxContext implements sqlx.QueryerContext.
func (r runner) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	if stmt := r.stmt(ctx, query); stmt != nil { //nolint:sqlclosecheck // kept
		return stmt.QueryxContext(ctx, args...)
	}
	return r.ExtContext.QueryxContext(ctx, query, args...)
}

// QueryRowxContext implements sqlx.QueryerContext.
func (r runner) QueryRowxContext(ctx context.Context, query string, args ...any) *sqlx.Row {
	if stmt := r.stmt(ctx, query); stmt != nil { //nolint:sqlclosecheck // kept
		return stmt.QueryRowxContext(ctx, args...)
	}
	return r.ExtContext.QueryRowxContext(ctx, query, args...)
}
