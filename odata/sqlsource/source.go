package sqlsource

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/plan"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/sqltext"
)

// Database is where the rows are.
type Database struct {
	// Dialect is "sqlite", "postgres", or "mysql" (MariaDB is what is tested).
	Dialect string
	// DB is the open database; it stays the caller's to close. Not used for SQLite.
	DB *sqlx.DB
	// DSN is the data source name of a SQLite database: a path or file: URI, which the source opens by itself, for
	// reading only. Parameters of drivers behind "?" are ignored. Not used for the others.
	DSN string
	// MaxConns bounds the connections to a SQLite database; twice the processors, and 4 at least, when zero.
	MaxConns int
}

// Source has the rows of a model. It is safe for concurrent use.
type Source struct {
	dialect string
	db      engine.DB
	model   *edm.Model
	gen     *sqltext.Generator
}

// New reads the catalogue of a database and checks the Config against it. A Config that does not fit is an *Invalid.
func New(ctx context.Context, db Database, cfg Config) (*Source, error) {
	s := &Source{dialect: db.Dialect}
	var err error
	switch db.Dialect {
	case "sqlite":
		s.db, err = engine.OpenSQLite(db.DSN, db.MaxConns)
	case "postgres", "mysql":
		if db.DB == nil {
			return nil, fmt.Errorf("the dialect %s needs an open database", db.Dialect)
		}
		s.db = engine.NewSQL(db.DB.DB)
	default:
		err = fmt.Errorf("there is no dialect %q; there are sqlite, postgres, and mysql", db.Dialect)
	}
	if err != nil {
		return nil, err
	}
	if err := s.load(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

func (s *Source) load(ctx context.Context, cfg Config) error {
	tables, err := introspect.Read(ctx, s.db, s.dialect)
	if err != nil {
		return err
	}
	model, mapping, err := build(cfg, s.dialect, tables)
	if err != nil {
		return err
	}
	s.model = model
	s.gen, err = sqltext.New(s.dialect, mapping)
	return err
}

// Model is the model of what is exposed.
func (s *Source) Model() *edm.Model { return s.model }

// Close closes the connections that the source opened itself.
func (s *Source) Close() error { return s.db.Close() }

// Open runs the statements of a plan up to the first row. Faults are *plan.Error where a client may know them:
// NotFound when an entity that the path goes through is not there, Unavailable when ctx ended first.
func (s *Source) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	if p.Top == nil {
		return nil, errors.New("the plan has no rows")
	}
	tx, err := s.db.Begin(ctx, p.Top.Count || len(p.Top.Expand) > 0)
	if err != nil {
		return nil, known(ctx, fmt.Errorf("begin: %w", err))
	}
	r := &rows{ctx: ctx, source: s, tx: tx, node: p.Top}
	if err := r.open(p); err != nil {
		return nil, errors.Join(known(ctx, err), tx.Close())
	}
	return r, nil
}

// known makes a fault that a client may know of an end of the context, and of numbers and dates that grew out of
// their range while the database computed with them.
func known(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &plan.Error{Kind: plan.Unavailable, Pos: -1, Message: "the database took too long", Cause: err}
	case outOfRange(err):
		return &plan.Error{Kind: plan.Malformed, Pos: -1, Message: "the result of a computation is out of range", Cause: err}
	}
	return err
}

func outOfRange(err error) bool {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState() == "22003" || state.SQLState() == "22008"
	}
	text := err.Error()
	return strings.Contains(text, engine.OutOfRange) || strings.Contains(text, "Error 1690") || strings.Contains(text, "Error 1441")
}
