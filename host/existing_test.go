package host_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// An application is a database that another program made.
type application struct {
	name, engine string
	// make creates the tables; HASH stands for the password's hash.
	make []string
	// field and login are what Ada signs in with.
	field, login string
	id           string
	// forgetful applications have no column remember_token.
	forgetful bool
	// narrow password columns cannot take a new hash.
	narrow bool
}

const uuid = "6f1b0f3e-58a4-4b1c-9a0d-6c8d2a7c9e01"

func applications() []application {
	stock := func(key, moment, value string) []string {
		return []string{
			`CREATE TABLE users (id ` + key + `, name VARCHAR(255) NOT NULL, email VARCHAR(255) NOT NULL UNIQUE, email_verified_at ` + moment +
				`, password VARCHAR(255) NOT NULL, remember_token VARCHAR(100), created_at ` + moment + `, updated_at ` + moment +
				`, partner_id BIGINT, staff_no VARCHAR(20) UNIQUE)`,
			`CREATE TABLE password_reset_tokens (email VARCHAR(255) NOT NULL PRIMARY KEY, token VARCHAR(255) NOT NULL, created_at ` + moment + `)`,
			`INSERT INTO users (id, name, email, password, partner_id, staff_no) VALUES (` + value + `, 'Ada', 'Ada@Example.com', 'HASH', 7, 'A-17')`,
		}
	}
	lean := []string{
		`CREATE TABLE users (id BIGINT PRIMARY KEY, email VARCHAR(190) NOT NULL, password VARCHAR(255))`,
		`INSERT INTO users (id, email, password) VALUES (42, 'ada@example.com', 'HASH')`,
	}
	narrow := []string{
		`CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(40), email VARCHAR(190) NOT NULL, password CHAR(60), remember_token VARCHAR(100))`,
		`INSERT INTO users (id, name, email, password) VALUES (42, 'Ada', 'ada@example.com', 'HASH')`,
	}
	// The application's own names for things, behind a view that can be written.
	view := []string{
		`CREATE TABLE people (person_id UUID PRIMARY KEY, full_name TEXT, mail TEXT NOT NULL, pw TEXT, token TEXT)`,
		`CREATE VIEW users AS SELECT person_id AS id, full_name AS name, mail AS email, pw AS password, token AS remember_token FROM people`,
		`INSERT INTO people VALUES ('` + uuid + `', 'Ada', 'ada@example.com', 'HASH')`,
	}
	return []application{
		{name: "counted keys", engine: "sqlite", make: stock("INTEGER PRIMARY KEY AUTOINCREMENT", "DATETIME", "42"), id: "42"},
		{name: "bigint keys", engine: "postgres", make: stock("BIGSERIAL PRIMARY KEY", "TIMESTAMP(0)", "42"), id: "42"},
		{name: "bigint keys", engine: "mysql", make: stock("BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY", "TIMESTAMP NULL", "42"), id: "42"},
		{name: "UUID keys", engine: "postgres", make: stock("UUID PRIMARY KEY", "TIMESTAMPTZ", "'"+uuid+"'"), id: uuid},
		{name: "UUID keys", engine: "mysql", make: stock("CHAR(36) PRIMARY KEY", "DATETIME", "'"+uuid+"'"), id: uuid},
		{name: "UUID keys", engine: "sqlite", make: stock("VARCHAR(36) PRIMARY KEY", "DATETIME", "'"+uuid+"'"), id: uuid},
		{name: "staff numbers", engine: "postgres", make: stock("UUID PRIMARY KEY", "TIMESTAMP", "'"+uuid+"'"), id: uuid, field: "staff_no", login: "A-17"},
		{name: "no name, no token", engine: "sqlite", make: lean, id: "42", forgetful: true},
		{name: "no name, no token", engine: "postgres", make: lean, id: "42", forgetful: true},
		{name: "no name, no token", engine: "mysql", make: lean, id: "42", forgetful: true},
		{name: "narrow password", engine: "postgres", make: narrow, id: "42", narrow: true},
		{name: "narrow password", engine: "mysql", make: narrow, id: "42", narrow: true},
		{name: "other names behind a view", engine: "postgres", make: view, id: uuid},
	}
}

// emptyStore opens an empty database.
func emptyStore(t *testing.T, engine string) *store.DB {
	t.Helper()
	var db *store.DB
	var err error
	switch engine {
	case "postgres":
		db, err = postgres.Open(t.Context(), dbtest.Postgres(t))
	case "mysql":
		db, err = mysql.Open(t.Context(), dbtest.MySQL(t))
	default:
		db, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "app.db"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// schema describes every table and index but those of Vestibule.
func schema(t *testing.T, db *store.DB) []string {
	t.Helper()
	query := map[string]string{
		"sqlite": `SELECT type || ' ' || name || ': ' || COALESCE(sql, '') FROM sqlite_master WHERE tbl_name NOT LIKE 'vestibule%' AND tbl_name NOT LIKE 'sqlite%'`,
		"postgres": `SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(column_default, '')
				|| ' ' || COALESCE(character_maximum_length, 0) FROM information_schema.columns
				WHERE table_schema = 'public' AND table_name NOT LIKE 'vestibule%'
			UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'vestibule%'
			UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal`,
		"mysql": `SELECT CONCAT('column ', table_name, '.', column_name, ' ', column_type, ' ', is_nullable, ' ', COALESCE(column_default, ''), ' ', extra)
				FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name NOT LIKE 'vestibule%'
			UNION ALL SELECT CONCAT('index ', table_name, '.', index_name, ' ', column_name) FROM information_schema.statistics
				WHERE table_schema = DATABASE() AND table_name NOT LIKE 'vestibule%'
			UNION ALL SELECT CONCAT('trigger ', trigger_name) FROM information_schema.triggers WHERE trigger_schema = DATABASE()`,
	}[db.Engine()]
	var list []string
	if err := db.Reader().Select(&list, query); err != nil {
		t.Fatal(err)
	}
	return sorted(list)
}

// An application's people sign in as they are, with the hashes that PHP made;
// those become better ones, and nothing of the schema changes.
func TestExistingApplications(t *testing.T) {
	for _, app := range applications() {
		t.Run(app.engine+"/"+app.name, func(t *testing.T) {
			db := emptyStore(t, app.engine)
			hash := bcryptOf(t, adaPassword, "$2y$")
			for _, statement := range app.make {
				statement = strings.Replace(statement, "'HASH')", "'"+hash+"')", 1)
				if _, err := db.Writer().Exec(strings.Replace(statement, "'HASH',", "'"+hash+"',", 1)); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			before := schema(t, db)
			if _, err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			app.use(t, db, hash)
			after := schema(t, db)
			if !strings.Contains(strings.Join(before, "\n"), "password_reset_tokens") {
				after = without(after, "password_reset_tokens") // created, since it was missing
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the schema was altered: %s", diff)
			}
		})
	}
}

func without(list []string, word string) []string {
	var out []string
	for _, s := range list {
		if !strings.Contains(s, word) {
			out = append(out, s)
		}
	}
	return out
}

// use takes Ada through everything that concerns her row.
func (app application) use(t *testing.T, db *store.DB, hash string) {
	t.Helper()
	s := newSite(t, db, func(o *host.Options) {
		o.Auth.LoginField, o.Auth.PasswordHash = app.field, password.Argon2id
	})
	login := app.login
	if login == "" {
		login = adaEmail
	}
	b := s.browser(t)
	b.login(login, "wrong", false).want(t, 422, "credentials_do_not_match")
	a := b.login(login, adaPassword, true)
	a.want(t, 200, "login_success")
	if kept := b.cookie(deviceName) != ""; kept == app.forgetful {
		t.Errorf("device token %v, want %v", kept, !app.forgetful)
	}
	u, err := db.Users().FindByID(t.Context(), app.id)
	if err != nil {
		t.Fatal(err)
	}
	if rehashed := strings.HasPrefix(u.Password, "$argon2id$"); rehashed == app.narrow || app.narrow && u.Password != hash {
		t.Errorf("password %q, narrow %v", u.Password, app.narrow)
	}
	if v, ok := u.Columns["partner_id"]; ok && v != int64(7) {
		t.Errorf("partner_id %v", v)
	}
	b.login(login, adaPassword, false).want(t, 200, "login_success")
	if app.narrow {
		return // a reset needs a column that takes the new hash
	}
	path, token := s.link(t, b, 1)
	b.get(path).want(t, 302, "")
	form := resetBody(token, newPassword)
	b.post("/auth/reset-password", form).want(t, 200, "reset_success")
	b.get("/auth/intents/current").want(t, 401, "")
	b.login(login, adaPassword, false).want(t, 422, "")
	b.login(login, newPassword, false).want(t, 200, "login_success")
	if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
		t.Fatal(err)
	}
	b.login(login, newPassword, false).want(t, 422, "")
}

// A person of an application who has no password, or one that is no hash, cannot
// sign in, and can set one by mail.
func TestUnusablePasswords(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		for _, stored := range []string{"", "plain text", "*", "$2y$", "$2y$99$" + strings.Repeat("a", 53), "$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2U"} {
			if _, err := s.db.Writer().Exec("UPDATE users SET password = '" + stored + "'"); err != nil {
				t.Fatal(err)
			}
			for _, guess := range []string{stored, "x"} {
				if guess == "" {
					continue
				}
				s.browser(t).login(adaEmail, guess, false).want(t, 422, "credentials_do_not_match")
			}
			if _, err := s.admin.ClearCounters(context.Background(), ""); err != nil {
				t.Fatal(err)
			}
		}
		_, token := s.link(t, s.browser(t), 1)
		s.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "")
		s.browser(t).login(adaEmail, newPassword, false).want(t, 200, "")
	})
}
