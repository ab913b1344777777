package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// partitions is how many parts a partitioned table has.
	partitions = 16
	// chunk is how many rows one transaction copies: where a run that was cut short goes on.
	chunk = 2_000_000
)

// shape returns what loads a table, plain or in parts, measures it, and drops it.
func (l *large) shape(name string, parts int) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := l.load(ctx, name, parts); err != nil {
			return err
		}
		if err := l.pages(ctx, name); err != nil {
			return err
		}
		if l.keep {
			return nil
		}
		_, err := l.conn.Exec(ctx, "DROP TABLE entries; DROP TABLE loaded")
		return err
	}
}

// load fills the table, from where the last run ended. The server has other settings meanwhile.
func (l *large) load(ctx context.Context, name string, parts int) error {
	_, err := l.conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS loaded (step text PRIMARY KEY, n bigint NOT NULL, seconds float8 NOT NULL)`)
	if err != nil {
		return err
	}
	if err := l.dropOther(ctx, name); err != nil {
		return err
	}
	done, err := l.done(ctx, "vacuum")
	if err != nil {
		return err
	}
	if !done {
		if err := l.restart(ctx, loading()); err != nil {
			return err
		}
		if err := l.fill(ctx, name, parts); err != nil {
			return err
		}
		if err := l.restart(ctx, production()); err != nil {
			return err
		}
	}
	var rows, size int64
	var seconds float64
	err = l.conn.QueryRow(ctx, `SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relname ~ '^entries(_[0-9]+)?$' AND relkind = 'r'`).Scan(&size)
	if err == nil {
		err = l.conn.QueryRow(ctx, `SELECT sum(n) FILTER (WHERE step LIKE 'rows %')::bigint, sum(seconds) FROM loaded`).Scan(&rows, &seconds)
	}
	l.say("%s: %d rows, %.1f GB with indexes, loaded in %.0f s", name, rows, float64(size)/1e9, seconds)
	return err
}

// dropOther drops what a run for another table left.
func (l *large) dropOther(ctx context.Context, name string) error {
	var other string
	err := l.conn.QueryRow(ctx, `SELECT step FROM loaded WHERE step LIKE 'table %' AND step <> $1`, "table "+name).Scan(&other)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		l.say("dropped: %s", other)
		_, err = l.conn.Exec(ctx, `DROP TABLE entries; TRUNCATE loaded`)
	}
	return err
}

// fill does the steps that the last run has not done.
func (l *large) fill(ctx context.Context, name string, parts int) error {
	columns := `(id bigint NOT NULL, category integer NOT NULL, price numeric(10,2) NOT NULL, stock integer NOT NULL, name text NOT NULL, created timestamp(0) NOT NULL)`
	table := `CREATE TABLE entries ` + columns
	if parts > 0 {
		table += ` PARTITION BY HASH (id)`
		for i := range parts {
			table += fmt.Sprintf(`; CREATE TABLE entries_%d PARTITION OF entries FOR VALUES WITH (MODULUS %d, REMAINDER %d)`, i, parts, i)
		}
	}
	if err := l.step(ctx, "table "+name, 0, l.executed(table)); err != nil {
		return err
	}
	for from := 0; from < l.rows; from += chunk {
		to := min(from+chunk, l.rows)
		if err := l.step(ctx, fmt.Sprintf("rows %d", from), to-from, l.copied(from+1, to)); err != nil {
			return err
		}
	}
	for _, index := range []string{
		`ALTER TABLE entries ADD PRIMARY KEY (id)`, `CREATE INDEX entries_category ON entries (category, price, id)`, `CREATE INDEX entries_created ON entries (created, id)`,
	} {
		if err := l.step(ctx, index, l.rows, l.executed(index)); err != nil {
			return err
		}
	}
	begin := time.Now()
	if _, err := l.conn.Exec(ctx, `VACUUM (FREEZE, ANALYZE) entries`); err != nil {
		return err
	}
	_, err := l.conn.Exec(ctx, `INSERT INTO loaded VALUES ('vacuum', $1, $2)`, l.rows, time.Since(begin).Seconds())
	return err
}

// executed returns the step that executes a statement.
func (l *large) executed(statement string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := l.conn.Exec(ctx, statement)
		return err
	}
}

// copied returns the step that copies rows into the table.
func (l *large) copied(from, to int) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := l.conn.PgConn().CopyFrom(ctx, piped(func(w io.Writer) error {
			var line []byte
			for n := from; n <= to; n++ {
				line = entryText(line[:0], n)
				if _, err := w.Write(line); err != nil {
					return err
				}
			}
			return nil
		}), "COPY entries FROM STDIN")
		return err
	}
}

// entryText appends a row as COPY reads it.
func entryText(line []byte, n int) []byte {
	line = strconv.AppendInt(line, int64(n), 10)
	line = append(line, '\t')
	line = strconv.AppendInt(line, int64(n*7919%1000), 10)
	line = append(line, '\t')
	cents := n * 104729 % 100000
	line = strconv.AppendInt(line, int64(cents/100), 10)
	line = append(line, '.', byte('0'+cents/10%10), byte('0'+cents%10), '\t')
	line = strconv.AppendInt(line, int64(n%1000), 10)
	line = append(line, "\tEntry "...)
	line = strconv.AppendInt(line, int64(n), 10)
	line = append(line, '\t')
	line = time.Unix(946684800+5*int64(n), 0).UTC().AppendFormat(line, time.DateTime)
	return append(line, '\n')
}

// done reports whether a step was done.
func (l *large) done(ctx context.Context, name string) (done bool, err error) {
	err = l.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM loaded WHERE step = $1)`, name).Scan(&done)
	return done, err
}

// step does something once, and notes it in the same transaction.
func (l *large) step(ctx context.Context, name string, n int, do func(context.Context) error) error {
	if done, err := l.done(ctx, name); err != nil || done {
		return err
	}
	begin := time.Now()
	tx, err := l.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after a commit there is nothing to roll back
	if err := do(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO loaded VALUES ($1, $2, $3)`, name, n, time.Since(begin).Seconds()); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	fmt.Printf("%s: %.0f s\n", name, time.Since(begin).Seconds())
	return nil
}
