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
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
	"google.golang.org/grpc"
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
	for _, statement := range append(ordered(counted), []string{
		"DROP TABLE IF EXISTS noted",
		"CREATE TABLE noted (id " + counted + ", name VARCHAR(100) NOT NULL, price DECIMAL(10,2) NOT NULL, stock INTEGER NOT NULL, note VARCHAR(200), version INTEGER NOT NULL)",
		"INSERT INTO noted (id, name, price, stock, version) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, 'a name', 9.99, i, 1 FROM n",
	}...) {
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

// Errors of requests that write.
var (
	errMoved  = errors.New("the row has changed")
	errFormed = errors.New("the request is malformed")
)

// writesByHand are the requests that write. Nobody writes without a session, which is read before.
type writesByHand interface {
	session(ctx context.Context, hash []byte) error
	// in carries out a transaction.
	in(ctx context.Context, do func(tx writingTx) error) error
}

// writingTx is a transaction of requests that write.
type writingTx interface {
	create(row *noted) error
	change(row *noted) error
	remove(id int64) error
	// order adds an order with its items.
	order(o *order) error
}

// check looks at what the columns do not say clearly.
func (n *noted) check() error {
	if !isPrice(n.Price) || n.Name == "" || utf8.RuneCountInString(n.Name) > 100 || n.Note != nil && utf8.RuneCountInString(*n.Note) > 200 || n.Stock != int64(int32(n.Stock)) {
		return errFormed
	}
	return nil
}

func (n *noted) tag() string { return `W/"` + strconv.FormatInt(n.Version, 10) + `"` }

// part is one request of a batch, and its answer.
type part struct {
	ID      string            `json:"id"`
	Group   string            `json:"atomicityGroup,omitempty"`
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Sent    json.RawMessage   `json:"-"`
	Status  int               `json:"status,omitempty"`
	Body    *noted            `json:"body,omitempty"`
}

// handle makes the change of one request.
func (p *part) handle(tx writingTx) (err error) {
	row := &noted{}
	if _, id, ok := strings.Cut(strings.TrimPrefix(p.URL, "/"), "/"); ok {
		if row.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
			return errFormed
		}
	}
	if p.Method != http.MethodDelete {
		id := row.ID
		if json.Unmarshal(p.Sent, row) != nil || row.check() != nil {
			return errFormed
		}
		row.ID = id
	}
	match := p.Headers["if-match"]
	*p = part{ID: p.ID, Group: p.Group, Method: p.Method, Headers: map[string]string{}}
	switch p.Method {
	case http.MethodPost:
		p.Status = http.StatusCreated
		err = tx.create(row)
		p.Headers["location"] = "/noted/" + strconv.FormatInt(row.ID, 10)
	case http.MethodPatch:
		p.Status = http.StatusOK
		if row.Version, err = strconv.ParseInt(strings.Trim(match, `W/"`), 10, 64); err == nil {
			err = tx.change(row)
		}
	case http.MethodDelete:
		p.Status = http.StatusNoContent
		return tx.remove(row.ID)
	default:
		return errFormed
	}
	p.Method = ""
	p.Headers["content-type"], p.Headers["etag"], p.Body = "application/json", row.tag(), row
	return err
}

// sentPart is a request as it is sent in a batch.
type sentPart struct {
	part
	Sent json.RawMessage `json:"body"`
}

// writeHandlers serves them as a careful developer would: with a session, no cross-site request, checks of the values, one
// transaction, and the row with its entity tag as the answer.
func writeHandlers(mux *http.ServeMux, by writesByHand, rules *grpc.ClientConn) {
	safe := http.NewCrossOriginProtection()
	serve := func(pattern string, handle func(w http.ResponseWriter, r *http.Request, body []byte) error) {
		mux.Handle(pattern, safe.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
			case errors.Is(err, errFormed):
				http.Error(w, err.Error(), http.StatusBadRequest)
			case errors.Is(err, errMoved):
				http.Error(w, err.Error(), http.StatusPreconditionFailed)
			case err != nil:
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})))
	}
	one := func(w http.ResponseWriter, r *http.Request, body []byte) error {
		p := &part{Method: r.Method, URL: r.URL.Path, Headers: map[string]string{"if-match": r.Header.Get("If-Match")}, Sent: body}
		if err := by.in(r.Context(), p.handle); err != nil {
			return err
		}
		for name, value := range p.Headers {
			w.Header().Set(name, value)
		}
		if p.Body == nil {
			w.WriteHeader(p.Status)
			return nil
		}
		return answer(w, p.Status, p.Body)
	}
	serve("POST /noted", one)
	serve("POST /judged", func(w http.ResponseWriter, r *http.Request, body []byte) error {
		row := &noted{}
		if json.Unmarshal(body, row) != nil || row.check() != nil {
			return errFormed
		}
		if err := judged(r.Context(), rules, row); err != nil {
			return err
		}
		return one(w, r, body)
	})
	serve("POST /orders", orderHandler(by))
	serve("PATCH /noted/{id}", one)
	serve("DELETE /noted/{id}", one)
	serve("POST /batch", func(w http.ResponseWriter, r *http.Request, body []byte) error {
		var sent struct {
			Requests []sentPart `json:"requests"`
		}
		if json.Unmarshal(body, &sent) != nil {
			return errFormed
		}
		answers := make([]*part, len(sent.Requests))
		err := by.in(r.Context(), func(tx writingTx) error {
			for i := range sent.Requests {
				p := &sent.Requests[i].part
				p.Sent, answers[i] = sent.Requests[i].Sent, p
				if err := p.handle(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return answer(w, http.StatusOK, map[string]any{"responses": answers})
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
	db                                               *sql.DB
	insert, update, fetch, deletes, orders, sessions *sql.Stmt
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
	}{{&s.insert, notedInsert}, {&s.update, update}, {&s.fetch, notedSelect}, {&s.deletes, notedDelete}, {&s.orders, orderInsert}, {&s.sessions, sessionSelect}} {
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

func (s *sqlWrites) in(ctx context.Context, do func(tx writingTx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	if err := do(&sqlTx{sqlWrites: s, ctx: ctx, tx: tx}); err != nil {
		return err
	}
	return tx.Commit()
}

// sqlTx is a transaction of database/sql, with the statements that it has used.
type sqlTx struct {
	*sqlWrites
	ctx     context.Context
	tx      *sql.Tx
	inserts *sql.Stmt
}

func (s *sqlTx) create(r *noted) error {
	if s.inserts == nil {
		s.inserts = s.tx.StmtContext(s.ctx, s.insert)
	}
	return s.inserts.QueryRowContext(s.ctx, r.Name, string(r.Price), r.Stock, r.Note).Scan(r.into()...)
}

func (s *sqlTx) change(r *noted) error {
	update := s.tx.StmtContext(s.ctx, s.update)
	if s.returns {
		err := update.QueryRowContext(s.ctx, r.Name, string(r.Price), r.ID, r.Version).Scan(r.into()...)
		if errors.Is(err, sql.ErrNoRows) {
			return errMoved
		}
		return err
	}
	done, err := update.ExecContext(s.ctx, r.Name, string(r.Price), r.ID, r.Version)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errMoved)
	}
	return s.tx.StmtContext(s.ctx, s.fetch).QueryRowContext(s.ctx, r.ID).Scan(r.into()...)
}

func (s *sqlTx) remove(id int64) error {
	done, err := s.tx.StmtContext(s.ctx, s.deletes).ExecContext(s.ctx, id)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errMoved)
	}
	return nil
}

// pgxWrites are those of PostgreSQL, by pgx itself. A numeric comes as text.
type pgxWrites struct{ pool *pgxpool.Pool }

func (p pgxWrites) session(ctx context.Context, hash []byte) error {
	var user int64
	return found(p.pool.QueryRow(ctx, sessionSelect, hash, time.Now().UnixMilli()).Scan(&user))
}

const pgxNoted = "id, name, price::text, stock, note, version"

func (p pgxWrites) in(ctx context.Context, do func(tx writingTx) error) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return do(pgxWriting{ctx, tx}) })
}

// pgxWriting is a transaction of pgx.
type pgxWriting struct {
	ctx context.Context
	tx  pgx.Tx
}

const (
	pgxInsert = "INSERT INTO noted (name, price, stock, note, version) VALUES ($1, $2, $3, $4, 1) RETURNING " + pgxNoted
	pgxUpdate = notedUpdate + " RETURNING " + pgxNoted
)

func (p pgxWriting) create(r *noted) error {
	return p.tx.QueryRow(p.ctx, pgxInsert, r.Name, string(r.Price), r.Stock, r.Note).Scan(r.into()...)
}

func (p pgxWriting) change(r *noted) error {
	err := p.tx.QueryRow(p.ctx, pgxUpdate, r.Name, string(r.Price), r.ID, r.Version).Scan(r.into()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return errMoved
	}
	return err
}

func (p pgxWriting) remove(id int64) error {
	tag, err := p.tx.Exec(p.ctx, notedDelete, id)
	if err == nil && tag.RowsAffected() == 0 {
		return errMoved
	}
	return err
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
	batch := func(set string) string {
		list := make([]string, 100)
		for i := range list {
			list[i] = fmt.Sprintf(`{"id":"%d","atomicityGroup":"g","method":"POST","url":"%s","headers":{"content-type":"application/json"},"body":%s}`, i, set, row)
		}
		return `{"requests":[` + strings.Join(list, ",") + `]}`
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
		{"create one row that a plugin judges", n, always("POST /odata/GuardedJudged\n\n" + row), always("POST /judged#Guarded\n\n" + row)},
		orderWriting(),
		{
			"change one row", n, each("PATCH /odata/GuardedNoted(%d)\nIf-Match: W/\"%d\"\n\n"+changed, 1, 100),
			each("PATCH /noted/%d#Guarded\nIf-Match: W/\"%d\"\n\n"+changed, 101, 100),
		},
		{
			"delete one row", n, each("DELETE /odata/GuardedNoted(%d)\nIf-Match: *\nX-Turn: %d\n\n", 1000, 1<<30),
			each("DELETE /noted/%d#Guarded\nX-Turn: %d\n\n", 4000, 1<<30),
		},
		{
			"a changeset of a hundred", 5, always("POST /odata/$batch#Guarded\n\n" + batch("GuardedNoted")), always("POST /batch#Guarded\n\n" + batch("noted")),
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
