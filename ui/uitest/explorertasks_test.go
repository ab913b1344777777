package uitest

import (
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// task holds the set of a database's sales, and the names of its columns for people and
// for the database.
type task struct {
	set, table, by, label, day, dayLabel, amount, amountLabel string
}

func tasks() map[string]task {
	return map[string]task{
		"Chinook": {
			set: "Invoice", table: "Invoice", by: "CustomerId", label: "(SELECT LastName FROM Customer c WHERE c.CustomerId = s.CustomerId)",
			day: "InvoiceDate", dayLabel: "Invoice date", amount: "Total", amountLabel: "Total",
		},
		"Northwind": {
			set: "Orders", table: "Orders", by: "CustomerID", label: "(SELECT CompanyName FROM Customers c WHERE c.CustomerID = s.CustomerID)",
			day: "OrderDate", dayLabel: "Order date", amount: "Freight", amountLabel: "Freight",
		},
	}
}

// newSales starts the real binary with the tables of Chinook and Northwind, and rows for their sales of five years.
func newSales(t *testing.T) *real {
	t.Helper()
	schema := "partner_id INTEGER DEFAULT 7;\n"
	for _, name := range []string{"../../odata/odatatest/testdata/chinook.sql", "../../odata/sqlsource/testdata/northwind.sql"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		schema += string(text)
	}
	return newRealWith(t, "", `
odata {
  entity_set "Customer" {
    table = "Customer"
  }
  entity_set "Invoice" {
    table = "Invoice"
    property "CustomerId" {
      text = "Customer/LastName"
    }
    property "Total" {
      currency = "'USD'"
    }
  }
  entity_set "Customers" {
    table = "Customers"
  }
  entity_set "Orders" {
    table = "Orders"
    list  = ["OrderID", "Customer/CompanyName", "OrderDate", "Freight"]
    property "CustomerID" {
      text = "Customer/CompanyName"
    }
  }
}
`, schema+`;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
		INSERT INTO Customer (CustomerId, FirstName, LastName, Email) SELECT i, 'Ada', 'Customer ' || i, 'c' || i || '@example.com' FROM n;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
		INSERT INTO Invoice (InvoiceId, CustomerId, InvoiceDate, Total)
			SELECT i, 1 + (i * i) % 59, datetime('2021-01-01', '+' || ((i * 29) % 43000) || ' hours'), printf('%d.%02d', 1 + i % 23, (i * 7) % 100) FROM n;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
		INSERT INTO Customers (CustomerID, CompanyName) SELECT printf('Z%04d', i), 'Company ' || i FROM n;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
		INSERT INTO Orders (OrderID, CustomerID, OrderDate, Freight)
			SELECT 100000 + i, printf('Z%04d', 1 + (i * i) % 40), datetime('2021-01-01', '+' || ((i * 31) % 43000) || ' hours'), (1 + i % 31) + 0.25 FROM n`)
}

// A person finds the five best customers of a year, exports the sales of the best one, shares
// the address, and sees the year by month. Each figure is that of SQL.
func TestExplorerTasks(t *testing.T) {
	source := needAxe(t)
	r := newSales(t)
	b := explored(t, r, "?lang=en")
	browsertest.Call(b.Tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Europe/Berlin"})
	for name, task := range tasks() {
		t.Logf("%s", name)
		b.Visit(r.base + "/odata/?lang=en#/" + task.set)
		b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
		b.bestCustomers(r, task)
		b.salesOfBest(r, task)
		b.yearByMonth(r, task)
		b.axe(source, name, false)
		b.Picture("explorer-tasks-" + name)
	}
}

// year returns the condition of SQL for the year 2023 in Berlin.
func (k task) year() string {
	return fmt.Sprintf("%[1]s >= '2022-12-31 23:00:00' AND %[1]s < '2023-12-31 23:00:00'", k.day)
}

// bestCustomers groups the sales of a year by customer, the largest sum first.
func (b *tab) bestCustomers(r *real, k task) {
	b.T.Helper()
	b.Fill(fmt.Sprintf(`input[aria-label="Filter by %s"]`, k.dayLabel), "2023")
	b.Wait(fmt.Sprintf(`location.hash.includes('%s.lt=2023-12-31T23')`, k.day))
	b.pick(`[aria-label="Rows, or numbers for each value"]`, k.by)
	sum := k.amountLabel + " (Sum)"
	b.Wait(fmt.Sprintf(`document.querySelector('thead').innerText.includes(%q) && !document.querySelector('.table[aria-busy]')`, sum))
	for range 2 { // rising, then falling
		browsertest.Eval[any](b.Tab, fmt.Sprintf(`[...document.querySelectorAll('th button')].find((x) => x.textContent.startsWith(%q)).click()`, sum))
		b.Wait(fmt.Sprintf(`[...document.querySelectorAll('th')].find((x) => x.textContent.startsWith(%q)).hasAttribute('aria-sort') && !document.querySelector('.table[aria-busy]')`, sum))
	}
	b.Wait(fmt.Sprintf(`location.hash.includes('sort=%s+desc') && document.querySelector('[aria-sort=descending]') !== null && !document.querySelector('.table[aria-busy]') && document.querySelector('.below .hint') !== null`, k.amount))
	b.Wait(`document.querySelector('.below .hint').textContent.includes(' of ')`)
	want := r.rows(fmt.Sprintf(`SELECT %s || ' ' || count(*) || ' ' || printf('%%.2f', sum(%s)) FROM %s s WHERE %s GROUP BY s.%s ORDER BY sum(%s) DESC, s.%s LIMIT 5`,
		k.label, k.amount, k.table, k.year(), k.by, k.amount, k.by))
	got := browsertest.Eval[[]string](b.Tab, fmt.Sprintf(`(() => {
		const at = [...document.querySelectorAll('thead tr:first-child th')].findIndex((x) => x.textContent.startsWith(%q));
		return [...document.querySelectorAll('tbody tr')].slice(0, 5).map((r) => [r.cells[0].innerText, r.cells[1].innerText, Number(r.cells[at].innerText.replace(/[^\d.]/g, '')).toFixed(2)].join(' '));
	})()`, sum))
	if d := cmp.Diff(want, got); d != "" {
		b.T.Errorf("%s: the best customers (-SQL +page):\n%s", k.set, d)
	}
}

// salesOfBest follows the first customer, downloads the sales, and opens the address anew, in German.
func (b *tab) salesOfBest(r *real, k task) {
	b.T.Helper()
	groups := browsertest.Eval[string](b.Tab, `location.hash`)
	b.Click(`tbody tr:first-child a`)
	best := r.rows(fmt.Sprintf(`SELECT %[1]s FROM %[2]s WHERE %[3]s GROUP BY %[1]s ORDER BY sum(%[4]s) DESC, %[1]s LIMIT 1`, k.by, k.table, k.year(), k.amount))[0]
	where := fmt.Sprintf("%s AND %s = '%s'", k.year(), k.by, best)
	count := r.rows(fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s`, k.table, where))[0]
	b.Wait(fmt.Sprintf(`document.querySelector('.below .hint')?.textContent.endsWith(' of %s') && !location.hash.includes('group')`, count))
	b.Click(`.elsewhere button`)
	b.Wait(fmt.Sprintf(`document.querySelector('dialog a')?.textContent === 'Download %s rows as CSV'`, count))
	file := browsertest.Eval[string](b.Tab, `fetch(document.querySelector('dialog a').href).then((r) => r.text())`)
	lines, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(lines) == 0 {
		b.T.Fatalf("%s: the file: %v", k.set, err)
	}
	at := map[string]int{}
	for i, column := range lines[0] {
		at[column] = i
	}
	var got []string
	for _, line := range lines[1:] {
		got = append(got, line[0]+" "+line[at[k.amount]])
	}
	want := r.rows(fmt.Sprintf(`SELECT rowid || ' ' || printf('%%.2f', %s) FROM %s WHERE %s ORDER BY rowid`, k.amount, k.table, where))
	if d := cmp.Diff(want, got); d != "" {
		b.T.Errorf("%s: the exported sales (-SQL +file):\n%s", k.set, d)
	}
	shared := browsertest.Eval[string](b.Tab, `location.hash`)
	b.Visit("about:blank")
	b.Visit(r.base + "/odata/?lang=de" + shared)
	b.Wait(fmt.Sprintf(`document.querySelector('.below .hint')?.textContent.endsWith(' von %s')`, count))
	b.Visit(r.base + "/odata/?lang=en" + groups)
	b.Wait(`document.querySelector('[aria-label="Second grouping"]') !== null && document.querySelectorAll('tbody tr').length > 5`)
}

// yearByMonth groups the year by month and compares each bar of its chart.
func (b *tab) yearByMonth(r *real, k task) {
	b.T.Helper()
	b.pick(`[aria-label="Rows, or numbers for each value"]`, k.day+".month")
	b.Wait(fmt.Sprintf(`document.querySelector('thead').innerText.includes(%q)`, k.dayLabel+" (month, UTC)"))
	b.pick(`[aria-label=Chart]`, k.amount)
	b.Wait(`document.querySelectorAll('.chart li').length > 11`)
	want := r.rows(fmt.Sprintf(`SELECT strftime('%%Y-%%m', %s) || ' ' || printf('%%.2f', sum(%s)) FROM %s WHERE %s GROUP BY strftime('%%Y-%%m', %s) ORDER BY 1`,
		k.day, k.amount, k.table, k.year(), k.day))
	got := browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('.chart li')].map((x) => {
		const [name, , value] = [...x.children].map((y) => y.innerText);
		const at = new Date(name + ' 1 UTC');
		return at.toISOString().slice(0, 7) + ' ' + Number(value.replace(/[^\d.]/g, '')).toFixed(2);
	})`)
	if d := cmp.Diff(want, got); d != "" {
		b.T.Errorf("%s: the months (-SQL +page):\n%s", k.set, d)
	}
}
