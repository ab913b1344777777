package sqlite

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqlitefile"
	"zombiezen.com/go/sqlite"
)

const findSession = `SELECT version, user_id, device, data, created, seen, expires FROM vestibule_sessions WHERE hash = ?`

var errNoReader = errors.New("no connection for sessions is free")

// sessionReader finds sessions below database/sql, whose work on one row is three times that of SQLite: each guarded
// request waits for it. Whatever goes wrong here is for the pool to meet again and to report, so that nothing is waited for.
// It is safe for concurrent use; nil finds nothing.
type sessionReader struct {
	file *watched
	uri  string
	most int

	mu   sync.Mutex
	idle []*sessionConn
	kept keptSessions
	open int
	done bool
}

type sessionConn struct {
	*sqlite.Conn
	find   *sqlite.Stmt
	opened sqlitefile.Identity
}

// newSessionReader returns a reader of up to most connections, which it opens as they are needed. It is nil where the
// operator's own settings are for more than the pool's driver.
func newSessionReader(file *watched, uri string, most int) *sessionReader {
	base, own, _ := strings.Cut(uri, "?")
	for setting := range strings.SplitSeq(own, "&") {
		if setting != "" && !strings.HasPrefix(setting, "_") {
			return nil
		}
	}
	if file == nil {
		return nil
	}
	return &sessionReader{file: file, uri: base, most: most}
}

// find returns sql.ErrNoRows where there is no such session, and any other error where that cannot be told.
func (r *sessionReader) find(hash []byte) (s store.SessionRow, err error) {
	if row := r.known(hash); row != nil {
		return *row, nil
	}
	c, err := r.take()
	if err != nil {
		return s, err
	}
	before, told := r.head(c)
	if s, err = c.read(hash); err == nil {
		err = r.keep(c, hash, s, before, told)
	}
	return s, errors.Join(err, r.giveBack(c, err == nil || errors.Is(err, sql.ErrNoRows)))
}

// known returns the row of a session that was read since the last commit; nil where none was.
func (r *sessionReader) known(hash []byte) *store.SessionRow {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.kept.find(hash)
	if row == nil {
		return nil
	}
	at := time.Now()
	if at.Sub(r.kept.looked) < sqlitefile.LookEvery {
		return row
	}
	if r.kept.of.Exchanged() {
		return nil
	}
	r.kept.looked = at
	return row
}

// head is that of the log that a connection reads; false where it cannot be told.
func (r *sessionReader) head(c *sessionConn) (sqlitefile.LogHead, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept.now(c.opened)
}

// keep keeps a row that a connection has read behind a head. Where something was committed in between, nobody finds the row:
// that head has passed. Where another file came meanwhile, the row is none of that one's: two logs without a commit look alike.
func (r *sessionReader) keep(c *sessionConn, hash []byte, s store.SessionRow, before sqlitefile.LogHead, told bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if told && r.kept.of.Same(c.opened) {
		r.kept.keep(before, hash, &s)
	}
	return r.kept.watch(c.opened)
}

// take returns a connection to the file that has the name now.
func (r *sessionReader) take() (*sessionConn, error) {
	if r == nil {
		return nil, errNoReader
	}
	r.mu.Lock()
	if last := len(r.idle) - 1; last >= 0 {
		c := r.idle[last]
		r.idle = r.idle[:last]
		r.mu.Unlock()
		if c.opened.Exchanged() {
			_ = c.run("PRAGMA wal_checkpoint(PASSIVE)") // as conn.ResetSession does
			return nil, errors.Join(errNoReader, c.opened.Detach(), r.giveBack(c, false))
		}
		return c, nil
	}
	defer r.mu.Unlock()
	if r.done || r.open >= r.most {
		return nil, errNoReader
	}
	c, err := r.connect()
	if err == nil {
		r.open++
	}
	return c, err
}

// giveBack keeps a connection for the next one, or closes it.
func (r *sessionReader) giveBack(c *sessionConn, good bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if good && !r.done {
		r.idle = append(r.idle, c)
		return nil
	}
	r.open--
	return r.closeConn(c)
}

// closeConn closes a connection. The caller holds mu.
func (r *sessionReader) closeConn(c *sessionConn) error {
	return errors.Join(r.kept.drop(), r.file.leave(c.opened, c.Close))
}

func (r *sessionReader) connect() (*sessionConn, error) {
	c := &sessionConn{}
	var err error
	c.opened, err = r.file.enter(func() (closer, error) {
		c.Conn, err = sqlite.OpenConn(r.uri, sqlite.OpenReadWrite, sqlite.OpenURI)
		return c.Conn, err
	})
	if err != nil {
		return nil, err
	}
	c.SetBusyTimeout(0)
	for _, pragma := range []string{"PRAGMA query_only = 1", "PRAGMA mmap_size = 0"} {
		if err == nil {
			err = c.run(pragma)
		}
	}
	if err == nil {
		c.find, err = c.Prepare(findSession)
	}
	if err != nil {
		return nil, errors.Join(err, r.closeConn(c))
	}
	return c, nil
}

func (c *sessionConn) run(query string) error {
	stmt, err := c.Prepare(query)
	if err != nil {
		return err
	}
	_, err = stmt.Step()
	return errors.Join(err, stmt.Reset())
}

func (c *sessionConn) read(hash []byte) (s store.SessionRow, err error) {
	c.find.BindBytes(1, hash)
	found, err := c.find.Step()
	if err != nil {
		return s, err
	}
	if found {
		s.Version, s.UserID = c.find.ColumnInt64(0), c.find.ColumnText(1)
		s.Device, s.Data = c.bytes(2), c.bytes(3)
		s.Created, s.Seen, s.Expires = c.find.ColumnInt64(4), c.find.ColumnInt64(5), c.find.ColumnInt64(6)
	}
	if err = c.find.Reset(); err == nil && !found {
		err = sql.ErrNoRows
	}
	return s, err
}

// bytes copies a column; nil for null.
func (c *sessionConn) bytes(column int) []byte {
	if c.find.ColumnIsNull(column) {
		return nil
	}
	b := make([]byte, c.find.ColumnLen(column))
	return b[:c.find.ColumnBytes(column, b)]
}

// close closes what is free at once, and the others when they come back.
func (r *sessionReader) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	var errs []error
	for _, c := range r.idle {
		r.open--
		errs = append(errs, r.closeConn(c))
	}
	r.idle = nil
	return errors.Join(errs...)
}
