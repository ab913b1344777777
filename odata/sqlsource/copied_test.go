package sqlsource_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// A shorter file that is copied over the database, under load, once ended the process.
func TestACopyOverTheFileDoesNotEndTheProcess(t *testing.T) {
	if file := os.Getenv("COPIED_OVER"); file != "" {
		readWhileCopied(t, file)
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestACopyOverTheFileDoesNotEndTheProcess$")
	cmd.Env = append(os.Environ(), "COPIED_OVER="+filepath.Join(t.TempDir(), "app.db"))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("outlived")) {
		t.Errorf("%v\n%.2000s", err, out)
	}
}

func readWhileCopied(t *testing.T, file string) {
	if err := exchangeFile(t, file, "long", 20000).Close(); err != nil {
		t.Fatal(err)
	}
	if err := exchangeFile(t, file+".short", "short", 3).Close(); err != nil {
		t.Fatal(err)
	}
	contents := [][]byte{}
	for _, name := range []string{file, file + ".short"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, content)
	}
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					p, err := s.plan(fmt.Sprintf("things?$orderby=word&$top=50&$skip=%d", i*100), 0)
					if err != nil {
						continue
					}
					rows, err := s.Open(t.Context(), p)
					if err != nil {
						continue // a damaged file, while it is being copied
					}
					for rows.Next() { // to its end, or to a fault
						_ = rows.Row()
					}
					_ = rows.Close()
				}
			}
		})
	}
	for i := range 40 { // as cp does: cut off, then written in place
		if err := os.WriteFile(file, contents[(i+1)%2], 0o600); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	fmt.Println("outlived")
}
