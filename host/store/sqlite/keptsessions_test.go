package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// keep begins a session and finds it until its row is kept.
func keep(t *testing.T, db *store.DB, key string) session.Record {
	t.Helper()
	now := time.Now()
	rec := session.Record{Hash: []byte(key), UserID: key, Created: now, Seen: now, Expires: now.Add(time.Hour)}
	err := db.Sessions().CreateSession(t.Context(), rec)
	for range 3 {
		if err == nil {
			rec, err = db.Sessions().FindSession(t.Context(), []byte(key))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// What another host on the file commits is seen by the next request, whoever has read the row before.
func TestKeptSessionsEndWithTheNextCommit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	db, other := open(t, file), open(t, file)
	later := time.Now().Add(time.Minute).Truncate(time.Millisecond)
	for _, tt := range []struct {
		name   string
		change func(rec session.Record) error
		want   func(rec session.Record, err error) bool
	}{
		{
			"deleted", func(rec session.Record) error { return other.Sessions().DeleteSession(t.Context(), rec.Hash) },
			func(_ session.Record, err error) bool { return errors.Is(err, session.ErrGone) },
		},
		{
			"its user's are deleted", func(rec session.Record) error { return other.Sessions().DeleteUserSessions(t.Context(), rec.UserID) },
			func(_ session.Record, err error) bool { return errors.Is(err, session.ErrGone) },
		},
		{
			"visited", func(rec session.Record) error { return other.Sessions().TouchSession(t.Context(), rec.Hash, later) },
			func(rec session.Record, err error) bool { return err == nil && rec.Seen.Equal(later) },
		},
		{
			"saved", func(rec session.Record) error {
				rec.UserID = "somebody else"
				return other.Sessions().UpdateSession(t.Context(), rec)
			},
			func(rec session.Record, err error) bool { return err == nil && rec.UserID == "somebody else" },
		},
	} {
		for _, checkpoint := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", log emptied ", checkpoint), func(t *testing.T) {
				rec := keep(t, db, t.Name())
				if err := tt.change(rec); err != nil {
					t.Fatal(err)
				}
				if checkpoint {
					if _, err := other.Writer().ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
						t.Fatal(err)
					}
				}
				if got, err := db.Sessions().FindSession(t.Context(), rec.Hash); !tt.want(got, err) {
					t.Errorf("the next request finds %+v, %v", got, err)
				}
			})
		}
	}
}

// No request finds a session as it was before a save that was told to be done.
func TestKeptSessionsBesideSaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	db, other := open(t, file), open(t, file)
	rec := keep(t, db, "ada")
	var told atomic.Int64
	told.Store(rec.Version)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				least := told.Load()
				got, err := db.Sessions().FindSession(t.Context(), rec.Hash)
				if err != nil || got.Version < least {
					t.Errorf("version %d (%v) is found after %d was saved", got.Version, err, least)
					return
				}
			}
		})
	}
	for range 300 {
		if err := other.Sessions().UpdateSession(t.Context(), rec); err != nil {
			t.Error(err)
			break
		}
		rec.Version++
		told.Store(rec.Version)
	}
	close(done)
	readers.Wait()
}

// A host that is closed leaves nothing behind that the next one on the file stumbles over, however often.
func TestKeptSessionsAreGivenBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	for i := range 5 {
		db, err := sqlite.Open(t.Context(), file)
		if err == nil {
			_, err = db.Migrate(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		keep(t, db, fmt.Sprint("user", i))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if maps, err := os.ReadFile("/proc/self/maps"); err == nil && bytes.Contains(maps, []byte(file+"-shm")) {
			t.Errorf("after %d the index of the log is still mapped", i)
		}
	}
}
