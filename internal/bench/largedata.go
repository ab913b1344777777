package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// partitions is how many parts a partitioned table has.
	partitions = 16
	// chunk is how many rows one transaction inserts: where a run that was cut short goes on.
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

// load fills the table, from where the last run ended.
func (l *large) load(ctx context.Context, name string, parts int) error {
	_, err := l.conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS loaded (step text PRIMARY KEY, n bigint NOT NULL, seconds float8 NOT NULL)`)
	if err != nil {
		return err
	}
	var other string
	err = l.conn.QueryRow(ctx, `SELECT step FROM loaded WHERE step LIKE 'table %' AND step <> $1`, "table "+name).Scan(&other)
	if err == nil {
		if _, err := l.conn.Exec(ctx, `DROP TABLE entries; TRUNCATE loaded`); err != nil {
			return err
		}
		l.say("dropped: %s", other)
	} else if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	columns := `(id bigint NOT NULL, category integer NOT NULL, price numeric(10,2) NOT NULL, stock integer NOT NULL, name text NOT NULL, created timestamp(0) NOT NULL)`
	table := `CREATE TABLE entries ` + columns
	if parts > 0 {
		table += ` PARTITION BY HASH (id)`
		for i := range parts {
			table += fmt.Sprintf(`; CREATE TABLE entries_%d PARTITION OF entries FOR VALUES WITH (MODULUS %d, REMAINDER %d)`, i, parts, i)
		}
	}
	if err := l.step(ctx, "table "+name, 0, table); err != nil {
		return err
	}
	for from := 0; from < l.rows; from += chunk {
		to := min(from+chunk, l.rows)
		insert := fmt.Sprintf(`INSERT INTO entries SELECT n, n * 7919 %% 1000, (n * 104729 %% 100000) / 100.0, n %% 1000, 'Entry ' || n,
			timestamp '2000-01-01' + n * interval '5 s' FROM generate_series(%d::bigint, %d) n`, from+1, to)
		if err := l.step(ctx, fmt.Sprintf("rows %d", from), to-from, insert); err != nil {
			return err
		}
	}
	for _, index := range []string{
		`ALTER TABLE entries ADD PRIMARY KEY (id)`, `CREATE INDEX entries_category ON entries (category, price, id)`, `CREATE INDEX entries_created ON entries (created, id)`,
	} {
		if err := l.step(ctx, index, l.rows, index); err != nil {
			return err
		}
	}
	if err := l.step(ctx, "vacuum", l.rows, ``); err != nil {
		return err
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

// step does something once, and notes it in the same transaction; without statement it vacuums.
func (l *large) step(ctx context.Context, name string, n int, statement string) error {
	var done bool
	if err := l.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM loaded WHERE step = $1)`, name).Scan(&done); err != nil || done {
		return err
	}
	begin := time.Now()
	if statement == "" {
		if _, err := l.conn.Exec(ctx, `VACUUM (FREEZE, ANALYZE) entries`); err != nil {
			return err
		}
	}
	tx, err := l.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.Exec(ctx, statement); err != nil {
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
