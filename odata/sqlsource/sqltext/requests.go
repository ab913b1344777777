package sqltext

import "strings"

// RequestTexts are the statements over vestibule_requests, the table in which requests are remembered that can be repeated.
type RequestTexts struct {
	// Create makes the table. Find has a row where it is there.
	Create []string
	Find   string
	// MayCreate fails without the right to make the table. Undo it. MariaDB cannot undo a new table: there the table has two
	// columns of one name, so MariaDB refuses it in any case, for want of the right first.
	MayCreate string
	// Claim inserts a request with ID, print and end, in milliseconds since 1970, unless it is there. It waits for other
	// transactions that have inserted the same one.
	Claim string
	// Recall has print and answer of a request, by ID. Keep sets the answer of one.
	Recall, Keep string
	// Nothing are statements that need the rights of all others and change nothing.
	Nothing []string
	// Ended has a row where one ends before a time. Forget deletes a limited number of them.
	Ended, Forget string
}

// Requests returns the statements for a dialect.
func Requests(dialect string) RequestTexts {
	create := "CREATE TABLE IF NOT EXISTS vestibule_requests (id BLOB NOT NULL PRIMARY KEY, print BLOB NOT NULL, ends BIGINT NOT NULL, answer BLOB) WITHOUT ROWID"
	t := RequestTexts{
		Create: []string{create, "CREATE INDEX IF NOT EXISTS vestibule_requests_ends ON vestibule_requests (ends)"},
		Find:   "SELECT 1 FROM sqlite_master WHERE name = 'vestibule_requests_ends'",
		Claim:  "INSERT INTO vestibule_requests (id, print, ends) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		Recall: "SELECT print, answer FROM vestibule_requests WHERE id = ?",
		Keep:   "UPDATE vestibule_requests SET answer = ? WHERE id = ?",
		Nothing: []string{
			"INSERT INTO vestibule_requests (id, print, ends) SELECT id, print, ends FROM vestibule_requests WHERE 1 = 0",
			"UPDATE vestibule_requests SET answer = answer WHERE 1 = 0",
			"DELETE FROM vestibule_requests WHERE 1 = 0",
		},
		Ended:  "SELECT 1 FROM vestibule_requests WHERE ends < ? LIMIT 1",
		Forget: "DELETE FROM vestibule_requests WHERE id IN (SELECT id FROM vestibule_requests WHERE ends < ? LIMIT 1000)",
	}
	t.MayCreate = create
	switch dialect {
	case "postgres":
		t.Create[0] = strings.NewReplacer("BLOB", "BYTEA", " WITHOUT ROWID", "").Replace(create)
		t.MayCreate = t.Create[0]
		t.Find = "SELECT 1 WHERE to_regclass('vestibule_requests_ends') IS NOT NULL"
		for _, s := range []*string{&t.Claim, &t.Recall, &t.Keep, &t.Ended, &t.Forget} {
			*s = numbered(*s)
		}
	case "mysql":
		t.Create = []string{
			"CREATE TABLE IF NOT EXISTS vestibule_requests (id BINARY(32) NOT NULL PRIMARY KEY, print BINARY(32) NOT NULL, ends BIGINT NOT NULL, answer MEDIUMBLOB, INDEX (ends)) ENGINE=InnoDB",
		}
		t.MayCreate = "CREATE TABLE vestibule_requests (id INTEGER, id INTEGER)"
		t.Find = "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'vestibule_requests'"
		t.Claim = "INSERT IGNORE INTO vestibule_requests (id, print, ends) VALUES (?, ?, ?)"
		t.Forget = "DELETE FROM vestibule_requests WHERE ends < ? LIMIT 1000"
	}
	return t
}

// numbered writes placeholders as PostgreSQL has them.
func numbered(query string) string {
	parts := strings.Split(query, "?")
	for i := range parts[1:] {
		parts[i] += postgres{}.placeholder(i + 1)
	}
	return strings.Join(parts, "")
}
