package uitest

import (
	"database/sql"
	"encoding/csv"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// propose is the command that the tour shows first, in a shell.
const propose = "vestibule init --from northwind.db | tee conf.d/odata.hcl"

// products is the feed of the sheet.
const products = "/odata/Products?$select=ProductName,QuantityPerUnit,UnitPrice,UnitsInStock&$top=7"

// A northwind is a host over a database of Northwind, which it serves as it was proposed.
type northwind struct {
	*real
	// proposed is the output of [propose], ready the first line of the host.
	proposed, ready, token string
}

// newNorthwind makes the folder with database and configuration, and starts the host.
func newNorthwind(t *testing.T) *northwind {
	t.Helper()
	build(t)
	n := &northwind{real: &real{t: t, dir: t.TempDir()}}
	schema, err := os.ReadFile("../../odata/sqlsource/testdata/northwind.sql")
	n.check(err)
	n.change(string(schema) + `;
		INSERT INTO Customers (CustomerID, CompanyName, City, Country) VALUES ('BERGS', 'Berglunds snabbköp', 'Luleå', 'Sweden'),
			('BONAP', 'Bon app''', 'Marseille', 'France'), ('EASTC', 'Eastern Connection', 'London', 'UK'), ('FRANK', 'Frankenversand', 'München', 'Germany');
		INSERT INTO Products (ProductName, SupplierID, CategoryID, QuantityPerUnit, UnitPrice, UnitsInStock) VALUES ('Ginger Beer', 1, 1, '24 bottles', 4.5, 111), ('Chili Sauce', 2, 2, '12 jars', 13, 32);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
		INSERT INTO Orders (CustomerID, EmployeeID, OrderDate, ShipVia, Freight)
			SELECT CustomerID, 1 + i % 2, date('2025-11-28', '+' || (i * 9 / 10) || ' days'), 1 + (i / 3) % (SELECT count(*) FROM Shippers), (i * 37) % 190 + 0.25 * (i % 4) + 2
			FROM n JOIN (SELECT CustomerID, row_number() OVER (ORDER BY CustomerID) - 1 AS k FROM Customers) ON k = (i * i + i / 7) % 7`)
	n.write("config.hcl", `
server {
  address = "`+address(t)+`"
}
app {
  name = "Northwind"
}
database {
  driver = "sqlite"
  dsn    = "vestibule.db"
}
odata {
  database {
    dsn = "northwind.db"
  }
}
route "home" {
  path     = "/"
  redirect = "/login"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/odata/"
  guard    = "settled"
}
`)
	n.check(os.Mkdir(filepath.Join(n.dir, "conf.d"), 0o755))
	cmd := exec.Command("sh", "-c", propose)
	cmd.Dir, cmd.Env = n.dir, append(os.Environ(), "PATH="+built.dir+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	n.check(err)
	n.proposed = string(out)
	n.command(password+"\n", "user", "add", "--email", person, "--name", "Ada Lovelace", "--password-stdin")
	n.token = strings.TrimSpace(n.command("", "token", "add", "--email", person, "--name", "Spreadsheet"))
	if i := strings.Index(n.token, "vst_"); i >= 0 { // the audit line is printed with it
		n.token = strings.Fields(n.token[i:])[0]
	}
	n.serve()
	n.ready = n.said
	// Browsers have no passkeys on an address.
	n.base = strings.Replace(n.base, "127.0.0.1", "localhost", 1)
	return n
}

// address returns the usual one, or any other while that is taken.
func address(t *testing.T) string {
	t.Helper()
	const usual = "127.0.0.1:8080"
	l, err := net.Listen("tcp", usual)
	if err != nil {
		t.Logf("%v: the pictures show another port", err)
		return "127.0.0.1:0"
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return usual
}

func (n *northwind) check(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// change runs statements on the database, beside the host.
func (n *northwind) change(statements string) {
	n.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(n.dir, "northwind.db"))
	n.check(err)
	_, err = db.Exec(statements)
	n.check(err)
	n.check(db.Close())
}

// feed returns the rows that a spreadsheet gets, below their titles.
func (n *northwind) feed() [][]string {
	n.t.Helper()
	req, err := http.NewRequest(http.MethodGet, n.base+products+"&$format=csv", http.NoBody)
	n.check(err)
	req.SetBasicAuth("any", n.token)
	resp, err := http.DefaultClient.Do(req)
	n.check(err)
	defer func() { _ = resp.Body.Close() }()
	rows, err := csv.NewReader(resp.Body).ReadAll()
	if err != nil || resp.StatusCode != http.StatusOK || len(rows) < 5 {
		n.t.Fatalf("the feed answers %s with %d rows: %v", resp.Status, len(rows), err)
	}
	return rows
}

// A line is one of a terminal: a command after the prompt, or what it printed.
type line struct {
	Typed bool
	Text  string
}

// entitySet returns the lines of one set of a proposed block.
func entitySet(t *testing.T, block, set string) []string {
	t.Helper()
	_, text, ok := strings.Cut(block, "\n  entity_set \""+set+"\" {\n")
	text, _, ok2 := strings.Cut(text, "\n  }\n")
	if !ok || !ok2 {
		t.Fatalf("no set %s is proposed:\n%s", set, block)
	}
	return slices.Concat([]string{`  entity_set "` + set + `" {`}, strings.Split(text, "\n"), []string{"  }"})
}

// A sheet is a table as spreadsheets show it.
type sheet struct {
	Source, Below string
	Letters       []string
	Rows          []sheetRow
}

type sheetRow struct {
	Number int
	Cells  []sheetCell
}

type sheetCell struct{ Text, Class string }

// newSheet returns the rows after a refresh. Cells that differ from those before it are marked.
func newSheet(source string, before, after [][]string, below string) *sheet {
	s := &sheet{Source: source, Below: below}
	for i, row := range after {
		out := sheetRow{Number: i + 1}
		for j, text := range row {
			cell := sheetCell{Text: text}
			if i > 0 && strings.Trim(text, "0123456789.") == "" {
				cell.Class = "number"
			}
			if i >= len(before) || before[i][j] != text {
				cell.Class += " changed"
			}
			out.Cells = append(out.Cells, cell)
			if i == 0 {
				s.Letters = append(s.Letters, string(rune('A'+j)))
			}
		}
		s.Rows = append(s.Rows, out)
	}
	return s
}
