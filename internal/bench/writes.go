package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
)

// notedRows is how many rows the table has that is written: two contestants change and delete different ones.
const notedRows = 8000

// writable makes the table that is written, anew for each run.
func writable(ctx context.Context, db, dsn string) (err error) {
	driver, counted := db, "INTEGER PRIMARY KEY"
	switch db {
	case "postgres":
		driver, counted = "pgx", "bigserial PRIMARY KEY"
	case "mariadb":
		driver, counted = "mysql", "BIGINT PRIMARY KEY AUTO_INCREMENT"
	}
	handle, err := sqlx.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	handle.SetMaxOpenConns(1)
	for _, statement := range []string{
		"DROP TABLE IF EXISTS noted",
		"CREATE TABLE noted (id " + counted + ", name VARCHAR(100) NOT NULL, price DECIMAL(10,2) NOT NULL, stock INTEGER NOT NULL, note VARCHAR(200), version INTEGER NOT NULL)",
		"INSERT INTO noted (id, name, price, stock, version) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, 'a name', 9.99, i, 1 FROM n",
	} {
		if _, err := handle.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	for i := range notedRows / 900 {
		copied := "INSERT INTO noted (id, name, price, stock, version) SELECT id + " + strconv.Itoa(900*(i+1)) + ", name, price, stock, version FROM noted WHERE id <= 900"
		if _, err := handle.ExecContext(ctx, copied); err != nil {
			return err
		}
	}
	if db == "postgres" {
		_, err = handle.ExecContext(ctx, "SELECT setval('noted_id_seq', 100000)")
	}
	return err
}

// noted is a row of the table that is written.
type noted struct {
	ID      int64       `json:"id"`
	Name    string      `json:"name"`
	Price   json.Number `json:"price"`
	Stock   int64       `json:"stock"`
	Note    *string     `json:"note"`
	Version int64       `json:"version"`
}

func (n *noted) into() []any {
	return []any{&n.ID, &n.Name, (*string)(&n.Price), &n.Stock, &n.Note, &n.Version}
}

// Statements of the handlers by hand.
const (
	notedColumns = "id, name, price, stock, note, version"
	notedInsert  = "INSERT INTO noted (name, price, stock, note, version) VALUES ($1, $2, $3, $4, 1) RETURNING " + notedColumns
	notedUpdate  = "UPDATE noted SET name = $1, price = $2, version = version + 1 WHERE id = $3 AND version = $4"
	notedSelect  = "SELECT " + notedColumns + " FROM noted WHERE id = $1"
	notedDelete  = "DELETE FROM noted WHERE id = $1"

	sessionSelect = "SELECT user_id FROM vestibule_sessions WHERE hash = $1 AND expires > $2"
)

// errMoved is the error of a row that has another version.
var errMoved = errors.New("the row has changed")

// writesByHand are the requests that write, in a transaction each. Nobody writes without a session, which is read before.
type writesByHand interface {
	session(ctx context.Context, hash []byte) error
	create(ctx context.Context, rows []noted) error
	change(ctx context.Context, row *noted) error
	remove(ctx context.Context, id int64) error
}

// writeHandlers serves them as a careful developer would.
func writeHandlers(mux *http.ServeMux, by writesByHand) {
	serve := func(pattern string, handle func(w http.ResponseWriter, r *http.Request, body []byte) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			hash := sha256.Sum256([]byte(r.Header.Get("Cookie")))
			err := by.session(r.Context(), hash[:])
			var body []byte
			if err == nil {
				body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
			}
			if err == nil {
				err = handle(w, r, body)
			}
			switch {
			case errors.Is(err, errMoved):
				http.Error(w, err.Error(), http.StatusPreconditionFailed)
			case err != nil:
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	serve("POST /noted", func(w http.ResponseWriter, r *http.Request, body []byte) error {
		rows := make([]noted, 1)
		if err := json.Unmarshal(body, &rows[0]); err != nil {
			return err
		}
		if err := by.create(r.Context(), rows); err != nil {
			return err
		}
		w.Header().Set("Location", "/noted/"+strconv.FormatInt(rows[0].ID, 10))
		return answer(w, http.StatusCreated, &rows[0])
	})
	serve("POST /hundred", func(w http.ResponseWriter, r *http.Request, body []byte) error {
		var rows []noted
		if err := json.Unmarshal(body, &rows); err != nil {
			return err
		}
		if err := by.create(r.Context(), rows); err != nil {
			return err
		}
		return answer(w, http.StatusOK, rows)
	})
	serve("PATCH /noted/{id}", func(w http.ResponseWriter, r *http.Request, body []byte) error {
		var row noted
		if err := json.Unmarshal(body, &row); err != nil {
			return err
		}
		var err, wrong error
		row.ID, err = strconv.ParseInt(r.PathValue("id"), 10, 64)
		row.Version, wrong = strconv.ParseInt(strings.Trim(r.Header.Get("If-Match"), `W/"`), 10, 64)
		if err = errors.Join(err, wrong); err != nil {
			return err
		}
		if err := by.change(r.Context(), &row); err != nil {
			return err
		}
		return answer(w, http.StatusOK, &row)
	})
	serve("DELETE /noted/{id}", func(w http.ResponseWriter, r *http.Request, _ []byte) error {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err == nil {
			err = by.remove(r.Context(), id)
		}
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
		return err
	})
}

func answer(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(b)
	return err
}

// sqlWrites are those of SQLite and MariaDB, by prepared statements of database/sql.
type sqlWrites struct {
	db                                       *sql.DB
	insert, update, fetch, deletes, sessions *sql.Stmt
	// returns reports whether an UPDATE returns the row.
	returns bool
}

// newSQLWrites prepares the statements. Sessions are read through another pool, which for SQLite is that of readers.
func newSQLWrites(ctx context.Context, db, readers *sql.DB, returns bool) (*sqlWrites, error) {
	s := &sqlWrites{db: db, returns: returns}
	update := notedUpdate
	if returns {
		update += " RETURNING " + notedColumns
	}
	for _, p := range []struct {
		into  **sql.Stmt
		query string
	}{{&s.insert, notedInsert}, {&s.update, update}, {&s.fetch, notedSelect}, {&s.deletes, notedDelete}, {&s.sessions, sessionSelect}} {
		from := db
		if p.into == &s.sessions {
			from = readers
		}
		for i := range 4 {
			p.query = strings.Replace(p.query, "$"+strconv.Itoa(i+1), "?", 1)
		}
		var err error
		if *p.into, err = from.PrepareContext(ctx, p.query); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *sqlWrites) session(ctx context.Context, hash []byte) error {
	var user int64
	return found(s.sessions.QueryRowContext(ctx, hash, time.Now().UnixMilli()).Scan(&user))
}

// found takes a session that is not there for one that is: the hash is not that of the host.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

func (s *sqlWrites) in(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *sqlWrites) create(ctx context.Context, rows []noted) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		insert := tx.StmtContext(ctx, s.insert)
		for i := range rows {
			r := &rows[i]
			if err := insert.QueryRowContext(ctx, r.Name, string(r.Price), r.Stock, r.Note).Scan(r.into()...); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *sqlWrites) change(ctx context.Context, r *noted) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		update := tx.StmtContext(ctx, s.update)
		if s.returns {
			err := update.QueryRowContext(ctx, r.Name, string(r.Price), r.ID, r.Version).Scan(r.into()...)
			if errors.Is(err, sql.ErrNoRows) {
				return errMoved
			}
			return err
		}
		done, err := update.ExecContext(ctx, r.Name, string(r.Price), r.ID, r.Version)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errMoved)
		}
		return tx.StmtContext(ctx, s.fetch).QueryRowContext(ctx, r.ID).Scan(r.into()...)
	})
}

func (s *sqlWrites) remove(ctx context.Context, id int64) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		done, err := tx.StmtContext(ctx, s.deletes).ExecContext(ctx, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errMoved)
		}
		return nil
	})
}

// pgxWrites are those of PostgreSQL, by pgx itself. A numeric comes as text.
type pgxWrites struct{ pool *pgxpool.Pool }

func (p pgxWrites) session(ctx context.Context, hash []byte) error {
	var user int64
	return found(p.pool.QueryRow(ctx, sessionSelect, hash, time.Now().UnixMilli()).Scan(&user))
}

const pgxNoted = "id, name, price::text, stock, note, version"

func (p pgxWrites) create(ctx context.Context, rows []noted) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		for i := range rows {
			r := &rows[i]
			if err := tx.QueryRow(ctx, strings.Replace(notedInsert, notedColumns, pgxNoted, 1), r.Name, string(r.Price), r.Stock, r.Note).Scan(r.into()...); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p pgxWrites) change(ctx context.Context, r *noted) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, notedUpdate+" RETURNING "+pgxNoted, r.Name, string(r.Price), r.ID, r.Version).Scan(r.into()...)
		if errors.Is(err, pgx.ErrNoRows) {
			return errMoved
		}
		return err
	})
}

func (p pgxWrites) remove(ctx context.Context, id int64) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, notedDelete, id)
		if err == nil && tag.RowsAffected() == 0 {
			return errMoved
		}
		return err
	})
}

// writes are the rows of the table that hold writes against handlers by hand.
func (b *bench) writes(compare func(one, other side) func() (measured, error)) []test {
	var list []test
	for _, p := range writings() {
		list = append(list, test{p.name + " / by hand", 1.3, compare(side{b.vestibule, p.n, p.ours}, side{b.baseline, p.n, p.byHand})})
	}
	return list
}

// writing holds the requests of two contestants, n of each in a turn.
type writing struct {
	name         string
	n            int
	ours, byHand func() string
}

func writings() []writing {
	const n, row, changed = 100, `{"name":"a new name","price":12.34,"stock":5,"note":"and a note"}`, `{"name":"another name","price":43.21}`
	list, batch := make([]string, 100), make([]string, 100)
	for i := range list {
		list[i] = row
		batch[i] = fmt.Sprintf(`{"id":"%d","atomicityGroup":"g","method":"POST","url":"GuardedNoted","headers":{"content-type":"application/json"},"body":%s}`, i, row)
	}
	// each names the rows from first on, one after the other, and then again: the row, and its version.
	each := func(format string, first, rows int) func() string {
		asked := 0
		return func() string {
			id, version := first+asked%rows, 1+asked/rows
			asked++
			return fmt.Sprintf(format, id, version)
		}
	}
	return []writing{
		{"create one row", n, always("POST /odata/GuardedNoted\n\n" + row), always("POST /noted#Guarded\n\n" + row)},
		{
			"change one row", n, each("PATCH /odata/GuardedNoted(%d)\nIf-Match: W/\"%d\"\n\n"+changed, 1, 100),
			each("PATCH /noted/%d#Guarded\nIf-Match: W/\"%d\"\n\n"+changed, 101, 100),
		},
		{
			"delete one row", n, each("DELETE /odata/GuardedNoted(%d)\nIf-Match: *\nX-Turn: %d\n\n", 1000, 1<<30),
			each("DELETE /noted/%d#Guarded\nX-Turn: %d\n\n", 4000, 1<<30),
		},
		{
			"a changeset of a hundred", 5, always("POST /odata/$batch#Guarded\n\n{\"requests\":[" + strings.Join(batch, ",") + "]}"),
			always("POST /hundred#Guarded\n\n[" + strings.Join(list, ",") + "]"),
		},
	}
}

// requestOf reads the notation of writes: the method and the path, headers, an empty line and the body; a path alone is a GET. The
// part behind "#" is not sent.
func requestOf(base, text string) (*http.Request, error) {
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return http.NewRequest(http.MethodGet, base+text, nil)
	}
	method, path, _ := strings.Cut(first, " ")
	path, _, _ = strings.Cut(path, "#")
	head, body, _ := strings.Cut("\n"+rest, "\n\n")
	req, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for header := range strings.SplitSeq(strings.Trim(head, "\n"), "\n") {
		if name, value, ok := strings.Cut(header, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}
