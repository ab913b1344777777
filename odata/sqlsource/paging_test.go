package sqlsource_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// manyDDL is a table with few different values in its columns, so that orders are full of ties and nulls, and as many
// children as parents.
func manyDDL(dialect string, rows int) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE things (id {BIG} PRIMARY KEY, a {BIG}, b {STR}, c {DEC}, d {TS});\n")
	b.WriteString("CREATE TABLE parts (id {BIG} PRIMARY KEY, thing_id {BIG} NOT NULL, n {BIG}, FOREIGN KEY (thing_id) REFERENCES things (id));\n")
	b.WriteString("CREATE INDEX things_a ON things (a, b);\nCREATE INDEX parts_thing ON parts (thing_id)")
	r := rand.New(rand.NewSource(1))
	null := func(format string, args ...any) string {
		if r.Intn(4) == 0 {
			return "NULL"
		}
		return fmt.Sprintf(format, args...)
	}
	for i := range rows {
		if i%500 == 0 {
			b.WriteString(";\nINSERT INTO things VALUES ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%d, %s, %s, %s, %s)", i*7919%rows, null("%d", r.Intn(5)), null("'%c'", "aAbBäz"[r.Intn(6)]%128),
			null("%d.%02d", r.Intn(3), r.Intn(100)), null("'2024-01-%02d 00:00:00{Z}'", 1+r.Intn(9)))
	}
	for i := range rows {
		if i%500 == 0 {
			b.WriteString(";\nINSERT INTO parts VALUES ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%d, %d, %d)", i, r.Intn(rows/10), r.Intn(9))
	}
	return ddlOf(dialect, b.String())
}

func openMany(t testing.TB, dialect string, rows int) *shop {
	t.Helper()
	return open(t, database(t, dialect, manyDDL(dialect, rows)), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
}

// TestPagesAreTheWhole holds that following the next links of any request gives exactly the rows of one big request.
func TestPagesAreTheWhole(t *testing.T) {
	orders := []string{"", "a", "a desc", "b,a desc", "c desc,b", "d", "d desc,c", "b desc,id desc", "a,id", "length(b)", "parts/$count desc"}
	filters := []string{"", "a gt 1", "b eq null or c lt 1.5", "d ge 2024-01-03T00:00:00Z", "parts/any()", "not (a eq 2)"}
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openMany(t, d, 300)
			// SQLite computes nothing for the floor of an integer, so that both items of the order are one column.
			if got, whole := s.walk(t, "things?$select=id&$orderby=floor(id) desc", 70), s.get("things?$select=id&$orderby=id desc&$top=100000"); got != whole {
				t.Errorf("one column twice in an order:\n got %.300s\nwant %.300s", got, whole)
			}
			r := rand.New(rand.NewSource(2))
			for range 25 {
				query := "things?$select=id,a"
				if o := orders[r.Intn(len(orders))]; o != "" {
					query += "&$orderby=" + o
				}
				if f := filters[r.Intn(len(filters))]; f != "" {
					query += "&$filter=" + f
				}
				size := int64(1 + r.Intn(120))
				whole := s.get(query + "&$top=100000")
				if got := s.walk(t, query, size); got != whole {
					t.Errorf("%s in pages of %d\n got %.300s\nwant %.300s", query, size, got, whole)
				}
			}
		})
	}
}

// walk follows the next links and joins the pages.
func (s *shop) walk(t *testing.T, query string, size int64) string {
	t.Helper()
	var all strings.Builder
	for skip := int64(-1); ; {
		target := query
		if skip >= 0 {
			target += fmt.Sprintf("&$skip=%d", skip)
		}
		p, err := s.plan(target, size)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Open(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		page := render(rows, p.Top)
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		more := strings.HasSuffix(page, "+")
		all.WriteString(strings.TrimSuffix(page, "+"))
		if !more {
			return all.String()
		}
		if n := strings.Count(page, "["); int64(n) != size {
			t.Fatalf("%s: a page of %d has %d rows", target, size, n)
		}
		skip = p.Top.Page.NextSkip
	}
}

// TestChunksAreTheWhole holds that rows with children come complete where there are more than one chunk of them.
func TestChunksAreTheWhole(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openMany(t, d, 2500)
			for _, query := range []string{
				"things?$top=90000&$select=id&$expand=parts($select=id;$top=50)&$count=true",
				"things?$top=2001&$skip=3&$select=id&$expand=parts($select=id)",
			} {
				got := s.get(query)
				want := s.get(strings.Replace(query, "$expand=parts($select=id;$top=50)", "$orderby=id", 1))
				if strings.Contains(query, "$count") && strings.Count(got, "[")-2500 != 2500 {
					t.Errorf("%s: %d rows and children", query, strings.Count(got, "["))
				}
				for id := range 20 {
					row := fmt.Sprintf("[%d {", id+3)
					if strings.Count(got, row) != 1 || !strings.Contains(want, fmt.Sprintf("[%d", id+3)) {
						t.Errorf("%s: row %d is there %d times", query, id+3, strings.Count(got, row))
					}
				}
			}
		})
	}
}

// TestMemoryIsFlat holds that a large answer is streamed: what is held does not grow with the number of rows.
func TestMemoryIsFlat(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openMany(t, d, 100)
			p, err := s.plan("things?$top=1000000&$filter=parts/any() or true&$compute=concat(cast(id,Edm.String),'"+strings.Repeat("x", 1000)+"') as long", 0)
			if err != nil {
				t.Fatal(err)
			}
			// 100 rows, 100 times, through one connection.
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for range 100 {
				rows, err := s.Open(context.Background(), p)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for rows.Next() {
					n += len(rows.Row())
				}
				if err := errors.Join(rows.Err(), rows.Close()); err != nil || n == 0 {
					t.Fatal(n, err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
				t.Errorf("the heap grew by %d bytes", grown)
			}
		})
	}
}

// TestEndOfContext holds that a request ends when its time is up, before the first row and behind it, and that the
// connection is good for the next one.
func TestEndOfContext(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openMany(t, d, 1000)
			slow, err := s.plan("things?$filter=$root/things/any(x:$root/things/any(y:$root/things/any(z:x/id add y/id add z/id eq -1)))", 0)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			_, err = s.Open(ctx, slow)
			cancel()
			var fault *plan.Error
			if !errors.As(err, &fault) || fault.Kind != plan.Unavailable {
				t.Errorf("a slow statement: %v", err)
			}
			if strings.Contains(fmt.Sprint(err), "SELECT") {
				t.Errorf("the fault shows the statement: %v", err)
			}
			ctx, cancel = context.WithCancel(context.Background())
			all, err := s.plan("things?$top=100000", 0)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.Open(ctx, all)
			if err != nil || !rows.Next() {
				t.Fatal(err, rows.Err())
			}
			cancel()
			for rows.Next() {
				time.Sleep(100 * time.Microsecond)
			}
			if !errors.As(rows.Err(), &fault) {
				t.Errorf("rows of a cancelled request: %v", rows.Err())
			}
			_ = rows.Close() // the error of a cancelled connection does not matter
			if got := s.get("things/$count"); got != "1000" {
				t.Errorf("the request after: %s", got)
			}
		})
	}
}

// TestManyAtOnce holds that one source serves many goroutines.
func TestManyAtOnce(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openMany(t, d, 100)
			want := s.get("things?$expand=parts&$count=true")
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					for range 5 {
						if got := s.get("things?$expand=parts&$count=true"); got != want {
							t.Errorf("got %.100s", got)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestManyStatements holds that connections go on working while they drop old statements for new ones.
func TestManyStatements(t *testing.T) {
	s := openMany(t, "sqlite", 100)
	for i := range 600 {
		terms := make([]string, i%60+1)
		for j := range terms {
			terms[j] = fmt.Sprintf("%d", j)
		}
		target := fmt.Sprintf("things?$select=id&$top=1&$orderby=%s&$filter=id in (%s)", []string{"a", "b", "c", "d", "id"}[i%5], strings.Join(terms, ","))
		if got := s.get(target); !strings.HasPrefix(got, "[") {
			t.Fatalf("%s: %s", target, got)
		}
	}
}
