package sqlsource_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Filters look at other tables, and at the table that is written: through a navigation to one, in any, and in a count.
func TestFiltersOverOtherRowsGuardWrites(t *testing.T) {
	for _, dialect := range dialects() {
		for filter, want := range map[string][2]string{ // what happens to the orders 4 and 5
			"customer/name eq 'Ada'":                    {"4", "403"},
			"marks/any(m:m/id eq 1)":                    {"403", "5"},
			"customer/orders/$count eq 1":               {"4", "403"},
			"customer/orders/all(o:o/total lt 50)":      {"4", "403"},
			"customer eq null or customer/name ne 'Al'": {"4", "5"},
		} {
			t.Run(dialect+" "+filter, func(t *testing.T) {
				t.Parallel()
				cfg := ordersConfig(func(s *sqlsource.EntitySet) {
					s.Write.Filter = filter
					s.Navigations = []sqlsource.Navigation{
						{Name: "customer", To: "Customers", On: map[string]string{"customer_id": "id"}},
						{Name: "marks", To: "Marks", Many: true, On: map[string]string{"id": "order_id"}},
					}
				})
				cfg.EntitySets[1].Navigations = []sqlsource.Navigation{{Name: "orders", To: "Orders", Many: true, On: map[string]string{"id": "customer_id"}}}
				cfg.EntitySets = append(cfg.EntitySets, sqlsource.EntitySet{Name: "Marks", Table: "marks"})
				db := orders(t, dialect)
				fill(t, db.DB.DB, `INSERT INTO customers VALUES (3, 1, 'Cy');
INSERT INTO orders (id, tenant, code, total, customer_id) VALUES (4, 1, 'p', 4, 1), (5, 1, 'q', 60, 3), (6, 1, 'r', 70, 3);
UPDATE marks SET order_id = 5`)
				w := writer{t, open(t, db, cfg), tenant(1)}
				for i, id := range []string{"4", "5"} {
					got := w.write("PATCH Orders("+id+")?$select=id note=x", "*")
					if got != want[i] {
						t.Errorf("PATCH of %s: %s, want %s", id, got, want[i])
					}
					gone := map[string]string{"403": "403", "4": "gone", "5": "referenced"}[want[i]]
					if got := w.write("DELETE Orders("+id+")", "*"); got != gone {
						t.Errorf("DELETE of %s: %s, want %s", id, got, gone)
					}
				}
			})
		}
	}
}

// Two transactions that wait for each other: one of them is undone, and may be tried again.
func TestDeadlockIsAConflict(t *testing.T) {
	for _, dialect := range []string{"postgres", "mysql"} { // SQLite has one writer
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			w := writer{t, open(t, orders(t, dialect), ordersConfig(nil)), tenant(1)}
			first := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
			outcome := make(chan error, 2)
			for i := range 2 {
				mine, other := w.change([]string{"PATCH Orders(1) note=x", "PATCH Orders(2) note=x"}[i], "*"), w.change([]string{"PATCH Orders(2) note=x", "PATCH Orders(1) note=x"}[i], "*")
				go func() {
					tx, err := w.Begin(context.Background())
					if err == nil {
						defer func() { _ = tx.Close() }()
						_, err = w.apply(tx, mine)
					}
					close(first[i])
					<-first[1-i]
					if err == nil {
						_, err = w.apply(tx, other)
					}
					if err == nil {
						err = tx.Commit()
					}
					outcome <- err
				}()
			}
			one, two := <-outcome, <-outcome
			if one == nil {
				one, two = two, one
			}
			if two != nil || one == nil || refusalOf(one) != "conflict" {
				t.Errorf("%v, and %v", one, two)
			}
		})
	}
}

// A client that goes away leaves no transaction, no lock and nothing that it has written.
func TestClientGoesAway(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := orders(t, dialect)
			db.Wait = func(context.Context) time.Duration { return 300 * time.Millisecond }
			s := open(t, db, ordersConfig(nil))
			w := writer{t, s, tenant(1)}
			for _, at := range []string{"before the change", "behind it", "waiting for the row"} {
				ctx, cancel := context.WithCancel(context.Background())
				var holder write.Transaction
				if at == "waiting for the row" {
					var err error
					if holder, err = s.Begin(context.Background()); err != nil {
						t.Fatal(err)
					}
					if _, _, err := holder.Apply([]*write.Change{w.change("PATCH Orders(2) note=held", "*")}); err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(100*time.Millisecond, cancel)
				}
				tx, err := s.Begin(ctx)
				if at == "before the change" {
					cancel()
				}
				if err == nil {
					_, _, err = tx.Apply([]*write.Change{w.change("PATCH Orders(2) note=gone", "*")})
				}
				if at == "behind it" && err == nil {
					cancel()
					err = tx.Commit()
				}
				var told *plan.Error
				if !errors.As(err, &told) || told.Kind != plan.Unavailable {
					t.Errorf("%s: %v", at, err)
				}
				if tx != nil {
					_ = tx.Close()
				}
				cancel()
				if holder != nil {
					if err := holder.Close(); err != nil {
						t.Error(err)
					}
				}
				if got := w.write("PATCH Orders(2)?$select=note total=20", "*"); got != "new" {
					t.Errorf("%s: the row then has %s", at, got)
				}
			}
			if busy := s.Pool().InUse; busy > 0 {
				t.Errorf("%d connections were not given back", busy)
			}
		})
	}
}

// A connection that breaks before COMMIT was sent has written nothing; one that breaks before its answer has perhaps.
func TestConnectionBreaksUnderWrites(t *testing.T) {
	for _, dialect := range []string{"postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			driver := map[string]string{"postgres": "pgx", "mysql": "mysql"}[dialect]
			proxy, dsn := dbtest.BehindProxy(t, driver)
			through, err := sqlx.Open(driver, dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = through.Close() })
			fill(t, through.DB, ordersScript(dialect))
			w := writer{t, open(t, sqlsource.Database{Dialect: dialect, DB: through, Wait: func(context.Context) time.Duration { return 10 * time.Second }}, ordersConfig(nil)), tenant(1)}
			begun := func() write.Transaction {
				tx, err := w.Begin(context.Background())
				if err == nil {
					_, err = w.apply(tx, w.change("PATCH Orders(1) note=lost", "*"))
				}
				if err != nil {
					t.Fatal(err)
				}
				return tx
			}
			tx := begun()
			proxy.Cut()
			if _, err := w.apply(tx, w.change("PATCH Orders(2) note=lost", "*")); err == nil || refusalOf(err) != "conflict" {
				t.Errorf("a change without a connection: %v", err)
			}
			_ = tx.Close()
			proxy.Restore()
			if got := w.write("PATCH Orders(1)?$select=note total=11", "*"); got != "new" {
				t.Errorf("the row has %s", got)
			}
			tx = begun()
			proxy.Freeze()
			time.AfterFunc(200*time.Millisecond, proxy.Cut)
			if err := tx.Commit(); err == nil || refusalOf(err) != "unknown" {
				t.Errorf("a commit without an answer: %v", err)
			}
			_ = tx.Close()
			proxy.Thaw()
			proxy.Restore()
			if got := w.write("PATCH Orders(1)?$select=id total=12", "*"); got != "1" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// A server that accepts connections and closes them is away, for reads and writes.
func TestServerClosesConnections(t *testing.T) {
	for _, dialect := range []string{"postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			driver := map[string]string{"postgres": "pgx", "mysql": "mysql"}[dialect]
			proxy, dsn := dbtest.BehindProxy(t, driver)
			through, err := sqlx.Open(driver, dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = through.Close() })
			fill(t, through.DB, ordersScript(dialect))
			w := writer{t, open(t, sqlsource.Database{Dialect: dialect, DB: through, Wait: func(context.Context) time.Duration { return 100 * time.Millisecond }}, ordersConfig(nil)), tenant(1)}
			c := w.change("PATCH Orders(1) note=lost", "*")
			proxy.Cut()
			for range 2 { // with the connections that there were, and with new ones
				_, reading := w.Open(t.Context(), c.Before.Plan.At(c.Key))
				_, writing := w.Begin(t.Context())
				for _, err := range []error{reading, writing} {
					if told, ok := errors.AsType[*plan.Error](err); !ok || told.Kind != plan.Unavailable {
						t.Error(err)
					}
				}
			}
			proxy.Restore()
			if got := w.write("PATCH Orders(1)?$select=id total=12", "*"); got != "1" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}
