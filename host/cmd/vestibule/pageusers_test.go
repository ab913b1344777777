package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

const adaPassword = "analytical-engine-1843"

// followDeactivated follows the page with Ada signed in, who is then deleted as Laravel does it.
func followDeactivated(t *testing.T, l *learner, text string) {
	l.run("", "vestibule", "init")
	l.shell("vestibule user add --email ada@example.com --name Ada")
	database := filepath.Join(l.dir, "vestibule.db")
	change(t, database, "ALTER TABLE users ADD COLUMN deleted_at DATETIME")
	const proposed = `active = "deleted_at eq null"`
	if said := l.run("", "vestibule", "check"); !strings.Contains(said, proposed) {
		t.Errorf("check does not propose %s:\n%s", proposed, said)
	}
	l.follow(text)
	if said := l.run("", "vestibule", "check"); said != "config.hcl is fine\n" {
		t.Errorf("check says %s", said)
	}
	l.host(func(get func(string) (int, string, string), _ func(string, string) string) {
		if status, _, where := get("/dashboard"); status != 302 || where != "/odata/" {
			t.Errorf("before she is deleted Ada's page is %d %s", status, where)
		}
		change(t, database, "UPDATE users SET deleted_at = '2026-05-04 11:00:00'")
		if status, _, where := get("/dashboard"); status != 302 || !strings.HasPrefix(where, "/login") {
			t.Errorf("once she is deleted Ada's page is %d %s", status, where)
		}
		change(t, database, "UPDATE users SET deleted_at = NULL")
		if status, _, where := get("/dashboard"); status != 302 || !strings.HasPrefix(where, "/login") {
			t.Errorf("Ada's ended session opens her page again: %d %s", status, where)
		}
		change(t, database, "UPDATE users SET deleted_at = '2026-05-04 11:00:00'")
	})
	if said := l.run("", "vestibule", "user", "list"); !strings.Contains(said, "not active") {
		t.Errorf("user list says %s", said)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `[^|]* \\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		column, _, _ := strings.Cut(m[1], " ")
		if column != "deleted_at" {
			change(t, database, "ALTER TABLE users ADD COLUMN "+column+" "+map[string]string{"locked_until": "DATETIME", "status": "TEXT", "is_active": "BOOLEAN", "blocked": "BOOLEAN"}[column])
		}
		l.run("", "vestibule", "check", "--set", "auth.active="+m[1])
	}
}

// followUsers moves a table of each framework, with the hashes that it makes.
func followUsers(t *testing.T, l *learner, text string) {
	for _, program := range []string{"php", "psql", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			missingFor(t, "REQUIRE_UPSTREAMS", "no "+program)
		}
	}
	hashes := map[string]string{
		"laravel": l.php(`password_hash("` + adaPassword + `", PASSWORD_BCRYPT, ["cost" => 12])`),
		"devise":  "$2a$" + strings.TrimPrefix(l.php(`password_hash("`+adaPassword+`", PASSWORD_BCRYPT, ["cost" => 12])`), "$2y$"),
		"argon2":  "argon2" + l.php(`password_hash("`+adaPassword+`", PASSWORD_ARGON2ID, ["memory_cost" => 102400, "time_cost" => 2, "threads" => 8])`),
		"pbkdf2": l.run("", "python3", "-c", `import base64, hashlib
key = hashlib.pbkdf2_hmac("sha256", b"`+adaPassword+`", b"salt", 870000)
print("pbkdf2_sha256$870000$salt$" + base64.b64encode(key).decode(), end="")`),
	}
	part := func(from, to string) string {
		_, text, ok := strings.Cut(text, from)
		text, _, ok2 := strings.Cut(text+"\n## the end", to)
		if !ok || !ok2 {
			t.Fatalf("the page has nothing from %q to %q", from, to)
		}
		return text
	}
	laravel := filepath.Join(l.dir, "app.db")
	change(t, laravel, `CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR NOT NULL, email VARCHAR NOT NULL UNIQUE, email_verified_at DATETIME,
		password VARCHAR NOT NULL, remember_token VARCHAR, created_at DATETIME, updated_at DATETIME)`)
	change(t, laravel, `INSERT INTO users (name, email, password) VALUES ('Ada', 'ada@example.com', '`+hashes["laravel"]+`')`)
	l.follow(part("## Laravel", "\n## Rails"))
	l.entersAs("ada@example.com", true)
	if now := l.run("", "sqlite3", "app.db", "SELECT password FROM users"); !strings.HasPrefix(now, "$argon2id$") {
		t.Errorf("the hash of Laravel has become %s", now)
	}

	dsn := dbtest.Postgres(t)
	rails := movedTo(t, part("## Rails", "\n## Django"), dsn)
	l.sql(dsn, `CREATE TABLE users (id BIGSERIAL PRIMARY KEY, email VARCHAR DEFAULT '' NOT NULL UNIQUE, encrypted_password VARCHAR DEFAULT '' NOT NULL, reset_password_token VARCHAR,
		reset_password_sent_at TIMESTAMP(6), remember_created_at TIMESTAMP(6), created_at TIMESTAMP(6) NOT NULL, updated_at TIMESTAMP(6) NOT NULL)`,
		`INSERT INTO users (email, encrypted_password, created_at, updated_at) VALUES ('ada@example.com', '`+hashes["devise"]+`', now(), now())`)
	l.follow(rails)
	l.entersAs("ada@example.com", true)
	if now := l.sql(dsn, `SELECT encrypted_password FROM users`); !strings.HasPrefix(now, "$argon2id$") {
		t.Errorf("the hash of Devise has become %s", now)
	}

	dsn = dbtest.Postgres(t)
	l.sql(dsn, `CREATE TABLE auth_user (id SERIAL PRIMARY KEY, password VARCHAR(128) NOT NULL, last_login TIMESTAMPTZ, is_superuser BOOLEAN NOT NULL, username VARCHAR(150) NOT NULL UNIQUE,
		first_name VARCHAR(150) NOT NULL, last_name VARCHAR(150) NOT NULL, email VARCHAR(254) NOT NULL, is_staff BOOLEAN NOT NULL, is_active BOOLEAN NOT NULL, date_joined TIMESTAMPTZ NOT NULL)`)
	for name, c := range map[string]struct {
		hash   string
		active string
	}{"ada": {hashes["pbkdf2"], "TRUE"}, "grace": {hashes["argon2"], "TRUE"}, "bob": {hashes["argon2"], "FALSE"}} {
		l.sql(dsn, `INSERT INTO auth_user (password, is_superuser, username, first_name, last_name, email, is_staff, is_active, date_joined)
			VALUES ('`+c.hash+`', FALSE, '`+name+`', '`+name+`', 'Example', '`+name+`@example.com', FALSE, `+c.active+`, now())`)
	}
	_, config, _ := strings.Cut(rails, "```hcl\n")
	config, _, _ = strings.Cut(config, "```")
	putFile(t, l.dir, "conf.d/database.hcl", regexp.MustCompile(`dsn += ".*"`).ReplaceAllLiteralString(config, `dsn = "`+withSchema(dsn)+`"`))
	django := part("## Django", "\n## the end")
	if !strings.Contains(django, "`active = \"is_active\"`") || !strings.Contains(django, "`login_field = \"username\"`") {
		t.Error("the page does not name the keys for Django")
	}
	putFile(t, l.dir, "conf.d/django.hcl", "auth {\n  active = \"is_active\"\n  login_field = \"username\"\n}\n")
	l.follow(movedTo(t, django, dsn))
	l.entersAs("grace", true)
	l.entersAs("bob", false)
	l.entersAs("ada", false)
	link := regexp.MustCompile(`/password/reset/([^?\s]+)\?email=(\S+)`).FindStringSubmatch(l.run("", "vestibule", "user", "reset-link", "--email", "ada@example.com"))
	if link == nil {
		t.Fatal("reset-link prints no link")
	}
	l.serve("", nil, func(base string) {
		body, _ := json.Marshal(map[string]string{"token": link[1], "email": "ada@example.com", "password": adaPassword, "password_confirmation": adaPassword})
		resp, err := http.Post(base+"/auth/reset-password", "application/json", strings.NewReader(string(body)))
		l.check(err)
		l.check(resp.Body.Close())
		if resp.StatusCode != http.StatusOK {
			t.Errorf("the new password gets %s", resp.Status)
		}
	})
	l.entersAs("ada", true)
}

// movedTo returns a part of the page with the test's database.
func movedTo(t *testing.T, text, dsn string) string {
	t.Helper()
	return strings.NewReplacer("psql app -f", "psql '"+dsn+"' -q -v ON_ERROR_STOP=1 -f",
		"postgres://app@127.0.0.1:5432/app?search_path=vestibule,public", withSchema(dsn)).Replace(text)
}

// withSchema adds the schemas of the page to a URL that has a query already.
func withSchema(dsn string) string { return dsn + "&search_path=vestibule,public" }

// php returns the value of an expression.
func (l *learner) php(expression string) string {
	l.t.Helper()
	return l.run("", "php", "-r", "echo "+expression+";")
}

// sql runs statements and returns the first value of the last one, if that is a SELECT.
func (l *learner) sql(dsn string, statements ...string) string {
	l.t.Helper()
	db, err := sqlx.Open("pgx", dsn)
	l.check(err)
	defer func() { _ = db.Close() }()
	value := ""
	for _, statement := range statements {
		if strings.HasPrefix(statement, "SELECT") {
			l.check(db.Get(&value, statement))
			continue
		}
		_, err := db.Exec(statement)
		l.check(err)
	}
	return value
}

// entersAs signs somebody in with Ada's password, or sees that the host refuses that.
func (l *learner) entersAs(login string, want bool) {
	l.t.Helper()
	l.serve("", nil, func(base string) {
		body, err := json.Marshal(map[string]string{"login": login, "password": adaPassword})
		l.check(err)
		resp, err := http.Post(base+"/auth/login", "application/json", strings.NewReader(string(body)))
		l.check(err)
		l.check(resp.Body.Close())
		if status := map[bool]int{true: http.StatusOK, false: http.StatusUnprocessableEntity}[want]; resp.StatusCode != status {
			l.t.Errorf("the sign-in of %s gets %s, want %d", login, resp.Status, status)
		}
	})
}
