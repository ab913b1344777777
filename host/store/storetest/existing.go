package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func existingRules() []bareRule {
	return []bareRule{
		{"an exact address wins over others in another case", exactWins},
		{"an ambiguous address is nobody's", ambiguousAddress},
		{"accents and trailing blanks count", accentsCount},
		{"another login column compares exactly", otherLoginColumn},
		{"one hash of each format and cost", hashFormats},
		{"old applications may have several rows for one address", oldResetTable},
		{"an application with counted keys works as it is", countedKeys},
		{"an application with UUID keys works as it is", uuidKeys},
		{"an application with text keys works as it is", textKeys},
		{"host columns are read as plain values", hostColumnsRead},
		{"host columns are written in their types", hostColumnsWritten},
		{"a value that does not fit a host column is an error", hostColumnsRefuse},
		{"without a column remember_token nobody can be kept signed in", noDeviceSecret},
		{"without a name or times sign-in works", leanTable},
		{"columns in another case are those that sign-in needs, or an error that names one", otherCase},
		{"a table without a required column is an error that names it", missingRequired},
		{"a password column that is too short keeps its hash", shortPasswordColumn},
		{"a key without a default is made where it can be", madeKeys},
		{"of parallel additions one succeeds, whatever keys the table has", oneAdditionWithoutKey},
	}
}

const bcryptHash = "$2y$12$abcdefghijklmnopqrstuuJ3Zb1nqYl6X0kqk1H7yS6Y4m8a0b2C4"

// types are the words of one engine for the columns of an application.
type types struct {
	counted, uuid, big, boolean, decimal, double, text, bytes, moment, date, json string
}

func typesOf(db *store.DB) types {
	switch db.Engine() {
	case "postgres":
		return types{
			"BIGSERIAL PRIMARY KEY", "UUID", "BIGINT", "BOOLEAN", "NUMERIC(10,2)", "DOUBLE PRECISION", "TEXT", "BYTEA",
			"TIMESTAMP(0)", "DATE", "JSONB",
		}
	case "mysql":
		return types{
			"BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY", "CHAR(36)", "BIGINT UNSIGNED", "TINYINT(1)", "DECIMAL(10,2)", "DOUBLE",
			"TEXT", "VARBINARY(16)", "TIMESTAMP NULL", "DATE", "JSON",
		}
	}
	return types{
		"INTEGER PRIMARY KEY AUTOINCREMENT", "VARCHAR", "INTEGER", "TINYINT(1)", "NUMERIC", "FLOAT", "TEXT", "BLOB", "DATETIME", "DATE", "TEXT",
	}
}

// application makes the stock tables as such an application has them, with host
// columns, and migrates.
func (e *env) application(key string) *store.DB {
	e.Helper()
	db := e.pool()
	y := typesOf(db)
	e.sql(db, `CREATE TABLE users (id `+key+`, name VARCHAR(255) NOT NULL, email VARCHAR(255) NOT NULL UNIQUE,
		email_verified_at `+y.moment+`, password VARCHAR(255) NOT NULL, remember_token VARCHAR(100),
		created_at `+y.moment+`, updated_at `+y.moment+`,
		partner_id `+y.big+`, active `+y.boolean+`, balance `+y.decimal+`, rating `+y.double+`, bio `+y.text+`,
		avatar `+y.bytes+`, birthday `+y.date+`, settings `+y.json+`)`)
	e.sql(db, `CREATE TABLE password_reset_tokens (email VARCHAR(255) NOT NULL PRIMARY KEY, token VARCHAR(255) NOT NULL,
		created_at `+y.moment+`)`)
	e.migrate(db)
	return db
}

// worksFor takes the person through everything that concerns the row.
func (e *env) worksFor(db *store.DB, id, email string) {
	e.Helper()
	u, err := db.Users().FindByLogin(e.ctx, "email", strings.ToUpper(email))
	e.must(err)
	if u.ID != id || u.Password != bcryptHash || u.Email != email {
		e.Fatalf("found %+v, want id %q", u, id)
	}
	e.must(db.Users().Rehash(e.ctx, id, bcryptHash, "$argon2id$"))
	e.must(db.Users().SetColumns(e.ctx, id, map[string]any{"partner_id": int64(42)}))
	_, err = db.Users().EnsureDeviceSecret(e.ctx, id, "token")
	e.must(err)
	u = e.find(db, id)
	if owner := e.owned(db, e.session(db, e.record(9, id))); owner != nil { // keys of some types take a statement of their own
		alone := u
		alone.Password, alone.DeviceSecret = "", ""
		e.equal(&alone, owner)
	}
	if u.Password != "$argon2id$" || u.DeviceSecret != "token" || u.Columns["partner_id"] != int64(42) {
		e.Errorf("after the changes: %+v", u)
	}
	token := e.issue(db, u, hash(1))
	e.claim(e.ctx, db, token, "request", true)
	e.must(db.Users().SetPassword(e.ctx, id, "new", "rotated"))
	e.must(db.SetDisabled(e.ctx, id, true))
	list, err := db.ListUsers(e.ctx, "", 10)
	if err != nil || len(list) != 1 || list[0].ID != id || !list[0].Disabled {
		e.Errorf("list: %+v, %v", list, err)
	}
}

func countedKeys(t *testing.T, e *env) {
	db := e.application(typesOf(e.pool()).counted)
	e.sql(db, `INSERT INTO users (id, name, email, password) VALUES (4711, 'Ada', 'ada@example.com', ?)`, bcryptHash)
	e.worksFor(db, "4711", "ada@example.com")
}

func uuidKeys(t *testing.T, e *env) {
	db := e.application(typesOf(e.pool()).uuid + ` PRIMARY KEY`)
	const id = "0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99"
	e.sql(db, `INSERT INTO users (id, name, email, password) VALUES (?, 'Ada', 'ada@example.com', ?)`, id, bcryptHash)
	for _, wrong := range []string{"1", "x", "0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a98", strings.ToUpper(id), id + " "} {
		e.notFound(errOf(db.Users().FindByID(e.ctx, wrong)), wrong)
	}
	e.worksFor(db, id, "ada@example.com")
}

func textKeys(t *testing.T, e *env) {
	db := e.application(`VARCHAR(40) PRIMARY KEY`)
	e.sql(db, `INSERT INTO users (id, name, email, password) VALUES ('01HZX-Ada', 'Ada', 'ada@example.com', ?)`, bcryptHash)
	for _, wrong := range []string{"01hzx-ada", "01HZX-Ada ", "01HZX"} {
		e.notFound(errOf(db.Users().FindByID(e.ctx, wrong)), wrong)
	}
	e.worksFor(db, "01HZX-Ada", "ada@example.com")
}

func hostColumnsRead(t *testing.T, e *env) {
	db := e.application(typesOf(e.pool()).counted)
	e.sql(db, `INSERT INTO users (id, name, email, password, email_verified_at, partner_id, active, balance, rating, bio, avatar, birthday)
		VALUES (1, 'Ada', 'ada@example.com', 'x', '2026-01-02 03:04:05', 7, TRUE, 12.25, 4.5, 'poet', ?, '1815-12-10')`, []byte{0, 0xff})
	u := e.find(db, "1")
	want := map[string]any{
		"email_verified_at": "2026-01-02T03:04:05Z", "created_at": nil, "updated_at": nil,
		"partner_id": int64(7), "active": true, "balance": "12.25", "rating": 4.5, "bio": "poet",
		"avatar": []byte{0, 0xff}, "birthday": "1815-12-10", "settings": nil,
	}
	e.equal(want, u.Columns)
}

func hostColumnsWritten(t *testing.T, e *env) {
	db := e.application(typesOf(e.pool()).counted)
	e.sql(db, `INSERT INTO users (id, name, email, password) VALUES (1, 'Ada', 'ada@example.com', 'x')`)
	for _, values := range []map[string]any{
		{
			"partner_id": int64(9007199254740993), "active": true, "balance": "99.95", "rating": 0.5, "bio": "naïve 🙂",
			"avatar": []byte{1, 0, 2}, "birthday": "1815-12-10", "email_verified_at": "2026-01-02T03:04:05Z", "settings": nil,
		},
		{
			"partner_id": nil, "active": false, "balance": nil, "rating": nil, "bio": "", "avatar": []byte{},
			"birthday": nil, "email_verified_at": nil, "settings": nil,
		},
	} {
		e.must(db.Users().SetColumns(e.ctx, "1", values))
		u := e.find(db, "1")
		if u.Columns["updated_at"] != "2026-03-04T05:06:07Z" {
			t.Errorf("updated_at is %v", u.Columns["updated_at"])
		}
		delete(u.Columns, "updated_at")
		values["created_at"] = nil
		e.equal(values, u.Columns)
	}
	// Other types that say the same.
	e.must(db.Users().SetColumns(e.ctx, "1", map[string]any{
		"partner_id": "12", "active": int64(1), "balance": 1.5, "rating": int64(2), "bio": int64(3), "name": "Grace",
	}))
	u := e.find(db, "1")
	if u.Name != "Grace" || u.Columns["partner_id"] != int64(12) || u.Columns["active"] != true || u.Columns["rating"] != 2.0 || u.Columns["bio"] != "3" {
		t.Fatalf("%+v", u)
	}
}

func hostColumnsRefuse(t *testing.T, e *env) {
	db := e.application(typesOf(e.pool()).counted)
	e.sql(db, `INSERT INTO users (id, name, email, password, partner_id) VALUES (1, 'Ada', 'ada@example.com', 'x', 7)`)
	e.sql(db, `ALTER TABLE users ADD COLUMN rank_number BIGINT CHECK (rank_number > 0)`)
	for _, values := range []map[string]any{
		{"rank_number": int64(0)},
		{"rank_number": int64(0), "bio": "half"},
		{"name": nil},
		{"name": strings.Repeat("x", 256)},
		{"partner_id": "twelve"},
		{"partner_id": 1.5},
		{"partner_id": []byte("x")},
		{"active": int64(2)},
		{"rating": "high"},
		{"birthday": "tomorrow"},
		{"email_verified_at": "2026-01-02"},
		{"avatar": int64(1)},
		{"bio": "nul\x00"},
		{"partner_id": struct{}{}},
		{"bio": "half", "partner_id": "twelve"},
	} {
		if name, _ := values["name"].(string); name != "" && db.Engine() == "sqlite" {
			continue // lengths mean nothing there
		}
		err := db.Users().SetColumns(e.ctx, "1", values)
		refused, ok := errors.AsType[*auth.ColumnError](err)
		if !ok || !slices.ContainsFunc(refused.Columns, func(name string) bool { _, set := values[name]; return set }) {
			t.Errorf("%v: %v, want an error that names the column", values, err)
		}
	}
	u := e.find(db, "1")
	if u.Columns["partner_id"] != int64(7) || u.Columns["bio"] != nil {
		t.Errorf("columns changed: %v", u.Columns)
	}
}

func noDeviceSecret(t *testing.T, e *env) {
	db := twoSpellings(e)
	if _, err := db.Users().EnsureDeviceSecret(e.ctx, "1", "t"); !errors.Is(err, auth.ErrNotFound) || !strings.Contains(err.Error(), `"remember_token"`) {
		t.Fatalf("%v", err)
	}
	e.must(db.Users().SetPassword(e.ctx, "1", "new", "t"))
	if u, err := db.Users().FindByID(e.ctx, "1"); err != nil || u.Password != "new" || u.DeviceSecret != "" {
		t.Fatalf("%+v, %v", u, err)
	}
}

func leanTable(t *testing.T, e *env) {
	db := twoSpellings(e)
	u := e.find(db, "8")
	e.equal(auth.User{ID: "8", Columns: map[string]any{}}, u)
}

func otherCase(t *testing.T, e *env) {
	db := e.pool()
	quote := "\""
	if db.Engine() == "mysql" {
		quote = "`"
	}
	e.sql(db, strings.ReplaceAll(`CREATE TABLE users ("ID" INTEGER NOT NULL PRIMARY KEY, "Name" VARCHAR(80), "Email" VARCHAR(80), `+
		`"PASSWORD" VARCHAR(100), "Remember_Token" VARCHAR(100), "Plan" VARCHAR(10))`, `"`, quote))
	e.sql(db, `INSERT INTO users VALUES (7, 'Ada', 'Ada@example.com', 'x', 'y', 'basic')`)
	e.migrate(db)
	u, err := db.Users().FindByLogin(e.ctx, "email", "ada@example.com")
	if db.Engine() == "postgres" { // "Email" and "email" could be two columns there
		if err == nil || !strings.Contains(err.Error(), `has no column "id"`) {
			t.Fatalf("%v", err)
		}
		return
	}
	e.must(err)
	e.equal(auth.User{ID: "7", Name: "Ada", Email: "Ada@example.com", Password: "x", DeviceSecret: "y", Columns: map[string]any{"Plan": "basic"}}, u)
	e.must(db.Users().SetPassword(e.ctx, "7", bcryptHash, "z"))
	if u = e.find(db, "7"); u.Password != bcryptHash || u.DeviceSecret != "z" {
		t.Fatalf("%+v", u)
	}
}

func missingRequired(t *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, mail VARCHAR(80), password VARCHAR(60))`)
	e.migrate(db)
	if _, err := db.Users().FindByID(e.ctx, "1"); err == nil || !strings.Contains(err.Error(), `"email"`) {
		t.Fatalf("%v", err)
	}
}

func shortPasswordColumn(t *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, email VARCHAR(80), password VARCHAR(60))`)
	e.sql(db, `INSERT INTO users VALUES (1, 'ada@example.com', ?)`, bcryptHash)
	e.migrate(db)
	long := "$argon2id$" + strings.Repeat("x", 90)
	e.must(db.Users().Rehash(e.ctx, "1", bcryptHash, long))
	u := e.find(db, "1")
	if db.Engine() == "sqlite" { // lengths mean nothing there
		if u.Password != long {
			t.Fatalf("password %q", u.Password)
		}
		return
	}
	if u.Password != bcryptHash {
		t.Fatalf("password %q", u.Password)
	}
	if err := db.Users().SetPassword(e.ctx, "1", long, ""); err == nil {
		t.Fatal("a hash was cut off")
	}
}

func madeKeys(t *testing.T, e *env) {
	db := e.application(typesOf(e.pool()).uuid + ` PRIMARY KEY`)
	u := e.user(db, "ada@example.com")
	if len(u.ID) != 36 || u.ID[14] != '4' {
		t.Fatalf("id %q is no random UUID", u.ID)
	}
	bare := newEnv(e.TB, e.fixture)
	other := bare.pool()
	bare.sql(other, `CREATE TABLE users (id VARCHAR(10) NOT NULL, email VARCHAR(80), password VARCHAR(60))`)
	_, err := other.Migrate(e.ctx)
	e.must(err)
	if other.Engine() == "sqlite" {
		return
	}
	if _, err := other.AddUser(e.ctx, "ada@example.com", "", "x"); err == nil || !strings.Contains(err.Error(), `"id"`) {
		t.Fatalf("%v", err)
	}
}
