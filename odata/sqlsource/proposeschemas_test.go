package sqlsource_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// schema reads a schema of the tests, with rows, as a dialect spells it.
func schema(t *testing.T, dialect, name string) string {
	t.Helper()
	file := map[string]string{"chinook": "../odatatest/testdata/chinook.sql"}[name]
	if file == "" {
		file = "testdata/" + name + ".sql"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	odd := map[string]string{"sqlite": "WEIRD(7)", "postgres": "inet", "mysql": "ENUM('a', 'b')"}[dialect]
	script := ddlOf(dialect, strings.ReplaceAll(string(text), "{ODD}", odd))
	if name == "chinook" {
		script += chinookRows
	}
	return script
}

const chinookRows = `;
INSERT INTO Artist VALUES (1, 'AC/DC'), (2, NULL);
INSERT INTO Album VALUES (1, 'Let There Be Rock', 1), (2, 'Let There Be Rock', 2);
INSERT INTO Genre VALUES (1, 'Rock');
INSERT INTO MediaType VALUES (1, 'MPEG');
INSERT INTO Employee (EmployeeId, LastName, FirstName, ReportsTo) VALUES (1, 'Adams', 'Andrew', NULL), (2, 'Edwards', 'Nancy', 1);
INSERT INTO Customer (CustomerId, FirstName, LastName, Email, SupportRepId) VALUES (1, 'Luís', 'Gonçalves', 'luis@example.com', 2);
INSERT INTO Invoice (InvoiceId, CustomerId, InvoiceDate, Total) VALUES (1, 1, '2009-01-01 00:00:00', 1.98), (2, 1, '2009-01-02 00:00:00', 3.96);
INSERT INTO Track (TrackId, Name, AlbumId, MediaTypeId, GenreId, Milliseconds, UnitPrice) VALUES (1, 'Go Down', 1, 1, 1, 331180, 0.99), (2, 'Dog Eat Dog', NULL, 1, NULL, 215196, 0.99);
INSERT INTO InvoiceLine VALUES (1, 1, 1, 0.99, 1), (2, 1, 2, 0.99, 1);
INSERT INTO Playlist VALUES (1, 'Music'), (2, 'Movies');
INSERT INTO PlaylistTrack VALUES (1, 1), (1, 2), (2, 2)`

// TestProposedSetsReachEveryRow walks each set that is proposed, row by row, and compares with the number of rows that its
// table or view has.
func TestProposedSetsReachEveryRow(t *testing.T) {
	type left struct{ names, guessed []string }
	for name, want := range map[string]left{
		"sqlite chinook":   {},
		"sqlite northwind": {guessed: northwindViews()},
		"sqlite ugly":      {[]string{"duplicates", "nobody"}, []string{"by who.and what", "counted", "late orders", "logged"}},
		"postgres ugly":    {[]string{"duplicates", "nobody"}, []string{"by who.and what", "counted", "late orders", "logged"}},
		"mysql ugly":       {[]string{"duplicates", "nobody"}, []string{"by who.and what", "counted", "late orders", "logged"}},
	} {
		t.Run(name, func(t *testing.T) {
			dialect, of, _ := strings.Cut(name, " ")
			db := database(t, dialect, schema(t, dialect, of))
			p, err := sqlsource.Propose(t.Context(), db, sqlsource.Config{Protected: reserved.Table})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, line := range p.Left {
				name, _, _ := strings.Cut(line, ":")
				names = append(names, name)
			}
			slices.Sort(names)
			slices.Sort(p.Guessed)
			if !slices.Equal(names, want.names) || !slices.Equal(p.Guessed, want.guessed) {
				t.Errorf("left out: %q; keys were guessed of %q", p.Left, p.Guessed)
			}
			s := open(t, db, sqlsource.Config{EntitySets: p.Sets})
			s.caller = plan.Caller{SignedIn: true, Settled: true}
			quote := map[string]string{"mysql": "`"}[dialect]
			if quote == "" {
				quote = `"`
			}
			for _, set := range p.Sets {
				var rows int
				if err := db.DB.Get(&rows, "SELECT COUNT(*) FROM "+quote+set.Table+quote); err != nil {
					t.Fatal(err)
				}
				if got := s.reachable(set.Name); got != rows || rows == 0 {
					t.Errorf("%s: %d of %d rows are reachable", set.Table, got, rows)
				}
			}
		})
	}
}

// reachable counts the rows of a set that are different, asking for one at a time.
func (s *shop) reachable(set string) int {
	var key []string
	for _, p := range s.Model().Set(set).Type.Key {
		key = append(key, p.Name)
	}
	seen := map[string]bool{}
	for {
		row := s.get(fmt.Sprintf("%s?$select=%s&$top=1&$skip=%d", set, strings.Join(key, ","), len(seen)))
		if row == "" || seen[row] || strings.HasPrefix(row, "fault") || !strings.HasPrefix(row, "[") {
			return len(seen)
		}
		seen[row] = true
	}
}

func northwindViews() []string {
	return []string{
		"Alphabetical list of products", "Category Sales for 1997", "Current Product List", "Customer and Suppliers by City", "Invoices",
		"Order Details Extended", "Order Subtotals", "Orders Qry", "Product Sales for 1997", "Products Above Average Price", "Products by Category",
		"Quarterly Orders", "Sales Totals by Amount", "Summary of Sales by Quarter",
	}
}

// TestProposeGuessesKeys holds which columns of the views of Northwind are proposed as keys.
func TestProposeGuessesKeys(t *testing.T) {
	p, err := sqlsource.Propose(t.Context(), database(t, "sqlite", schema(t, "sqlite", "northwind")), sqlsource.Config{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, set := range p.Sets {
		if len(set.Key) > 0 {
			got[set.Table] = strings.Join(set.Key, ", ")
		}
	}
	if diff := cmp.Diff(map[string]string{
		"Alphabetical list of products": "ProductID", "Category Sales for 1997": "CategoryName", "Current Product List": "ProductID",
		"Customer and Suppliers by City": "CompanyName", "Invoices": "OrderID, ProductID", "Order Details Extended": "OrderID, ProductID",
		"Order Subtotals": "OrderID", "Orders Qry": "OrderID", "Product Sales for 1997": "ProductName", "Products Above Average Price": "ProductName",
		"Products by Category": "ProductName", "Quarterly Orders": "CustomerID", "Sales Totals by Amount": "OrderID", "Summary of Sales by Quarter": "OrderID",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestProposePolicies holds that rows that refer to users are proposed for them alone.
func TestProposePolicies(t *testing.T) {
	const script = `CREATE TABLE users (id {BIG} PRIMARY KEY, email {STR} NOT NULL UNIQUE, password {STR});
CREATE TABLE orders (id {BIG} PRIMARY KEY, customer_id {BIG} NOT NULL, total {INT}, FOREIGN KEY (customer_id) REFERENCES users (id));
CREATE TABLE reviews (id {BIG} PRIMARY KEY, "written by" {BIG}, checked_by {STR}, FOREIGN KEY ("written by") REFERENCES users (id), FOREIGN KEY (checked_by) REFERENCES users (email));
CREATE TABLE products (id {BIG} PRIMARY KEY, customer_id {BIG});
CREATE VIEW totals AS SELECT customer_id, SUM(total) AS total FROM orders GROUP BY customer_id;
CREATE VIEW amounts AS SELECT id, total FROM orders;
CREATE VIEW "more amounts" AS SELECT id, total FROM amounts;
CREATE VIEW people AS SELECT id, email FROM users;
CREATE VIEW half AS SELECT id, total / 2 AS total FROM "more amounts";
INSERT INTO users VALUES (1, 'ada@example.com', 'x'), (2, 'bob@example.com', 'x');
INSERT INTO orders VALUES (1, 1, 5), (2, 2, 6), (3, 1, 7);
INSERT INTO reviews VALUES (1, 1, 'bob@example.com'), (2, 2, 'bob@example.com'), (3, 2, 'ada@example.com');
INSERT INTO products VALUES (1, 1), (2, 2)`
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			db := database(t, dialect, ddlOf(dialect, script))
			p, err := sqlsource.Propose(context.Background(), db, sqlsource.Config{Protected: reserved.Table})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for _, set := range p.Sets {
				got[set.Name] = strings.Split(set.Filter, " or ")
				slices.Sort(got[set.Name])
			}
			if diff := cmp.Diff(map[string][]string{
				"orders": {"customer_id eq @user_id"}, "reviews": {"checked_by eq @user_email", "written_by eq @user_id"}, "products": {""}, "totals": {"customer_id eq @user_id"},
			}, got); diff != "" {
				t.Fatal(diff)
			}
			slices.Sort(p.Left)
			if want := []string{"amounts: it reads orders, whose rows belong to users", "half: it reads orders", "more amounts: it reads orders", "people: it reads users; ", "users: "}; !slices.EqualFunc(p.Left, want, strings.HasPrefix) {
				t.Errorf("left out: %q", p.Left)
			}
			s := open(t, db, sqlsource.Config{EntitySets: p.Sets, Protected: reserved.Table})
			s.caller = plan.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": "1", "email": "ada@example.com"}}
			check(t, s, [][2]string{
				{"orders?$select=id", "[1][3]"},
				{"reviews?$select=id", "[1][3]"},
				{"products?$select=id", "[1][2]"},
				{"totals?$select=customer_id", "[1]"},
				{"orders(2)", ""},
				{"orders(3)?$select=id", "[3]"},
			})
		})
	}
}

// TestProposeLeavesFrameworksOut holds that the tables of frameworks are left out, and those of applications that have the
// same name are not.
func TestProposeLeavesFrameworksOut(t *testing.T) {
	db := database(t, "sqlite", `
CREATE TABLE cache ("key" VARCHAR PRIMARY KEY, value TEXT NOT NULL, expiration INTEGER NOT NULL);
CREATE TABLE cache_locks ("key" VARCHAR PRIMARY KEY, owner VARCHAR NOT NULL, expiration INTEGER NOT NULL);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue VARCHAR NOT NULL, payload TEXT NOT NULL, attempts INTEGER NOT NULL);
CREATE TABLE migrations (id INTEGER PRIMARY KEY, migration VARCHAR NOT NULL, batch INTEGER NOT NULL);
CREATE TABLE schema_migrations (version VARCHAR PRIMARY KEY);
CREATE TABLE ar_internal_metadata ("key" VARCHAR PRIMARY KEY, value VARCHAR);
CREATE TABLE "__EFMigrationsHistory" (MigrationId TEXT PRIMARY KEY, ProductVersion TEXT);
CREATE TABLE sessions (id VARCHAR PRIMARY KEY, payload TEXT);
CREATE TABLE django_content_type (id INTEGER PRIMARY KEY, app_label VARCHAR)`)
	p, err := sqlsource.Propose(t.Context(), db, sqlsource.Config{Protected: reserved.Table, PassOver: reserved.SessionTable})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"sessions: it holds sessions", "django_content_type: kept by Django for itself", "__EFMigrationsHistory: kept by Entity Framework for itself",
		"cache, cache_locks, jobs, migrations: kept by Laravel for itself", "ar_internal_metadata: kept by Rails for itself",
		"schema_migrations: kept by Rails or a migration tool for itself",
	}, p.Left); diff != "" || len(p.Sets) > 0 {
		t.Errorf("%s\n%+v", diff, p.Sets)
	}
	db = database(t, "sqlite", `
CREATE TABLE jobs (id INTEGER PRIMARY KEY, title VARCHAR(40) NOT NULL, salary INTEGER);
CREATE TABLE cache (id INTEGER PRIMARY KEY, found_on DATE);
CREATE TABLE migrations (id INTEGER PRIMARY KEY, species VARCHAR(40) NOT NULL)`)
	if p, err = sqlsource.Propose(t.Context(), db, sqlsource.Config{}); err != nil || len(p.Sets) != 3 || len(p.Left) > 0 {
		t.Errorf("%v, %+v", err, p)
	}
}

// TestProposeWithoutNames holds that nothing without a name is proposed.
func TestProposeWithoutNames(t *testing.T) {
	db := database(t, "sqlite", `
CREATE TABLE "" (id INTEGER PRIMARY KEY, name VARCHAR(9) NOT NULL);
CREATE TABLE "_" (id INTEGER PRIMARY KEY, "" VARCHAR(9) NOT NULL, " " INTEGER REFERENCES "_" (id));
CREATE TABLE blank ("" INTEGER, "  " VARCHAR(9) NOT NULL);
INSERT INTO blank VALUES (1, 'a'), (2, 'b')`)
	p, err := sqlsource.Propose(t.Context(), db, sqlsource.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := []sqlsource.EntitySet{{Name: "_", Table: "_", Properties: []sqlsource.Property{{Column: "id", Look: sqlsource.Look{Text: "_"}}}}}
	if diff := cmp.Diff(want, p.Sets); diff != "" || len(p.Left) != 2 {
		t.Errorf("%s\n%q", diff, p.Left)
	}
}

// TestProposedTexts holds by which names the text of a row is known.
func TestProposedTexts(t *testing.T) {
	for _, column := range []string{"name", "Name", "NAME", "title", "label", "CompanyName", "company_name", "SupplierName", "supplier_title", "Supplier_Description"} {
		db := database(t, "sqlite", `CREATE TABLE suppliers (id INTEGER PRIMARY KEY, city VARCHAR(20) NOT NULL, "`+column+`" TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, supplier_id INTEGER REFERENCES suppliers (id))`)
		p, err := sqlsource.Propose(t.Context(), db, sqlsource.Config{})
		if err != nil {
			t.Fatal(err)
		}
		want := []sqlsource.EntitySet{
			{Name: "parts", Table: "parts", Properties: []sqlsource.Property{
				{Column: "supplier_id", Look: sqlsource.Look{Text: "supplier/" + column, ValueList: "suppliers"}},
			}},
			{Name: "suppliers", Table: "suppliers", Search: []string{column}, Properties: []sqlsource.Property{{Column: "id", Look: sqlsource.Look{Text: column}}}},
		}
		if diff := cmp.Diff(want, p.Sets); diff != "" {
			t.Errorf("%s: %s", column, diff)
		}
	}
}

// TestHiddenDefinitions holds that a view is left to the operator if the database does not tell what it reads.
func TestHiddenDefinitions(t *testing.T) {
	t.Parallel()
	db := database(t, "mysql", `CREATE TABLE users (id BIGINT PRIMARY KEY, email VARCHAR(99), password VARCHAR(99));
CREATE TABLE goods (id BIGINT PRIMARY KEY);
CREATE VIEW people AS SELECT id, email FROM users`)
	name := "reader" + strings.ToLower(rand.Text()[:10])
	for _, statement := range []string{"CREATE USER " + name + "@localhost", "GRANT SELECT ON * TO " + name + "@localhost"} {
		if _, err := db.DB.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = db.DB.Exec("DROP USER " + name + "@localhost") })
	from, err := mysql.ParseDSN(db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	from.User, from.Passwd = name, ""
	reader, err := sqlx.Open("mysql", from.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	p, err := sqlsource.Propose(t.Context(), sqlsource.Database{Dialect: "mysql", DB: reader, DSN: from.FormatDSN()}, sqlsource.Config{Protected: reserved.Table})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sets {
		if s.Table == "people" {
			t.Error("a view over users is proposed")
		}
	}
	if left := strings.Join(p.Left, "\n"); !strings.Contains(left, "people: its definition is hidden") {
		t.Error(left)
	}
}
