package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func identityRules() []rule {
	return []rule{
		{"an identity is found by name and subject, byte by byte", identityIsFound},
		{"a subject belongs to one person, and a person has one of a name", identityIsKnown},
		{"of parallel links of one subject one succeeds", oneLink},
		{"of parallel links of one person one succeeds", oneIdentity},
		{"identities are listed by user or of everybody, the newest first", identitiesAreListed},
		{"an identity is ended by its own user alone", ownIdentity},
		{"disabling, a new password and ending the sessions leave identities", identitiesStay},
		{"a state is spent once", stateIsSpent},
		{"users are found by their address in any case, all of them", usersAtAnAddress},
		{"a user is added once for an address", userOfAnIdentity},
	}
}

// identity links an identity to the user.
func (e *env) identity(db *store.DB, number int, name, userID string) identity.Identity {
	e.Helper()
	i := identity.Identity{Name: name, Subject: numbered("Größe-%d|🙂", number), UserID: userID, Created: e.now.Add(time.Duration(number) * time.Second)}
	e.must(db.Identities().Add(e.ctx, i))
	return i
}

func identityIsFound(_ *testing.T, e *env, db *store.DB) {
	long := identity.Identity{Name: strings.Repeat("n", 64), Subject: strings.Repeat("s", 255), UserID: "7", Created: e.now}
	e.must(db.Identities().Add(e.ctx, long))
	got, err := db.Identities().Find(e.ctx, long.Name, long.Subject)
	e.must(err)
	e.equal(long, got)
	want := e.identity(db, 1, "company", "7")
	got, err = db.Identities().Find(e.ctx, "company", want.Subject)
	e.must(err)
	e.equal(want, got)
	for _, subject := range []string{strings.ToUpper(want.Subject), want.Subject + " ", strings.ReplaceAll(want.Subject, "ö", "o"), "", "\xff", "a\x00", strings.Repeat("s", 256)} {
		e.notFound(errOf(db.Identities().Find(e.ctx, "company", subject)), subject)
	}
	e.notFound(errOf(db.Identities().Find(e.ctx, "Company", want.Subject)))
	e.notFound(errOf(db.Identities().Find(e.ctx, "other", want.Subject)))
}

func identityIsKnown(t *testing.T, e *env, db *store.DB) {
	known := e.identity(db, 1, "company", "7")
	e.identity(db, 1, "other", "77") // the same subject elsewhere is another person
	for _, tt := range []struct {
		subject, user string
		want          error
	}{
		{known.Subject, "7", identity.ErrKnown},
		{known.Subject, "77", identity.ErrKnown},
		{"another", "7", identity.ErrHasOne},
		{strings.ToUpper(known.Subject), "77", nil},
	} {
		err := db.Identities().Add(e.ctx, identity.Identity{Name: "company", Subject: tt.subject, UserID: tt.user, Created: e.now})
		if !errors.Is(err, tt.want) {
			t.Errorf("%q linked to %s: %v, want %v", tt.subject, tt.user, err, tt.want)
		}
	}
	e.counts(db, 3, `SELECT COUNT(*) FROM vestibule_identities`)
}

// locked links an identity to a user who is locked.
func (e *env) locked(db *store.DB, i identity.Identity) (bool, error) {
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		if _, err := db.Users().Lock(ctx, i.UserID); err != nil {
			return err
		}
		return db.Identities().Add(ctx, i)
	})
	if errors.Is(err, identity.ErrKnown) || errors.Is(err, identity.ErrHasOne) {
		return false, nil
	}
	return err == nil, err
}

func oneLink(t *testing.T, e *env, db *store.DB) {
	users := []string{e.user(db, "ada@example.com").ID, e.user(db, "bob@example.com").ID, e.user(db, "eve@example.com").ID}
	n := e.wins([]*store.DB{db, e.pool(), e.pool()}, func(i int, db *store.DB) (bool, error) {
		return e.locked(db, identity.Identity{Name: "company", Subject: "one", UserID: users[i%3], Created: e.now})
	})
	if n != 1 {
		t.Errorf("%d links succeeded, want 1", n)
	}
}

func oneIdentity(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	n := e.wins([]*store.DB{db, e.pool(), e.pool()}, func(i int, db *store.DB) (bool, error) {
		return e.locked(db, identity.Identity{Name: "company", Subject: numbered("one-%d", i), UserID: u.ID, Created: e.now})
	})
	if n != 1 {
		t.Errorf("%d links succeeded, want 1", n)
	}
}

func identitiesAreListed(_ *testing.T, e *env, db *store.DB) {
	one, two, other := e.identity(db, 1, "company", "7"), e.identity(db, 2, "other", "7"), e.identity(db, 3, "company", "77")
	for user, want := range map[string][]identity.Identity{"7": {two, one}, "77": {other}, "": {other, two, one}, "8": {}} {
		got, err := db.Identities().List(e.ctx, user, 10)
		e.must(err)
		e.equal(want, got)
	}
	got, err := db.Identities().List(e.ctx, "", 2)
	e.must(err)
	e.equal([]identity.Identity{other, two}, got)
}

func ownIdentity(_ *testing.T, e *env, db *store.DB) {
	one, other := e.identity(db, 1, "company", "7"), e.identity(db, 2, "company", "77")
	e.notFound(db.Identities().Delete(e.ctx, "other", "7"))
	e.notFound(db.Identities().Delete(e.ctx, "company", "8"))
	e.notFound(db.Identities().Delete(e.ctx, "comp\x00any", "7"))
	e.must(db.Identities().Delete(e.ctx, "company", "7"))
	e.notFound(db.Identities().Delete(e.ctx, "company", "7"))
	e.notFound(errOf(db.Identities().Find(e.ctx, "company", one.Subject)))
	got, err := db.Identities().Find(e.ctx, "company", other.Subject)
	e.must(err)
	e.equal(other, got)
}

func identitiesStay(_ *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	mine := e.identity(db, 1, "company", u.ID)
	e.must(db.SetDisabled(e.ctx, u.ID, true))
	e.must(db.SetDisabled(e.ctx, u.ID, false))
	e.must(db.Users().SetPassword(e.ctx, u.ID, "hash", "secret"))
	e.must(db.RevokeUser(e.ctx, u.ID))
	got, err := db.Identities().Find(e.ctx, "company", mine.Subject)
	e.must(err)
	e.equal(mine, got)
}

func stateIsSpent(t *testing.T, e *env, db *store.DB) {
	e.must(db.Identities().Spend(e.ctx, []byte("one"), e.now))
	if err := db.Identities().Spend(e.ctx, []byte("one"), e.now); !errors.Is(err, identity.ErrSpent) {
		t.Errorf("spent again: %v", err)
	}
	n, err := db.Sweep(e.ctx, e.now.Add(time.Hour), store.Retention{})
	e.must(err)
	e.equal(1, n)
}

func usersAtAnAddress(_ *testing.T, e *env, db *store.DB) {
	ada := e.user(db, "Ada@Example.com")
	e.user(db, "bob@example.com")
	for address, want := range map[string][]string{
		"Ada@Example.com": {ada.ID}, "ada@example.com": {ada.ID}, "ADA@EXAMPLE.COM": {ada.ID},
		"ada@example.com ": nil, "adá@example.com": nil, "nobody@example.com": nil, "": nil,
	} {
		got, err := db.Identities().UsersAt(e.ctx, address)
		e.must(err)
		e.equal(want, got)
	}
}

func userOfAnIdentity(t *testing.T, e *env, db *store.DB) {
	n := e.wins([]*store.DB{db, e.pool(), e.pool()}, func(i int, db *store.DB) (bool, error) {
		address := "ada@example.com"
		if i%2 == 0 {
			address = "ADA@example.com"
		}
		id, err := db.Identities().AddUser(e.ctx, address, "Ada", "!")
		if errors.Is(err, identity.ErrTaken) {
			return false, nil
		}
		return id != "", err
	})
	if n != 1 {
		t.Errorf("%d users were added, want 1", n)
	}
	ids, err := db.Identities().UsersAt(e.ctx, "ada@example.com")
	e.must(err)
	e.equal(1, len(ids))
}
