package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// Start starts a server of its own for a program that measures, and returns the data source name of an empty database on
// it, called "bench". The dialect is "postgres" or "mysql"; args are further arguments of the server's command. The server
// and its data live as long as the process that started it, however that ends.
func Start(dialect string, args ...string) (dsn string, err error) {
	e, name, database := postgresEngine(), postgresDSN, "postgres"
	switch dialect {
	case "postgres":
	case "mysql":
		e, name, database = mariadbEngine(), mysqlDSN, ""
	default:
		return "", fmt.Errorf("there is no server for %q", dialect)
	}
	serve := e.serve
	e.serve = func(bin []string, dir string) []string { return append(serve(bin, dir), args...) }
	srv, err := startFor(e)
	if err != nil {
		return "", err
	}
	return name(srv.dir, "bench"), admin(e.driver, name(srv.dir, database), "CREATE DATABASE bench")
}

// Follow starts a hot standby of a PostgreSQL server that Start has started, with all that is there by now, and returns the
// data source name of the database there. It lives as long as the process.
func Follow(dsn string, args ...string) (string, error) {
	e, followed, err := standbyOf(dsn)
	if err != nil {
		return "", err
	}
	serve := e.serve
	e.serve = func(bin []string, dir string) []string { return append(serve(bin, dir), args...) }
	srv, err := startFor(e)
	if err != nil {
		return "", err
	}
	return followed(srv), nil
}

// startFor starts a server that lives as long as the process.
func startFor(e engine) (*server, error) {
	programs, ok := e.find()
	if !ok {
		return nil, errors.New(e.name + " is missing: " + e.remedy)
	}
	srv, err := start(e, programs)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", e.name, err)
	}
	// The lifeline must stay open: a file that nobody refers to is closed by its finalizer.
	shared.started = append(shared.started, srv)
	return srv, nil
}

// CountChanges runs the script that operators get, whose path is that of docs/operations/counted-changes.sql, and counts the changes of
// tables.
func CountChanges(ctx context.Context, db *sql.DB, script string, tables ...string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := db.ExecContext(ctx, "CALL public.vestibule_count_changes('"+t+"')"); err != nil {
			return err
		}
	}
	return nil
}
