package sqlsource_test

import (
	"strings"
	"testing"
	"time"
)

// A transaction that has kept the lock of a SQLite file for too long ends with 503, is not tried again, and has changed nothing.
func TestHeldWriterIsUnavailable(t *testing.T) {
	s := open(t, orders(t, "sqlite"), ordersConfig(nil))
	w := writer{t, s, tenant(1)}
	before := w.write("PATCH Orders(1) note=x", "*")
	s.Hold(100 * time.Millisecond)
	for _, change := range []string{"PATCH Orders(1) total=7", ""} {
		tx, err := w.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.apply(tx, w.change("PATCH Orders(1) total=6,note=y", "*")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		if change == "" {
			err = tx.Commit()
		} else {
			_, err = w.apply(tx, w.change(change, "*"))
		}
		if got, want := faultOf(err), "503"; got != want {
			t.Errorf("%q ended with %q, %v; want %q", change, got, err, want)
		}
		if err := tx.Close(); err != nil {
			t.Error(err)
		}
	}
	s.Hold(time.Minute)
	want := strings.Replace(before, ",2,", ",3,", 1) // the version
	if after := w.write("PATCH Orders(1) note=x", "*"); after != want {
		t.Errorf("transactions that were undone have written: got %s, want %s", after, want)
	}
}
