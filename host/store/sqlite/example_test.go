package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// A database is opened, brought up to date, and then used through the contracts
// of host/auth; what belongs together is one transaction.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "vestibule")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "app.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()
	done, err := db.Migrate(ctx)
	fmt.Println(len(done) > 0, err)

	err = db.InTx(ctx, func(ctx context.Context) error {
		if _, err := db.AddUser(ctx, "ada@example.com", "Ada", "a hash"); err != nil {
			return err
		}
		_, err := db.AddUser(ctx, "ADA@example.com", "Ada", "a hash")
		return err
	})
	fmt.Println(errors.Is(err, store.ErrTaken))
	users, err := db.ListUsers(ctx, "", 10)
	fmt.Println(len(users), err)
	// Output:
	// true <nil>
	// true
	// 0 <nil>
}
