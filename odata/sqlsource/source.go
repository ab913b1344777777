package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Database is where the rows are.
type Database struct {
	// Dialect is "sqlite", "postgres", or "mysql" (MariaDB is what is tested).
	Dialect string
	// DB is the open database; it stays the caller's to close. Not used for SQLite.
	DB *sqlx.DB
	// DSN is the data source name of a SQLite database: a path or file: URI, which the source opens by itself, for
	// reading only. Parameters behind "?" do not count. Not used for the others.
	DSN string
	// MaxConns bounds the connections to a SQLite database; twice the processors, and 4 at least, when zero.
	MaxConns int
	// SeekBytes bounds the cache of totals and page keys; 16 MiB when zero. RowBytes bounds the rows with children that one
	// query holds at a time, for each level of $expand; 8 MiB when zero.
	SeekBytes, RowBytes int
	// HeapBytes is the memory for pages and statements that all connections of the process to SQLite files share. The
	// connection that is used most keeps pages in up to all of it, and all keep statements in a third. Zero is 256 MiB for
	// pages, and 128 statements a connection.
	HeapBytes int64
	// Closer is closed with the source, and when New fails; nil where DB outlives it.
	Closer io.Closer
	// Writer is the pool of one connection through which the host writes its own tables (users, sessions) to the same
	// SQLite file. With it and Config.Protected, sign-ins do not invalidate the cache; without it every commit does. Statements that replace
	// or empty whole tables of the model must not have been prepared on it before New. A file that comes in the place of the
	// first one is then not read either until the program starts anew: the writer has the old one open.
	Writer *sqlx.DB
	// Forget switches off the cache of totals and page keys of SQLite and PostgreSQL data. Answers are the same without it; they take
	// longer.
	Forget bool
	// Deep is how many rows a page must skip for PostgreSQL and MariaDB to be asked first which rows it has, by an index
	// alone, and then for these rows; 1,000 when zero.
	Deep int64
	// Wait is how long a request whose database is away waits for it to come back, or for a lock of SQLite; what lost its
	// connection is repeated in any case. When nil it waits for locks alone, 5 s.
	Wait func(context.Context) time.Duration
	// Waited is told since when a request has waited in vain, so that Wait can tell what is left to the next part of a
	// batch. nil is told nothing.
	Waited func(context.Context, time.Time)
}

// Source has the rows of a model. It is safe for concurrent use.
type Source struct {
	dialect string
	db      engine.WriteDB
	closer  io.Closer // nil for none
	model   *edm.Model
	gen     *sqltext.Generator
	reader  *cursor.Reader
	broken  []BrokenTable
	left    []LeftOut
	// cascades are those of Cascades.
	cascades []Cascade
	// unlinkable are those of Unlinkable.
	unlinkable []Unlinkable
	wait       func(context.Context) time.Duration // nil for not at all
	waited     func(context.Context, time.Time)
	changed    changes
	shape      *shape
	pool       *sqlx.DB // nil for SQLite
	// remembers reports that there is a table for requests that can be repeated.
	remembers bool
	// forgotten reports that a request failed because that table is not there any more.
	forgotten atomic.Bool
}

// BrokenTable is a table or view that the database cannot read, such as a view over a table that was dropped, or a virtual
// table of SQLite without its module.
type BrokenTable struct {
	// Name has the schema in front where that is not the default.
	Name string
	// View tells views from tables.
	View bool
	// Cause is the error of the database, for the log.
	Cause error
}

// LeftOut is a column that a set does not have because OData has no form for its values, such as a point of MariaDB.
type LeftOut struct {
	// Set is the name of the set or singleton; Column and Type are those of the table.
	Set, Column, Type string
}

// New reads the catalogue of a database and checks the Config against it. A Config that does not fit is an *Invalid,
// and so is a SQLite file in UTF-16.
func New(ctx context.Context, db Database, cfg Config) (*Source, error) {
	opened, err := open(ctx, db)
	if err != nil {
		if errors.Is(err, engine.ErrEncoding) {
			err = &Invalid{[]Finding{{What: "the texts of the SQLite file are UTF-16, and queries read UTF-8 alone", Remedy: engine.EncodingRemedy}}}
		}
		if db.Closer != nil {
			err = errors.Join(err, db.Closer.Close())
		}
		return nil, err
	}
	s := &Source{dialect: db.Dialect, db: opened, closer: db.Closer, wait: db.Wait, waited: db.Waited, pool: db.DB}
	if err := s.load(ctx, cfg, db); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func open(ctx context.Context, db Database) (engine.WriteDB, error) {
	switch db.Dialect {
	case "sqlite":
		return engine.OpenSQLite(db.DSN, db.MaxConns, db.HeapBytes)
	case "postgres", "mysql":
	default:
		return nil, fmt.Errorf("there is no dialect %q; there are sqlite, postgres, and mysql", db.Dialect)
	}
	if db.DB == nil {
		return nil, fmt.Errorf("the dialect %s needs an open database", db.Dialect)
	}
	if db.Dialect == "mysql" {
		return engine.NewMySQL(ctx, db.DB.DB)
	}
	return engine.NewPostgres(db.DB.DB), nil
}

func (s *Source) load(ctx context.Context, cfg Config, db Database) error {
	found, err := introspect.Read(ctx, s.db, s.dialect)
	if err != nil {
		return err
	}
	b, err := build(cfg, s.dialect, found.Tables)
	if err != nil {
		return err
	}
	mapping := b.mapping
	s.left, s.cascades = b.leftOut(), b.cascades()
	s.model, mapping.CaseCollation, mapping.NoReturning, mapping.Deep = b.model, found.CaseCollation, found.NoReturning, db.Deep
	for _, t := range found.Tables {
		if t.Broken != nil {
			s.broken = append(s.broken, BrokenTable{strings.Join(tableName(t), "."), t.View, t.Broken})
		}
	}
	if s.gen, err = sqltext.New(s.dialect, mapping); err != nil {
		return err
	}
	if lite, ok := s.db.(*engine.SQLite); ok {
		lite.Wait, lite.Fixed = db.Wait, db.Writer != nil
		if db.Writer != nil {
			lite.Gate = db.Writer.DB
		}
	}
	if err := s.writable(ctx, b); err != nil {
		return err
	}
	s.mayLink(ctx, b)
	s.shape = &shape{db: s.db, dialect: s.dialect, mapping: mapping}
	s.reader = &cursor.Reader{DB: s.db, Gen: s.gen, Changed: s.shape.look, Buffer: db.RowBytes}
	if s.dialect == "postgres" && !db.Forget {
		rememberPostgreSQL(ctx, s.db, s.reader, mapping, db.SeekBytes)
	}
	lite, ok := s.db.(*engine.SQLite)
	if !ok {
		return nil
	}
	s.reader.Seeks = true
	if db.Forget {
		return nil
	}
	c := sqliteCache{lite: lite, writer: db.Writer, protected: cfg.Protected, mapping: mapping, bytes: db.SeekBytes}
	return c.use(ctx, s.reader)
}

// Model is the model of what is exposed.
func (s *Source) Model() *edm.Model { return s.model }

// Aggregates tells that $apply is computed by the database. See odata.Aggregator.
func (s *Source) Aggregates() bool { return true }

// Broken lists what was passed over. No set of the Config names any of it: New refuses that.
func (s *Source) Broken() []BrokenTable { return s.broken }

// LeftOut lists the columns that sets of the model do not have. No block of the Config names one: New refuses that.
func (s *Source) LeftOut() []LeftOut { return s.left }

// Pool returns the state of the connections that requests use.
func (s *Source) Pool() sql.DBStats {
	if lite, ok := s.db.(*engine.SQLite); ok {
		return lite.Pool()
	}
	return s.pool.Stats()
}

// FileChanges counts for SQLite how often another file was renamed over the database, and how often one was seen to be
// copied over it. Both are noticed by Ready and by whatever reads.
func (s *Source) FileChanges() (exchanged, copied int64) {
	if lite, ok := s.db.(*engine.SQLite); ok {
		return lite.FileChanges()
	}
	return 0, 0
}

// Ready returns the reason why the source cannot read; nil if it knows none. It returns engine.ErrCopied if another file was
// copied over the SQLite file. If a request has failed because tables or columns changed, it returns that change until the
// request succeeds or the columns have their types again. The same holds for the table of requests.
func (s *Source) Ready(ctx context.Context) error {
	if lite, ok := s.db.(*engine.SQLite); ok {
		if err := lite.Look(); err != nil {
			return err
		}
	}
	if err := s.shape.still(ctx); err != nil {
		return changedBelow(err)
	}
	if s.forgotten.Load() {
		there, err := s.Migrated(ctx)
		if err == nil && !there {
			return changedBelow(errForgotten)
		}
		s.forgotten.Store(err != nil)
	}
	return s.changed.look(func(p *plan.Plan) error {
		rows, err := s.reader.Open(ctx, p)
		if err != nil {
			return err
		}
		return rows.Close()
	})
}

// Close closes the connections that the source opened itself, and Database.Closer.
func (s *Source) Close() error {
	err := s.db.Close()
	if s.closer != nil {
		err = errors.Join(err, s.closer.Close())
	}
	return err
}

// Open runs the statements of a plan up to the first row; see plan.Rows. Faults are *plan.Error where a client may know
// them: NotFound when an entity that the path goes through is not there, Unavailable when ctx ended first. What fails
// because its connection was lost, or its statement was prepared for other columns, is repeated: nothing was sent yet. So
// is, for Database.Wait, what finds no database.
func (s *Source) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	since := time.Now()
	end := since
	if s.wait != nil {
		end = end.Add(s.wait(ctx))
	}
	for try := 1; ; try++ {
		rows, err := s.reader.Open(ctx, p)
		if err == nil {
			return rows, nil
		}
		stale := engine.IsLost(err) || engine.IsStale(err)
		away := engine.IsAway(err) && time.Now().Before(end)
		switch {
		case ctx.Err() == nil && stale && try < maxTries:
		case ctx.Err() == nil && away && pause(ctx):
		default:
			s.changed.note(p, err)
			if s.waited != nil && (engine.IsAway(err) || engine.IsUnreachable(err)) {
				s.waited(ctx, since)
			}
			return rows, err
		}
	}
}

// maxTries bounds how often the statements of a plan are begun. Each try that lost its connection took one out of the
// pool, where more of them may have ended at once.
const maxTries = 32

// pause lets a while pass before a database that was away is tried again, at random so that not all come at once. It
// reports whether ctx still lasts.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(20*time.Millisecond + rand.N(180*time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Version names the state of the data at this moment: while it stays the same, so do the answers to all plans that are
// neither Private nor Volatile. It is empty where the database cannot tell. It reads no table.
func (s *Source) Version(ctx context.Context) string {
	if lite, ok := s.db.(*engine.SQLite); ok {
		return lite.Version(ctx)
	}
	return ""
}

// changes remembers a plan that failed because somebody changed the tables below the model. It is safe for concurrent use.
type changes struct {
	mu   sync.Mutex
	plan *plan.Plan
}

// note remembers a plan whose statements name what is not there.
func (c *changes) note(p *plan.Plan, err error) {
	if !engine.IsChanged(err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plan = p
}

// look returns an error for a database that was changed, until the plan that showed it can be opened again.
func (c *changes) look(open func(*plan.Plan) error) error {
	c.mu.Lock()
	p := c.plan
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	err := open(p)
	if engine.IsChanged(err) {
		return changedBelow(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plan == p {
		c.plan = nil
	}
	return nil
}

func changedBelow(err error) error {
	return fmt.Errorf("the database was changed below the query endpoint: put back what it had, or restart after adapting the configuration: %w", err)
}
