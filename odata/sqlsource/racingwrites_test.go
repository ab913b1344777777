package sqlsource_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// tryWrite is write for a goroutine: what the database undid for another one is tried again.
func (w writer) tryWrite(c *write.Change) (string, error) {
	for range 100 {
		row, err := w.once(c)
		if err == nil || refusalOf(err) != "conflict" {
			return row, err
		}
	}
	return "", errors.New("a hundred conflicts")
}

func (w writer) once(c *write.Change) (string, error) {
	tx, err := w.Begin(context.Background())
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Close() }()
	row, err := w.apply(tx, c)
	if err == nil {
		err = tx.Commit()
	}
	return row, err
}

// A hundred people change one row through its entity tag, each what the last one has left: every acknowledged change is in the row,
// once. Half of the databases count versions, half make tags of the values.
func TestNoChangeIsLost(t *testing.T) {
	for _, dialect := range dialects() {
		for _, version := range []string{"ver", ""} {
			t.Run(dialect+" "+version, func(t *testing.T) {
				t.Parallel()
				cfg := ordersConfig(nil)
				cfg.EntitySets[0].Write.Version = version
				s := open(t, orders(t, dialect), cfg)
				s.caller = tenant(1)
				w := writer{t, s, s.caller}
				const people = 100
				var all sync.WaitGroup
				var mu sync.Mutex
				refused := 0
				for i := range people {
					all.Go(func() {
						for {
							tag, slot := w.state(t)
							c := w.change(fmt.Sprintf("PATCH Orders(1) note=%s", slot+"."+strconv.Itoa(i)), tag)
							_, err := w.tryWrite(c)
							if err == nil {
								return
							}
							if got := refusalOf(err); got != "412" {
								t.Error(got)
								return
							}
							mu.Lock()
							refused++
							mu.Unlock()
						}
					})
				}
				all.Wait()
				_, note := w.state(t)
				seen := map[string]bool{}
				for part := range strings.SplitSeq(strings.TrimPrefix(note, "new."), ".") {
					seen[part] = true
				}
				if n := strings.Count(note, "."); n != people || len(seen) != people {
					t.Errorf("the row has %d changes, %d different ones: %s", n, len(seen), note)
				}
				if refused == 0 {
					t.Log("nobody met anybody")
				}
			})
		}
	}
}

// state reads the tag of the first order, and its note.
func (w writer) state(t *testing.T) (tag, note string) {
	t.Helper()
	c := w.change("PATCH Orders(1) total=1", "0")
	rows, err := w.Open(context.Background(), c.Before.Plan.At(c.Key))
	if err != nil {
		t.Error(err)
		return "", ""
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		t.Error("no row")
	}
	tag = string(c.Before.Plan.Top.AppendTag(nil, rows.Row()))
	_ = rows.Close()
	p, err := w.plan("Orders(1)?$select=note", 0)
	if err != nil {
		t.Error(err)
		return "", ""
	}
	return tag, w.noteAt(t, p)
}

func (w writer) noteAt(t *testing.T, p *plan.Plan) string {
	t.Helper()
	rows, err := w.Open(context.Background(), p)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = rows.Close() }()
	return strings.Trim(render(rows, p.Top), "[]")
}

// tenantRows are the rows of the second tenant, as text.
func tenantRows(t *testing.T, db *sqlx.DB) string {
	t.Helper()
	var out strings.Builder
	for _, query := range []string{
		"SELECT id, code, slot, total, note, customer_id, ver, ship_city FROM orders WHERE tenant = 2 ORDER BY id", "SELECT id, name FROM customers WHERE tenant = 2 ORDER BY id",
	} {
		if err := writeRows(&out, db, query); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func writeRows(out *strings.Builder, db *sqlx.DB, query string) error {
	rows, err := db.Queryx(query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", row)
	}
	return rows.Err()
}

// Random changes of one tenant change nothing of another's, and tell nothing of it but that a code or a slot is taken.
func TestTenantsDoNotInterfere(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := orders(t, dialect)
			s := open(t, db, ordersConfig(nil))
			w := writer{t, s, tenant(1)}
			before := tenantRows(t, db.DB)
			r := rand.New(rand.NewPCG(1, 2))
			for range 1500 {
				id := 1 + r.IntN(40)
				request, tags := fmt.Sprintf("POST Orders code=%c,slot=%d,customer_id=%d", 'a'+rune(r.IntN(20)), r.IntN(60), 1+r.IntN(3)), ""
				switch r.IntN(4) {
				case 0:
					request, tags = fmt.Sprintf("PATCH Orders(%d) code=%c,slot=%d", id, 'a'+rune(r.IntN(20)), r.IntN(60)), "*"
				case 1:
					request, tags = fmt.Sprintf("PATCH Orders(%d) total=%d", id, r.IntN(9)-1), strconv.Itoa(1+r.IntN(3))
				case 2:
					request, tags = fmt.Sprintf("DELETE Orders(%d)", id), "*"
				}
				got := w.write(request, tags)
				foreign := strings.Contains(request, "Orders(3)")
				if foreign && got != "404" {
					t.Fatalf("%s: %s", request, got)
				}
				if got == "conflict" || strings.Contains(got, "503") || strings.Contains(got, "fault") {
					t.Fatalf("%s: %s", request, got)
				}
			}
			if after := tenantRows(t, db.DB); after != before {
				t.Errorf("the other tenant had\n%s\nand has\n%s", before, after)
			}
		})
	}
}

// A related row that decides whether a row may be deleted changes all the while: the row is deleted, refused, or tried again.
func TestDeletionsAndRelatedRows(t *testing.T) {
	for _, dialect := range []string{"postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := orders(t, dialect)
			db.DB.MustExec("UPDATE orders SET customer_id = 1")
			s := open(t, db, ordersConfig(func(s *sqlsource.EntitySet) { s.Write.Filter = "customer/name eq 'Ada'" }))
			w := writer{t, s, tenant(1)}
			done := make(chan struct{})
			var flips sync.WaitGroup
			flips.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-done:
						return
					default:
						db.DB.MustExec("UPDATE customers SET name = '" + []string{"Bob", "Ada"}[i%2] + "' WHERE id = 1")
					}
				}
			})
			defer flips.Wait()
			defer close(done)
			try := func() (err error) {
				tx, err := s.Begin(t.Context())
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, tx.Close()) }()
				_, _, err = tx.Apply([]*write.Change{w.change("DELETE Orders(2)", "1 2")})
				return err
			}
			for range 1000 {
				if err := try(); err != nil && refusalOf(err) != "403" && refusalOf(err) != "conflict" {
					t.Fatal(refusalOf(err), err)
				}
			}
		})
	}
}

// A related row that decides whether a row may be changed flips all the while, and the set has no version: a change that is answered as
// made is in the row. So is one that gives the row what it has.
func TestChangesAndRelatedRows(t *testing.T) {
	for _, dialect := range []string{"postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := orders(t, dialect)
			db.DB.MustExec("UPDATE orders SET customer_id = 1")
			s := open(t, db, ordersConfig(func(s *sqlsource.EntitySet) {
				s.Write.Filter, s.Write.Version, s.Write.Touch = "customer/name eq 'Ada'", "", nil
			}))
			w := writer{t, s, tenant(1)}
			done := make(chan struct{})
			var flips sync.WaitGroup
			for range 2 {
				flips.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-done:
							return
						default:
							db.DB.MustExec("UPDATE customers SET name = '" + []string{"Bob", "Ada"}[i%2] + "' WHERE id = 1")
						}
					}
				})
			}
			defer flips.Wait()
			defer close(done)
			made := 0
			for i := range 2000 {
				note := fmt.Sprint(i / 2) // each of them twice
				_, err := w.once(w.change("PATCH Orders(2) note="+note, "*"))
				if err != nil {
					if got := refusalOf(err); got != "403" && got != "conflict" {
						t.Fatal(got, err)
					}
					continue
				}
				made++
				var stored string
				if err := db.DB.Get(&stored, "SELECT note FROM orders WHERE id = 2"); err != nil || stored != note {
					t.Fatalf("the note %s was answered as stored, and %s is (%v)", note, stored, err)
				}
			}
			if made == 0 {
				t.Error("no change was made")
			}
		})
	}
}
