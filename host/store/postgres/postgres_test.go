package postgres_test

import (
	"context"
	"testing"

	"github.com/vestibule-dev/vestibule/host/store"
	"github.com/vestibule-dev/vestibule/host/store/postgres"
	"github.com/vestibule-dev/vestibule/host/store/storetest"
	"github.com/vestibule-dev/vestibule/odata/odatatest/dbtest"
)

func fixture(t testing.TB) func(context.Context) (*store.DB, error) {
	dsn := dbtest.Postgres(t)
	return func(ctx context.Context) (*store.DB, error) { return postgres.Open(ctx, dsn) }
}

func TestStore(t *testing.T) { storetest.Run(t, fixture) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, fixture) }
