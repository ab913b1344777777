package host_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// An actor is one side of a race: whatever its context carries out is counted
// statement by statement, and can be stopped before one of them.
type actor struct {
	// stop is the number of the step to stop before, from 1; 0 for none.
	stop int
	// reached is closed when the actor has stopped, and resume lets it go on.
	reached, resume chan struct{}

	mu      sync.Mutex
	steps   []string
	running string
	inTx    bool
}

func newActor(stop int) *actor {
	return &actor{stop: stop, reached: make(chan struct{}), resume: make(chan struct{})}
}

type actorKey struct{}

func (a *actor) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// actorOf returns nil for work of nobody's, such as making the tables.
func actorOf(ctx context.Context) *actor {
	a, _ := ctx.Value(actorKey{}).(*actor)
	return a
}

// begin counts a statement and stops where the actor has to. The function that it
// returns is called when the database has answered.
func (a *actor) begin(statement string) func() {
	if a == nil {
		return func() {}
	}
	a.mu.Lock()
	a.steps = append(a.steps, statement)
	stops := len(a.steps) == a.stop
	a.mu.Unlock()
	if stops {
		close(a.reached)
		<-a.resume
	}
	a.run(statement)
	return func() { a.run("") }
}

func (a *actor) run(statement string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = statement
}

func (a *actor) transaction(open bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inTx = open
}

// state returns whether the actor is in a transaction, and the statement that the
// database has of it.
func (a *actor) state() (inTx bool, running string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inTx, a.running
}

// step is the beginning of the statement with the number n, from 1.
func (a *actor) step(n int) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > len(a.steps) {
		return "never, as it has fewer"
	}
	text := strings.Join(strings.Fields(a.steps[n-1]), " ")
	return text[:min(80, len(text))]
}

// stepped puts the pools of db behind a driver that knows actors. It must be called
// before the first statement. The connections stay those that the engine's package
// has configured.
func stepped(t *testing.T, db *store.DB) *store.DB {
	t.Helper()
	for _, pool := range []*sqlx.DB{db.Writer(), db.Reader()} {
		if _, done := pool.Driver().(stepDriver); done {
			continue
		}
		real := pool.DB
		t.Cleanup(func() { _ = real.Close() })
		pool.DB = sql.OpenDB(stepConnector{real})
		pool.SetMaxOpenConns(real.Stats().MaxOpenConnections)
		pool.SetMaxIdleConns(real.Stats().MaxOpenConnections)
	}
	return db
}

type stepDriver struct{ driver.Driver }

type stepConnector struct{ real *sql.DB }

func (c stepConnector) Driver() driver.Driver { return stepDriver{c.real.Driver()} }

func (c stepConnector) Connect(ctx context.Context) (driver.Conn, error) {
	held, err := c.real.Conn(ctx)
	if err != nil {
		return nil, err
	}
	conn := &stepConn{held: held}
	err = held.Raw(func(inner any) error {
		conn.Conn, _ = inner.(driver.Conn)
		return nil
	})
	return conn, err
}

// A stepConn is a connection of the engine's driver, taken from its pool for as long
// as it lives.
type stepConn struct {
	driver.Conn
	held *sql.Conn
}

func (c *stepConn) Close() error { return c.held.Close() }

func (c *stepConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	defer actorOf(ctx).begin(query)()
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *stepConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	defer actorOf(ctx).begin(query)()
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *stepConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return stepStmt{stmt, query}, nil
}

func (c *stepConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	a := actorOf(ctx)
	defer a.begin("BEGIN")()
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	a.transaction(err == nil)
	return stepTx{tx, a}, err
}

func (c *stepConn) ResetSession(ctx context.Context) error {
	if inner, ok := c.Conn.(driver.SessionResetter); ok {
		return inner.ResetSession(ctx)
	}
	return nil
}

func (c *stepConn) IsValid() bool {
	inner, ok := c.Conn.(driver.Validator)
	return !ok || inner.IsValid()
}

func (c *stepConn) CheckNamedValue(v *driver.NamedValue) error {
	if inner, ok := c.Conn.(driver.NamedValueChecker); ok {
		return inner.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type stepStmt struct {
	driver.Stmt
	query string
}

func (s stepStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	defer actorOf(ctx).begin(s.query)()
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s stepStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	defer actorOf(ctx).begin(s.query)()
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

type stepTx struct {
	driver.Tx
	actor *actor
}

func (t stepTx) Commit() error {
	defer t.actor.begin("COMMIT")()
	defer t.actor.transaction(false)
	return t.Tx.Commit()
}

func (t stepTx) Rollback() error {
	defer t.actor.begin("ROLLBACK")()
	defer t.actor.transaction(false)
	return t.Tx.Rollback()
}
