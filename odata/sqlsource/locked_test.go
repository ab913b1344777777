package sqlsource_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
)

// TestLockOfAnotherProcess holds that a lock on a SQLite file with a rollback journal costs no request more than Wait: one
// query, one that was answered before, a batch of several, and many at once. Afterwards all of them are answered.
func TestLockOfAnotherProcess(t *testing.T) {
	t.Parallel()
	db := database(t, "sqlite", `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO things VALUES (1, 'a'), (2, 'b')`)
	const wait = 400 * time.Millisecond
	type spentKey struct{}
	spent := func(ctx context.Context) *atomic.Int64 {
		if of, ok := ctx.Value(spentKey{}).(*atomic.Int64); ok {
			return of
		}
		return new(atomic.Int64)
	}
	db.Wait = func(ctx context.Context) time.Duration { return wait - time.Duration(spent(ctx).Load()) }
	db.Waited = func(ctx context.Context, since time.Time) { spent(ctx).Add(int64(time.Since(since))) }
	s := open(t, db, thingsOnly())
	service, err := odata.New(s.Model(), s, odata.Options{Root: "/"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, target, body string) (*httptest.ResponseRecorder, time.Duration) {
		ctx := context.WithValue(t.Context(), spentKey{}, new(atomic.Int64))
		r := httptest.NewRequestWithContext(ctx, method, "http://h/"+target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		since := time.Now()
		service.ServeHTTP(w, r)
		return w, time.Since(since)
	}
	var parts []string
	for n := range 10 {
		parts = append(parts, fmt.Sprintf(`{"id":"%d","method":"GET","url":"things"}`, n))
	}
	batch := `{"requests":[` + strings.Join(parts, ",") + `]}`
	requests := []struct{ name, method, target, body string }{
		{"a query", "GET", "things?$orderby=name", ""}, {"one that was answered before", "GET", "things", ""}, {"a batch", "POST", "$batch", batch},
	}
	for range 3 {
		for _, q := range requests[1:] {
			if w, _ := ask(q.method, q.target, q.body); w.Code != http.StatusOK {
				t.Fatal(q.name, w.Code, w.Body)
			}
		}
	}
	lock, err := db.DB.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	var asked sync.WaitGroup
	for range 4 {
		for _, q := range requests {
			asked.Go(func() {
				w, took := ask(q.method, q.target, q.body)
				if took > 5*wait { // parts that each wait take 10*wait
					t.Errorf("%s takes %v, and may wait for %v", q.name, took, wait)
				}
				if w.Code != http.StatusServiceUnavailable && !strings.Contains(w.Body.String(), `"status":503`) {
					t.Errorf("%s is answered with %d %s", q.name, w.Code, w.Body)
				}
			})
		}
	}
	asked.Wait()
	if _, err := lock.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for _, q := range requests {
		if w, _ := ask(q.method, q.target, q.body); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "503") {
			t.Errorf("%s is answered with %d %s", q.name, w.Code, w.Body)
		}
	}
}
