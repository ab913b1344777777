package postgres_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// TestServerOfSevenConnections holds that a second host learns why a full server refuses it, and that it gets in half a
// minute after the first host has become idle.
func TestServerOfSevenConnections(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG is not set: it takes half a minute (make nightly)")
	}
	t.Parallel()
	dbtest.Postgres(t) // skips without a server
	dsn, err := dbtest.Start("postgres", "-c", "max_connections=7")
	if err != nil {
		t.Fatal(err)
	}
	first := migrated(t, dsn)
	var release []func() error
	for len(release) < 7 {
		conn, err := first.Reader().Conn(t.Context())
		if err != nil {
			break
		}
		release = append(release, conn.Close)
	}
	_, err = postgres.Open(t.Context(), dsn)
	if err == nil || !store.IsAway(err) || !strings.Contains(store.Remedy(err), "max_connections") {
		t.Fatalf("a full server with %d connections of one host: %v, remedy %q", len(release), err, store.Remedy(err))
	}
	for _, close := range release {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	for err != nil && time.Since(began) < 50*time.Second {
		time.Sleep(time.Second)
		var second *store.DB
		if second, err = postgres.Open(t.Context(), dsn); err == nil {
			err = second.Close()
			break
		}
	}
	if err != nil {
		t.Errorf("the first host keeps its connections although it is idle: %v", err)
	}
}
