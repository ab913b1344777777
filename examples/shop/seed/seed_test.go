package seed_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
)

// build makes the shop once for the tests that read it.
func build(t *testing.T) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new", "shop with ? and #.db")
	made, err := seed.Build(t.Context(), path)
	if err != nil || !made {
		t.Fatalf("made: %v, %v", made, err)
	}
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", "#", "%23", " ", "%20").Replace(path)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	made, err = seed.Build(t.Context(), path)
	after, statErr := os.Stat(path)
	if made || err != nil || statErr != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the second time: made %v, %v, %v", made, err, statErr)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files left behind: %v (%v)", entries, err)
	}
	return db
}

func one[T any](t *testing.T, db *sql.DB, query string) T {
	t.Helper()
	var v T
	if err := db.QueryRow(query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestShop(t *testing.T) {
	if slow {
		t.Skip("takes minutes under the race detector, and has nothing for it to find")
	}
	db := build(t)
	t.Run("rows", func(t *testing.T) {
		for table, want := range map[string]int{
			"users": 1, "password_reset_tokens": 0, "company": 1, "categories": 53, "suppliers": seed.Suppliers,
			"products": seed.Products, "customers": seed.Customers, "orders": seed.Orders,
			"order_items": 200_143, "related_products": 29_876,
			"reviews": seed.Reviews,
		} {
			if got := one[int](t, db, "SELECT COUNT(*) FROM "+table); got != want {
				t.Errorf("%s: %d rows, want %d", table, got, want)
			}
		}
	})
	t.Run("sound", func(t *testing.T) {
		if got := one[string](t, db, "PRAGMA integrity_check"); got != "ok" {
			t.Error(got)
		}
		for what, query := range map[string]string{
			"broken references":                "SELECT COUNT(*) FROM pragma_foreign_key_check",
			"totals that are not the sum":      "SELECT COUNT(*) FROM orders o WHERE ABS(total - (SELECT SUM(unit_price * quantity) FROM order_items WHERE order_id = o.id)) > 0.001",
			"products below cost":              "SELECT COUNT(*) FROM products WHERE cost >= price OR price <= 0",
			"changes before the creation":      "SELECT COUNT(*) FROM products WHERE updated_at < created_at",
			"orders out of sequence":           "SELECT COUNT(*) FROM orders a JOIN orders b ON b.id = a.id + 1 WHERE b.ordered_at < a.ordered_at",
			"changed before they were written": "SELECT COUNT(*) FROM reviews WHERE changed_at < created_at",
			"reviews by nobody":                "SELECT COUNT(*) FROM reviews WHERE author_id NOT IN (SELECT id FROM users)",
			"products beside themselves":       "SELECT COUNT(*) FROM related_products WHERE product_id = related_id",
		} {
			if n := one[int](t, db, query); n != 0 {
				t.Errorf("%s: %d", what, n)
			}
		}
	})
	t.Run("worth querying", func(t *testing.T) {
		for what, query := range map[string]string{
			"names beyond ASCII":          "SELECT COUNT(*) FROM products WHERE name GLOB '*[^ -~]*'",
			"null descriptions":           "SELECT COUNT(*) FROM products WHERE description IS NULL",
			"null weights":                "SELECT COUNT(*) FROM products WHERE weight_kg IS NULL",
			"out of stock":                "SELECT COUNT(*) FROM products WHERE stock = 0",
			"discontinued":                "SELECT COUNT(*) FROM products WHERE discontinued",
			"orders not yet sent":         "SELECT COUNT(*) FROM orders WHERE shipped_at IS NULL",
			"reviews of the demo account": "SELECT COUNT(*) FROM reviews WHERE author_id = 1 AND author = 'Ada Demo'",
			"top categories":              "SELECT COUNT(*) FROM categories WHERE parent_id IS NULL",
		} {
			if n := one[int](t, db, query); n == 0 {
				t.Errorf("no %s", what)
			}
		}
	})
	t.Run("demo account", func(t *testing.T) {
		hash := one[string](t, db, "SELECT password FROM users WHERE email = 'demo@example.com' AND name = 'Ada Demo' AND partner_id IS NULL")
		if !strings.HasPrefix(hash, "$2y$10$") {
			t.Errorf("stored as %.7s", hash)
		}
		if err := bcrypt.CompareHashAndPassword([]byte("$2a$"+hash[4:]), []byte(seed.Password)); err != nil || len(seed.Password) < 12 {
			t.Errorf("the password does not fit: %v", err)
		}
	})
	t.Run("the same on every machine", func(t *testing.T) {
		for table, want := range map[string]string{
			"categories": "e880e80f", "suppliers": "6c5dc928", "products": "abb773d5", "related_products": "eb232434",
			"customers": "a9a30f2b", "orders": "cd42ba47", "order_items": "0f20cc03",
			"reviews": "2586bc6e",
		} {
			if got := sum(t, db, table); got != want {
				t.Errorf("%s: %s, want %s; if that is right, change it here", table, got, want)
			}
		}
	})
}

// sum is the beginning of a hash over all rows of a table.
func sum(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + table + " ORDER BY 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	h := sha256.New()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(h, "%v\n", values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

func TestForeignFilesAreNotTouched(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "text": "dear diary"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "shop.db")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := seed.Build(t.Context(), path); !errors.Is(err, seed.ErrNotAShop) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v", err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("the file holds %q (%v)", got, err)
			}
		})
	}
}

func TestNothingHalfMade(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := t.TempDir()
	if _, err := seed.Build(ctx, filepath.Join(d, "shop.db")); err == nil {
		t.Error("made by a stopped program")
	}
	if entries, err := os.ReadDir(d); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}
