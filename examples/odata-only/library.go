package main

import (
	"database/sql"
	_ "embed" // library.sql
	"fmt"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // driver "sqlite", to make the library
)

//go:embed library.sql
var library string

// database gives the file to serve, and makes one where none is named.
func database(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	dir, err := os.MkdirTemp("", "odata-only")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "library.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", file, err)
	}
	if _, err := db.Exec(library); err != nil {
		return "", fmt.Errorf("make %s: %w", file, err)
	}
	return file, db.Close()
}
