package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// Tables of -wide: as many as an ERP has, each with columns beside its key, name and foreign keys.
const (
	wideTables = 1000
	wideKeys   = 4
)

// wideColumns are the columns that all tables of -wide have, with their types.
func wideColumns() [][2]string {
	return [][2]string{
		{"code", "VARCHAR(20) NOT NULL"},
		{"description", "TEXT"},
		{"quantity", "INTEGER NOT NULL"},
		{"price", "DECIMAL(12,2)"},
		{"currency", "CHAR(3)"},
		{"valid_from", "DATE"},
		{"created_at", "TIMESTAMP NOT NULL"},
		{"active", "BOOLEAN NOT NULL"},
		{"weight", "DOUBLE PRECISION"},
		{"status", "VARCHAR(12)"},
		{"website", "VARCHAR(200)"},
		{"remark", "TEXT"},
		{"position", "INTEGER"},
		{"reference", "VARCHAR(40)"},
	}
}

func wideTable(n int) string { return fmt.Sprintf("entity_%04d", n) }

// makeWide makes the tables. Each has foreign keys to four others.
func makeWide(ctx context.Context, driver, dsn string) (err error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, keys := range []bool{false, true} {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for t := range wideTables {
			var statement strings.Builder
			switch {
			case !keys:
				fmt.Fprintf(&statement, "CREATE TABLE %s (id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL", wideTable(t))
				for f := range wideKeys {
					fmt.Fprintf(&statement, ", parent_%d_id INTEGER", f)
					if driver == "sqlite" {
						fmt.Fprintf(&statement, " REFERENCES %s(id)", wideTable(wideParent(t, f)))
					}
				}
				for _, c := range wideColumns() {
					fmt.Fprintf(&statement, ", %s %s", c[0], c[1])
				}
				statement.WriteString(")")
			case driver != "sqlite": // where the other table must be there
				fmt.Fprintf(&statement, "ALTER TABLE %s", wideTable(t))
				for f := range wideKeys {
					fmt.Fprintf(&statement, "%s ADD FOREIGN KEY (parent_%d_id) REFERENCES %s(id)", strings.Repeat(",", min(f, 1)), f, wideTable(wideParent(t, f)))
				}
			default:
				continue
			}
			if _, err := tx.ExecContext(ctx, statement.String()); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func wideParent(table, key int) int { return (table*7 + key*131) % wideTables }

// A wide is a program with a configuration for a thousand tables.
type wide struct {
	program, dir string
	check, serve []float64 // s of processor time, by round
	ready, after []float64 // MiB
	document     []float64 // s of processor time for $metadata
	lines, size  int
}

// widened measures check and serve with a thousand tables: with the configuration that init writes, and with a label for each
// column beside it.
func (s settings) widened(ctx context.Context, db string) (all, within int, err error) {
	dir, err := os.MkdirTemp("", "wide")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.build(ctx, dir); err != nil {
		return 0, 0, err
	}
	configuration, err := s.wideConfiguration(ctx, db, dir)
	if err != nil {
		return 0, 0, err
	}
	var labels strings.Builder
	labels.WriteString("odata {\n")
	for t := range wideTables {
		fmt.Fprintf(&labels, "  entity_set %q {\n", wideTable(t))
		for _, c := range wideColumns() {
			fmt.Fprintf(&labels, "    property %q {\n      label = \"The %s of it\"\n    }\n", c[0], c[0])
		}
		labels.WriteString("  }\n")
	}
	labels.WriteString("}\n")
	for _, label := range []string{"", labels.String()} {
		w := &wide{program: s.program, dir: dir, lines: strings.Count(configuration+label, "\n")}
		if err := w.configure(configuration, label); err != nil {
			return 0, 0, err
		}
		for range s.rounds {
			if err := w.round(ctx); err != nil {
				return 0, 0, err
			}
		}
		fmt.Printf("%s, %d tables, %d lines of configuration, $metadata of %d bytes\n", db, wideTables, w.lines, w.size)
		n, ok, err := s.print(w.tests(label == ""))
		if err != nil {
			return 0, 0, err
		}
		all, within = all+n, within+ok
	}
	return all, within, nil
}

// wideConfiguration makes the database, and returns config.hcl with what init proposes for it.
func (s settings) wideConfiguration(ctx context.Context, db, dir string) (string, error) {
	driver, handle, dsn, err := db, db, filepath.Join(dir, "erp.db"), error(nil)
	switch db {
	case "postgres":
		handle = "pgx"
		dsn, err = dbtest.Start("postgres")
	case "mariadb":
		driver, handle = "mysql", "mysql"
		dsn, err = dbtest.Start("mysql")
	}
	if err == nil {
		err = makeWide(ctx, handle, dsn)
	}
	if err != nil {
		return "", fmt.Errorf("make the tables: %w", err)
	}
	command := exec.CommandContext(ctx, s.program, "init", "--driver", driver, "--from", dsn)
	command.Stderr = os.Stderr
	proposed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("init: %w", err)
	}
	fmt.Printf("%s, init --from: %.2f s of processor time\n", db, (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds())
	main, queries := driver, fmt.Sprintf("odata {\n  guard = %q\n", "none")
	if db == "sqlite" { // sign-in has a file of its own
		queries += fmt.Sprintf("  database {\n    driver = %q\n    dsn    = %q\n  }\n", driver, dsn)
		dsn = filepath.Join(dir, "vestibule.db")
	}
	return fmt.Sprintf("server {\n  address = %q\n  drain   = %q\n}\ndatabase {\n  driver = %q\n  dsn    = %q\n}\n", "127.0.0.1:0", "0s", main, dsn) +
		strings.Replace(string(proposed), "odata {\n", queries, 1), nil
}

// configure writes the configuration, and labels into a file of conf.d.
func (w *wide) configure(configuration, labels string) error {
	err := os.WriteFile(filepath.Join(w.dir, "config.hcl"), []byte(configuration), 0o600)
	if err != nil || labels == "" {
		return err
	}
	folder := filepath.Join(w.dir, "conf.d")
	return errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "labels.hcl"), []byte(labels), 0o600))
}

// round runs check, and serve until it is ready and has given $metadata.
func (w *wide) round(ctx context.Context) (err error) {
	check := exec.CommandContext(ctx, w.program, "check")
	check.Dir = w.dir
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("check: %w: %s", err, out)
	}
	w.check = append(w.check, (check.ProcessState.UserTime() + check.ProcessState.SystemTime()).Seconds())

	serve := exec.CommandContext(ctx, w.program, "serve")
	serve.Dir = w.dir
	var log bytes.Buffer
	serve.Stderr = &log
	out, err := serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := serve.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serve.Process.Signal(syscall.SIGTERM), serve.Wait()) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("serve: %w: %s", err, log.String())
	}
	_, base, _ := strings.Cut(strings.TrimSpace(line), " is ready at ")
	return w.served(serve.Process.Pid, base)
}

func (w *wide) served(pid int, base string) error {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}, Timeout: time.Minute}
	for {
		if _, status, err := fetch(client, base+"/readyz"); err != nil {
			return err
		} else if status == http.StatusOK {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	before, err := processorTime(pid)
	if err != nil {
		return err
	}
	w.serve, w.ready = append(w.serve, float64(before)/1e6), append(w.ready, resident(pid))
	document, status, err := fetch(client, base+"/odata/$metadata")
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("$metadata: %d, %w", status, err)
	}
	after, err := processorTime(pid)
	w.size, w.document, w.after = len(document), append(w.document, float64(after-before)/1e6), append(w.after, resident(pid))
	return err
}

func fetch(client *http.Client, url string) (body []byte, status int, err error) {
	resp, err := client.Get(url)
	if err != nil {
		return nil, 0, err
	}
	body, err = io.ReadAll(resp.Body)
	return body, resp.StatusCode, errors.Join(err, resp.Body.Close())
}

// resident returns the memory of a process in MiB.
func resident(pid int) float64 {
	kB, _ := strconv.ParseFloat(strings.TrimSuffix(status(pid, "VmRSS:"), " kB"), 64)
	return kB / 1024
}

// tests are the rows of a configuration. Issues set targets for what init writes.
func (w *wide) tests(aimed bool) []test {
	row := func(name string, target float64, values []float64) test {
		if !aimed {
			target = 0
		}
		return test{name, target, func() (measured, error) {
			return measured{median(values), fmt.Sprintf("%.2f", values)}, nil
		}}
	}
	return []test{
		row("check, s of processor time", 1, w.check),
		row("serve until ready, s of processor time", 1.5, w.serve),
		row("memory when ready, MiB", 120, w.ready),
		row("memory after $metadata, MiB", 180, w.after),
		row("$metadata for the first time, s of processor time", 0, w.document),
	}
}
