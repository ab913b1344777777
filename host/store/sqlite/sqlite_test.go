package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/vestibule-dev/vestibule/host/store"
	"github.com/vestibule-dev/vestibule/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/host/store/storetest"
)

func fixture(t testing.TB) func(context.Context) (*store.DB, error) {
	file := filepath.Join(t.TempDir(), "test.db")
	return func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, file) }
}

func TestStore(t *testing.T) { storetest.Run(t, fixture) }
