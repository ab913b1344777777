package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func userRules() []rule {
	return []rule{
		{"addresses compare without regard to case", addressCase},
		{"nonsense finds nobody and is no failure", nonsenseFindsNobody},
		{"a login column that does not exist is an error", missingLoginColumn},
		{"the key travels as text", keyIsText},
		{"the key and the credentials cannot be set as columns", setCredential},
		{"setting columns of a missing user is not found", setMissingUser},
		{"a password is set with the device secret, and neither is among the columns", setPassword},
		{"a rehash does not overwrite a new password", rehashKeepsNewPassword},
		{"the first device secret stands", firstDeviceSecretStands},
		{"parallel first device secrets agree", parallelDeviceSecrets},
	}
}

// alteringRules change the users' table while the store works with it.
func alteringRules() []bareRule {
	return []bareRule{
		{"a column that does not exist cannot be set", setMissingColumn},
		{"a column that was dropped is missed once at most", droppedColumn},
	}
}

func addressCase(t *testing.T, e *env, db *store.DB) {
	ada := e.user(db, "Ada.Lovelace@Example.com")
	umlaut := e.user(db, "JÖRG@example.com")
	for login, want := range map[string]auth.User{
		"Ada.Lovelace@Example.com": ada,
		"ada.lovelace@example.com": ada,
		"ADA.LOVELACE@EXAMPLE.COM": ada,
		"JÖRG@example.com":         umlaut,
		"jörg@example.com":         umlaut,
		"Jörg@Example.com":         umlaut,
	} {
		got, err := db.Users().FindByLogin(e.ctx, "email", login)
		if err != nil || got.ID != want.ID {
			t.Errorf("%s found %q, %v; want %q", login, got.ID, err, want.ID)
		}
	}
}

// twoSpellings makes a table as old applications have it, where one address may
// stand in several cases.
func twoSpellings(e *env) *store.DB {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, email VARCHAR(80), password VARCHAR(60))`)
	e.sql(db, `INSERT INTO users VALUES (1, 'ada@example.com', 'x'), (2, 'Ada@example.com', 'x'),
		(3, 'BOB@example.com', 'x'), (4, 'Bob@example.com', 'x'), (5, 'cy@example.com', 'x'), (6, 'cy@example.com', 'x'),
		(7, 'jose@example.com', 'x'), (8, NULL, NULL)`)
	e.migrate(db)
	return db
}

func exactWins(t *testing.T, e *env) {
	db := twoSpellings(e)
	for login, id := range map[string]string{"ada@example.com": "1", "Ada@example.com": "2"} {
		if got, err := db.Users().FindByLogin(e.ctx, "email", login); err != nil || got.ID != id {
			t.Errorf("%s found %q, %v; want %s", login, got.ID, err, id)
		}
	}
}

func ambiguousAddress(t *testing.T, e *env) {
	db := twoSpellings(e)
	for _, login := range []string{"ADA@example.com", "bob@example.com", "cy@example.com"} {
		if got, err := db.Users().FindByLogin(e.ctx, "email", login); !errors.Is(err, auth.ErrNotFound) {
			t.Errorf("%s found %q, %v; want nobody", login, got.ID, err)
		}
	}
}

func accentsCount(t *testing.T, e *env) {
	db := twoSpellings(e)
	for _, login := range []string{"josé@example.com", "jose@example.com ", " jose@example.com", "jo\u017fe@example.com"} {
		if got, err := db.Users().FindByLogin(e.ctx, "email", login); !errors.Is(err, auth.ErrNotFound) {
			t.Errorf("%q found %q, %v; want nobody", login, got.ID, err)
		}
	}
}

func nonsenseFindsNobody(t *testing.T, e *env, db *store.DB) {
	e.user(db, "ada@example.com")
	for _, login := range []string{
		"", "ada", "%", "a%@example.com", "nul\x00@example.com", "bad\xff@example.com", "'; DROP TABLE users; --",
		strings.Repeat("x", 1<<16) + "@example.com", "\u202e@example.com", "?@example.com", "$1@example.com",
	} {
		if got, err := db.Users().FindByLogin(e.ctx, "email", login); !errors.Is(err, auth.ErrNotFound) {
			t.Errorf("%.30q found %q, %v; want nobody", login, got.ID, err)
		}
	}
	for _, id := range []string{"", "0", "-1", "01", "+1", "1 ", "1.0", "x", "99999999999999999999", "1 OR 1=1", "\x00"} {
		if got, err := db.Users().FindByID(e.ctx, id); !errors.Is(err, auth.ErrNotFound) {
			t.Errorf("id %q found %q, %v; want nobody", id, got.ID, err)
		}
	}
}

func otherLoginColumn(t *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, email VARCHAR(80), password VARCHAR(60),
		username VARCHAR(40), badge INTEGER)`)
	e.sql(db, `INSERT INTO users VALUES (1, 'ada@example.com', 'x', 'ada', 4711), (2, 'bob@example.com', 'x', 'Bob@Home', 4712)`)
	e.migrate(db)
	for _, c := range []struct{ column, login, id string }{
		{"username", "ada", "1"},
		{"username", "ADA", ""},
		{"username", "ada ", ""},
		{"username", "bob@home", "2"}, // has an @, so it is an address
		{"badge", "4711", "1"},
		{"badge", "04711", ""},
		{"badge", "ada@example.com", ""},
		{"badge", "99999999999", ""},
	} {
		got, err := db.Users().FindByLogin(e.ctx, c.column, c.login)
		if got.ID != c.id || (err == nil) != (c.id != "") || (err != nil && !errors.Is(err, auth.ErrNotFound)) {
			t.Errorf("%s = %q found %q, %v; want %q", c.column, c.login, got.ID, err, c.id)
		}
	}
}

func missingLoginColumn(t *testing.T, e *env, db *store.DB) {
	_, err := db.Users().FindByLogin(e.ctx, "nickname", "ada")
	if err == nil || errors.Is(err, auth.ErrNotFound) || !strings.Contains(err.Error(), `"nickname"`) {
		t.Fatalf("got %v, want an error that names the column", err)
	}
}

func keyIsText(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	got := e.find(db, u.ID)
	if diff := cmp.Diff(u, got); diff != "" || u.ID == "" || got.Name != "Ada" || got.Email != "ada@example.com" {
		t.Fatalf("%+v %s", got, diff)
	}
}

func setMissingColumn(t *testing.T, e *env) {
	db := e.migrated()
	u := e.user(db, "ada@example.com")
	values := map[string]any{"partner_id": int64(7)}
	if err := db.Users().SetColumns(e.ctx, u.ID, values); err == nil || !strings.Contains(err.Error(), `"partner_id"`) {
		t.Fatalf("got %v, want an error that names the column", err)
	}
	if err := db.Users().SetColumns(e.ctx, u.ID, map[string]any{`name" = 'x', "email`: "y"}); err == nil {
		t.Fatal("a name with a quote was taken for a column")
	}
	e.sql(db, `ALTER TABLE users ADD partner_id BIGINT`) // by the host, while we run
	e.must(db.Users().SetColumns(e.ctx, u.ID, values))
	e.equal(any(int64(7)), e.find(db, u.ID).Columns["partner_id"])
}

func droppedColumn(t *testing.T, e *env) {
	db := e.migrated()
	u := e.user(db, "ada@example.com")
	e.sql(db, `ALTER TABLE users DROP COLUMN email_verified_at`) // by the host, while we run
	_, _ = db.Users().FindByID(e.ctx, u.ID)
	got, err := db.Users().FindByID(e.ctx, u.ID)
	if _, ok := got.Columns["email_verified_at"]; err != nil || ok {
		t.Fatalf("%+v, %v", got, err)
	}
}

func setCredential(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	for _, column := range []string{"id", "password", "remember_token"} {
		if err := db.Users().SetColumns(e.ctx, u.ID, map[string]any{column: "1"}); err == nil {
			t.Errorf("%s was set", column)
		}
	}
	e.equal(u, e.find(db, u.ID))
}

func setMissingUser(t *testing.T, e *env, db *store.DB) {
	for _, id := range []string{"4711", "x"} {
		e.notFound(db.Users().SetColumns(e.ctx, id, map[string]any{"name": "Ada"}), id)
		e.notFound(db.Users().SetPassword(e.ctx, id, "h", "t"), id)
	}
}

func setPassword(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	e.must(db.Users().SetPassword(e.ctx, u.ID, "secret-hash", "secret-token"))
	u = e.find(db, u.ID)
	want := map[string]any{
		"email_verified_at": nil,
		"created_at":        "2026-03-04T05:06:07Z",
		"updated_at":        "2026-03-04T05:06:07Z",
	}
	e.equal(want, u.Columns)
	e.equal("secret-hash secret-token", u.Password+" "+u.DeviceSecret)
}

func rehashKeepsNewPassword(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	e.must(db.Users().Rehash(e.ctx, u.ID, u.Password, "better"))
	e.must(db.Users().SetPassword(e.ctx, u.ID, "another", "t"))
	e.must(db.Users().Rehash(e.ctx, u.ID, "better", "late"))
	e.equal("another", e.find(db, u.ID).Password)
}

func firstDeviceSecretStands(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	for _, empty := range []string{`UPDATE users SET remember_token = NULL`, `UPDATE users SET remember_token = ''`} {
		e.sql(db, empty)
		for _, token := range []string{"first", "second"} {
			if got, err := db.Users().EnsureDeviceSecret(e.ctx, u.ID, token); err != nil || got != "first" {
				t.Fatalf("after %s: %q, %v", empty, got, err)
			}
		}
	}
}

func parallelDeviceSecrets(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	got := make([]string, 20)
	e.together(len(got), []*store.DB{db, e.pool()}, func(i int, db *store.DB) (err error) {
		got[i], err = db.Users().EnsureDeviceSecret(e.ctx, u.ID, numbered("token-%d", i))
		return err
	})
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != 1 {
		t.Fatalf("callers were told %q", got)
	}
}

func hashFormats(t *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, email VARCHAR(80), password VARCHAR(255))`)
	e.migrate(db)
	hashes := []string{
		"$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aaaa", "$argon2id$v=19$m=19456,t=2,p=1$b3RoZXJzYWx0$bbbb",
		"$argon2id$v=19$m=65536,t=4,p=1$c2FsdHNhbHQ$aaaa", "$2y$10$aaaaaaaaaaaaaaaaaaaaaa", "$2y$10$bbbbbbbbbbbbbbbbbbbbbb",
		"$2y$12$aaaaaaaaaaaaaaaaaaaaaa", "$2a$10$aaaaaaaaaaaaaaaaaaaaaa", "plain", "",
	}
	for i, h := range hashes {
		e.sql(db, `INSERT INTO users VALUES (?, ?, ?)`, i+1, numbered("u%d@example.com", i), h)
	}
	e.sql(db, `INSERT INTO users VALUES (99, 'null@example.com', NULL)`)
	got, err := db.Users().HashFormats(e.ctx)
	e.must(err)
	prefixes := make([]string, len(got))
	for i, h := range got {
		if !slices.Contains(hashes, h) {
			t.Errorf("%q is no stored hash", h)
		}
		prefixes[i] = h[:min(len(h), 30)]
		if !strings.HasPrefix(h, "$argon2") {
			prefixes[i] = h[:7]
		}
	}
	slices.Sort(prefixes)
	want := []string{"$2a$10$", "$2y$10$", "$2y$12$", "$argon2id$v=19$m=19456,t=2,p=1", "$argon2id$v=19$m=65536,t=4,p=1"}
	e.equal(want, prefixes)
}
