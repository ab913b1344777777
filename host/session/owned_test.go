package session_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// owning reads sessions with their users.
type owning struct {
	*memory
	owner *auth.User
	both  int
}

func (o *owning) FindOwned(ctx context.Context, hash []byte, _ bool) (auth.SessionRow, *auth.User, error) {
	o.both++
	r, err := o.FindSession(ctx, hash)
	return r, o.owner, err
}

// A request that wants the user gets the row with the session, and nobody reads the row again to ask whether the user may have
// sessions.
func TestSessionWithItsUser(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	rows := &owning{memory: &memory{rows: map[string]auth.SessionRow{}}, owner: &auth.User{ID: "7", Email: "ada@example.com"}}
	asked := 0
	s := session.New(rows, session.Options{
		Now:    func() time.Time { return now },
		Alive:  func(context.Context, string) (bool, error) { asked++; return true, nil },
		Living: func(context.Context, []string) (map[string]bool, error) { return nil, nil },
	})
	first, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, cookies, err := s.Renew(t.Context(), first, auth.Session{}, auth.Session{UserID: "7"})
	if err != nil {
		t.Fatal(err)
	}
	load := func(wants bool) auth.Session {
		t.Helper()
		request := &auth.Request{ID: "1"}
		if wants {
			request.WithUser()
		}
		r, err := http.NewRequestWithContext(auth.WithRequest(t.Context(), request), http.MethodGet, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(cookies[0])
		got, err := s.Load(r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := load(false); got.UserID != "7" || got.Owner != nil || rows.both != 0 || asked != 1 {
		t.Errorf("without the user: %+v, %d reads of both, asked %d times", got, rows.both, asked)
	}
	if got := load(true); got.UserID != "7" || got.Owner != rows.owner || rows.both != 1 || asked != 1 {
		t.Errorf("with the user: %+v, %d reads of both, asked %d times", got, rows.both, asked)
	}
	rows.owner = nil
	if got := load(true); got.UserID != "7" || got.Owner != nil || asked != 2 {
		t.Errorf("with a user that takes a statement: %+v, asked %d times", got, asked)
	}
	rows.owner = &auth.User{ID: "7", Inactive: true}
	if got := load(true); got.SignedIn() || len(rows.rows) != 0 || asked != 2 {
		t.Errorf("with a user who may have no session: %+v, %d rows, asked %d times", got, len(rows.rows), asked)
	}
}
