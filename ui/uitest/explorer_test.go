package uitest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// newExplored starts the real binary with sixty products in three categories.
func newExplored(t *testing.T) *real {
	t.Helper()
	build(t)
	return newRealWith(t, "", fmt.Sprintf(`
plugin "orgs" {
  command    = [%q]
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}
odata {
  entity_set "Products" {
    table  = "products"
    search = ["name"]
  }
  entity_set "Categories" {
    table = "categories"
  }
}
`, filepath.Join(built.dir, "orgsetup")), `partner_id INTEGER DEFAULT 7;
		CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
		CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER REFERENCES categories (id),
			price DECIMAL(10, 2) NOT NULL, released_on DATE, sold BOOLEAN NOT NULL DEFAULT FALSE);
		INSERT INTO categories VALUES (1, 'Tents'), (2, 'Stoves'), (3, 'Maps & more');
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
		INSERT INTO products SELECT i, 'Product ' || i, 1 + i % 3, i + 0.25, '2026-01-' || printf('%02d', 1 + i % 28), i % 2 FROM n`)
}

// A person comes to /odata/ with a browser, signs in, and looks at rows: by keyboard and
// by typed filters, sorted, in groups, with sums, one by one and page by page. The state
// is the address at every moment.
func TestExplorer(t *testing.T) {
	source := needAxe(t)
	r := newExplored(t)
	b := open(t)
	b.Visit(r.base + "/odata/#/Products?~sort=price+desc")
	b.signIn(password)
	b.Wait(`location.pathname === '/odata/' && document.querySelectorAll('tbody tr').length === 50`)
	cells := func(column int) []string {
		return browsertest.Eval[[]string](b.Tab, fmt.Sprintf(`[...document.querySelectorAll('tbody tr')].map((r) => r.cells[%d].textContent)`, column))
	}
	if got := cells(1)[0]; got != "Product 60" {
		t.Errorf("by price, falling, the first is %q", got)
	}
	b.Wait(`document.querySelector('.below .hint').textContent === '1 to 50 of 60'`)
	b.axe(source, "rows", true)

	// Who sorts by keyboard stays at the heading.
	browsertest.Eval[any](b.Tab, `[...document.querySelectorAll('th button')].find((x) => x.textContent.startsWith('Price')).focus()`)
	b.Press(kb.Enter)
	b.Wait(`!location.hash.includes('price') && document.querySelector('tbody tr').cells[1].textContent === 'Product 1'`)
	b.Press(kb.Enter)
	b.Wait(`location.hash.endsWith('sort=price') && document.activeElement.textContent.startsWith('Price')`)

	// A filter is typed above a column, and stands in the address.
	b.Fill(`input[aria-label="Filter by Category"]`, "map")
	b.Wait(`document.querySelectorAll('tbody tr').length === 20 && location.hash.includes('category_id.has=map')`)
	b.Fill(`input[aria-label="Filter by Price"]`, "10..20")
	b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
	b.Fill(`input[aria-label="Filter by Price"]`, "cheap")
	b.See("Type a number, such as 5, >5 or 5..10.")
	b.Wait(`document.querySelectorAll('tbody tr').length === 1 && document.querySelector('.below').textContent === ''`)
	b.Fill(`input[aria-label="Filter by Price"]`, kb.Backspace)
	b.Wait(`document.querySelectorAll('tbody tr').length === 20`)
	b.pick(`[aria-label=Totals]`, "sum")
	b.Wait(`document.querySelector('tfoot')?.textContent.includes('615.00')`) // 2 + 5 + … + 59, and 20 quarters
	b.Click(`.help summary`)
	b.Wait(`document.querySelectorAll('.help li').length === 4`)

	// Groups lead to their rows.
	b.Visit(r.base + "/odata/#/Products?~group=category_id")
	b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
	b.axe(source, "groups", false)
	b.Click(`tbody tr:nth-child(2) a`)
	b.Wait(`document.querySelectorAll('tbody tr').length === 20 && location.hash.includes('category_id.is=')`)

	// A row, what is related to it, and the way back.
	b.Visit(r.base + "/odata/#/Products(5)")
	b.Wait(`document.querySelector('h1')?.textContent === 'Product 5'`)
	b.axe(source, "a row", false)
	b.Click(`dd a[href="#/Products(5)/category"]`)
	b.Wait(`document.querySelector('h1')?.textContent === 'Maps & more'`)
	b.Click(`a[href="#/Categories(3)/Products"]`)
	b.Wait(`document.querySelectorAll('tbody tr').length === 20`)
	b.Click(`.above a`)
	b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
	b.Visit(r.base + "/odata/#/Nothing")
	b.See("Not found")

	// In German, in the dark, on a phone.
	b.Media("dark")
	b.Size(narrow, 700)
	b.Visit(r.base + "/odata/?lang=de#/Products?~skip=50")
	b.Wait(`document.querySelectorAll('tbody tr').length === 10`)
	b.Wait(`document.querySelector('.below .hint').textContent === '51 bis 60 von 60' && document.documentElement.lang === 'de'`)
	b.axe(source, "phone, dark, German", false)
	if wide := browsertest.Eval[int](b.Tab, `document.documentElement.scrollWidth`); wide > narrow {
		t.Errorf("the page is %d px wide on a phone", wide)
	}
	b.Picture("explorer-320-dark-de")

	// The session ends elsewhere: the page says so, and leads back to where it was.
	b.Visit(r.base + "/odata/#/Categories")
	b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
	r.command("", "session", "revoke", "--email", person)
	b.Visit(r.base + "/odata/#/Products")
	b.See("Sign in")
}
