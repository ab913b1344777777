package sqlsource_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// What is proposed fits the database that it is proposed for.
func TestPropose(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			db := database(t, dialect, ddl(dialect))
			p, err := sqlsource.Propose(context.Background(), db, sqlsource.Config{})
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"product_tags: it has no key", "users: it holds credentials", "vestibule_sessions: it holds credentials"}
			slices.Sort(p.Left)
			if !slices.EqualFunc(p.Left, want, strings.HasPrefix) || !slices.Equal(p.Guessed, []string{"cheap"}) {
				t.Fatalf("left out: %q; a key was guessed of %q", p.Left, p.Guessed)
			}
			s, err := sqlsource.New(context.Background(), db, sqlsource.Config{EntitySets: p.Sets})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			category := s.Model().Set("products").Type.Property("category_id").Look
			if category.Text != "category/name" || category.ValueList == nil || category.ValueList.Set != s.Model().Set("categories") {
				t.Errorf("category_id: %+v", category)
			}
			for _, want := range []sqlsource.EntitySet{
				{Name: "cheap", Table: "cheap", Key: []string{"id"}, Search: []string{"name"}},
				{Name: "products", Table: "products", Search: []string{"name"}, Properties: []sqlsource.Property{
					{Column: "id", Look: sqlsource.Look{Text: "name"}},
					{Column: "category_id", Look: sqlsource.Look{Text: "category/name", ValueList: "categories"}},
				}},
			} {
				at := slices.IndexFunc(p.Sets, func(s sqlsource.EntitySet) bool { return s.Name == want.Name })
				if diff := cmp.Diff(want, p.Sets[at]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// Tables that nobody named for this, on SQLite.
func TestProposeForOddTables(t *testing.T) {
	db := database(t, "sqlite", `
CREATE TABLE "Odd Names" ("key no" INTEGER PRIMARY KEY, "first name" TEXT NOT NULL, "1st" TEXT, "${x}" TEXT, api_token TEXT);
CREATE TABLE addresses (city VARCHAR(40) NOT NULL, "zip" VARCHAR(10) NOT NULL, country VARCHAR(2) NOT NULL, currency VARCHAR(3), total DECIMAL(8,2), website TEXT, notes TEXT, PRIMARY KEY (city, "zip"));
CREATE TABLE branches (id INTEGER PRIMARY KEY, last_name TEXT, title TEXT, boss INTEGER REFERENCES branches (id), town VARCHAR(40), code VARCHAR(10), FOREIGN KEY (town, code) REFERENCES addresses (city, "zip"));
CREATE TABLE lone (id INTEGER PRIMARY KEY);`)
	p, err := sqlsource.Propose(context.Background(), db, sqlsource.Config{Protected: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlsource.New(context.Background(), db, sqlsource.Config{EntitySets: p.Sets})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	looks := map[string]sqlsource.Look{}
	for _, set := range p.Sets {
		for _, c := range set.Properties {
			looks[set.Name+"."+c.Column] = c.Look
		}
		if set.Name == "Odd_Names" && !slices.Equal(set.Hide, []string{"api_token"}) {
			t.Errorf("hidden: %q", set.Hide)
		}
	}
	for name, want := range map[string]sqlsource.Look{
		"addresses.total":   {Currency: "currency"},
		"addresses.website": {Format: "url"},
		"addresses.notes":   {Format: "multiline"},
		"branches.boss":     {Text: "boss_branches/last_name", ValueList: "branches"},
		"branches.town":     {},
		"lone.id":           {},
		"Odd_Names.${x}":    {},
	} {
		if got := looks[name]; got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What looks like a credential is hidden, and chosen for nothing.
func TestProposeHidesCredentials(t *testing.T) {
	secret := []string{
		"passwd", "pwd", "pass", "user_pw", "PassPhrase", "api_key", "apiKey2", "hash", "pwhash", "salt", "userPIN", "pin2", "otp", "totp-seed", "private_key",
		"credential", "ssn", "cvv", "card_number", "currency_secret", "Kennwort",
	}
	open := []string{"shipping", "opinion", "compass", "hashtag", "basalt", "photo_kennung", "sec_return", "key", "iban", "passenger"}
	ddl := "CREATE TABLE people (id INTEGER PRIMARY KEY, total DECIMAL(8,2)"
	for _, name := range append(slices.Clone(secret), open...) {
		ddl += `, "` + name + `" VARCHAR(40) NOT NULL`
	}
	db := database(t, "sqlite", ddl+`);
CREATE TABLE apps (api_key VARCHAR(40) PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE calls (id INTEGER PRIMARY KEY, app VARCHAR(40) REFERENCES apps, person INTEGER REFERENCES people);
CREATE TABLE members (app VARCHAR(40) REFERENCES apps, person INTEGER REFERENCES people, PRIMARY KEY (app, person))`)
	p, err := sqlsource.Propose(context.Background(), db, sqlsource.Config{Protected: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	want := []sqlsource.EntitySet{
		{Name: "calls", Table: "calls", Hide: []string{"app"}},
		{Name: "people", Table: "people", Hide: secret, Search: []string{"shipping"}},
	}
	looks := map[string]sqlsource.Look{}
	for i := range p.Sets {
		for _, c := range p.Sets[i].Properties {
			looks[p.Sets[i].Name+"."+c.Column] = c.Look
		}
		p.Sets[i].Properties = nil
	}
	if diff := cmp.Diff(want, p.Sets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]sqlsource.Look{
		"calls.person": {Text: "person_people/shipping", ValueList: "people"}, "people.id": {Text: "shipping"},
	}, only(looks, "calls.id", "calls.app", "calls.person", "people.id", "people.total", "people.pass")); diff != "" {
		t.Error(diff)
	}
	if len(p.Left) != 2 || !strings.HasPrefix(p.Left[0], "apps: its key api_key looks like a credential") || !strings.HasPrefix(p.Left[1], "members: its key app looks like a credential") {
		t.Errorf("left out: %q", p.Left)
	}
}

// only is what a map has of some keys.
func only(looks map[string]sqlsource.Look, names ...string) map[string]sqlsource.Look {
	out := map[string]sqlsource.Look{}
	for _, name := range names {
		if look, ok := looks[name]; ok {
			out[name] = look
		}
	}
	return out
}

// A view that calls a function reads what the function reads.
func TestProposeLooksIntoFunctions(t *testing.T) {
	for dialect, function := range map[string]string{
		"postgres": "CREATE FUNCTION names() RETURNS TABLE (id bigint, name text) LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT k.id, k.name FROM keys k; END $$;\nCREATE VIEW shown AS SELECT id, name FROM names()",
		"mysql":    "CREATE FUNCTION name_of(n BIGINT) RETURNS TEXT READS SQL DATA RETURN (SELECT name FROM `keys` WHERE id = n);\nCREATE VIEW shown AS SELECT id, name_of(id) AS name FROM plain",
	} {
		t.Run(dialect, func(t *testing.T) {
			db := database(t, dialect, ddlOf(dialect, "CREATE TABLE "+map[string]string{"postgres": "keys", "mysql": "`keys`"}[dialect]+" (id {BIG} PRIMARY KEY, name {STR});\nCREATE TABLE plain (id {BIG} PRIMARY KEY);\n"+function))
			p, err := sqlsource.Propose(t.Context(), db, sqlsource.Config{Protected: func(name string) bool { return name == "keys" }})
			if err != nil {
				t.Fatal(err)
			}
			want := "shown: it reads keys; write a set for it if people may see its rows"
			if len(p.Sets) != 1 || !slices.Contains(p.Left, want) {
				t.Errorf("sets %+v, left out %q", p.Sets, p.Left)
			}
		})
	}
}

// MariaDB has tables that keep their former rows.
func TestProposeTablesWithSystemVersions(t *testing.T) {
	db := database(t, "mysql", "CREATE TABLE kept (id INT PRIMARY KEY, name VARCHAR(9)) WITH SYSTEM VERSIONING;\nINSERT INTO kept VALUES (1, 'a');\nUPDATE kept SET name = 'b'")
	p, err := sqlsource.Propose(t.Context(), db, sqlsource.Config{})
	if err != nil || len(p.Sets) != 1 {
		t.Fatalf("%+v %v", p, err)
	}
	p.Sets[0].Guard = "none"
	if got := open(t, db, sqlsource.Config{EntitySets: p.Sets}).get("kept"); got != "[1,b]" {
		t.Errorf("got %s", got)
	}
}

// A file with the configuration has composed letters, and the database may have others.
func TestNamesWithDecomposedLetters(t *testing.T) {
	const table, column = "cafe\u0301", "pre\u0301nom"
	s := open(t, database(t, "sqlite", `CREATE TABLE "`+table+`" (id INTEGER PRIMARY KEY, "`+column+`" TEXT, secret TEXT);
INSERT INTO "`+table+`" VALUES (1, 'Ada', 'x')`), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "cafes", Table: "caf\u00e9", Hide: []string{"secret"}, Properties: []sqlsource.Property{{Column: "pr\u00e9nom", Name: "name"}}},
	}})
	if got := s.get("cafes?$filter=name eq 'Ada'"); got != "[1,Ada]" {
		t.Errorf("got %s", got)
	}
}
