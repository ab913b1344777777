package dashboard_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// columns is what the table shows of a product.
const columns = `SELECT p.name || ' ' || p.sku, c.name, s.name, p.released_on, p.stock, printf('%.2f', p.price)
	FROM products p JOIN categories c ON c.id = p.category_id JOIN suppliers s ON s.id = p.supplier_id `

var desk = look{name: "en.light", language: "en-US", scheme: "light", width: 1440, height: 900}

// products returns rows of the database as the table shows them in English.
func (s *site) products(t testing.TB, rest string, args ...any) [][]string {
	t.Helper()
	rows := s.rows(t, columns+rest, args...)
	for _, r := range rows {
		r[3] = day(t, r[3])
		if r[4] == "0" {
			r[4] = "sold out"
		}
		r[5] = money(r[5])
	}
	return rows
}

func (s *site) count(t testing.TB, rest string, args ...any) int {
	t.Helper()
	return number(t, s.one(t, `SELECT count(*) FROM products p `+rest, args...))
}

// heading is what stands above the table.
func (s *site) heading(t testing.TB, rest string, args ...any) string {
	t.Helper()
	return fmt.Sprintf("Products (%s)", grouped(s.count(t, rest, args...), ","))
}

func day(t testing.TB, text string) string {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)])
	if err != nil {
		t.Fatal(err)
	}
	return d.Format("Jan 2, 2006")
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func money(amount string) string {
	whole, cents, _ := strings.Cut(amount, ".")
	n, _ := strconv.Atoi(whole)
	return grouped(n, ",") + "." + cents + " EUR"
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the database (-) and the screen (+):\n%s", what, diff)
	}
}

// One host and one browser serve all that is tried; a tab has cookies of its own.
func TestDashboard(t *testing.T) {
	s := serve(t)
	t.Run("reader", func(t *testing.T) { reader(t, s) })
	t.Run("analysis", func(t *testing.T) { analysis(t, s) })
	t.Run("weight", func(t *testing.T) { weight(t, s) })
	t.Run("looks", func(t *testing.T) { looks(t, s) })
	t.Run("way back", func(t *testing.T) { wayBack(t, s) })
	t.Run("session", func(t *testing.T) { session(t, s) })
	t.Run("orders", func(t *testing.T) { orders(t, s) })
	t.Run("order", func(t *testing.T) { order(t, s) })
	t.Run("reviews", func(t *testing.T) { reviews(t, s) })
	t.Run("unsettled", func(t *testing.T) { unsettled(t, s) })
}

// reader goes the whole way: sign in, scroll, sort, filter, search, look closer,
// sign out. What is on the screen is what is in the database.
func reader(t *testing.T, s *site) {
	b := open(t, s, desk)
	b.visit("")
	for _, step := range []struct {
		name string
		do   func(*testing.T, *tab)
	}{
		{"figures", figures},
		{"grow", grow},
		{"sort", sortRows},
		{"sort by what is behind a link", sortByCategory},
		{"filter", filterRows},
		{"search", searchRows},
		{"no hit", noHit},
		{"reset", reset},
		{"detail", openDetail},
		{"related", openRelated},
		{"full screen", fullScreen},
		{"batches", onlyBatches},
		{"sign out", signOut},
	} {
		if !t.Run(step.name, func(t *testing.T) {
			b.T = t
			step.do(t, b)
			b.Picture(strings.ReplaceAll(step.name, " ", "-"))
			b.Quiet()
		}) {
			break // the steps after it build upon it
		}
	}
	b.T = t
}

func figures(t *testing.T, b *tab) {
	for id, query := range map[string]string{
		"figureProducts": `SELECT count(*) FROM products`,
		"figureSoldOut":  `SELECT count(*) FROM products WHERE stock = 0`,
		"figureOrders":   `SELECT count(*) FROM orders`,
		"figureOpen":     `SELECT count(*) FROM orders WHERE shipped_at IS NULL`,
	} {
		b.await(list+id, grouped(number(t, b.site.one(t, query)), ","))
	}
	b.await(list+"heading", b.site.heading(t, ""))
	b.await(frame+"bar .sapFShellBarSecondTitle", b.site.one(t, `SELECT motto FROM company`))
}

// Each turn of the wheel brings the next page, until five are there.
func grow(t *testing.T, b *tab) {
	const page, pages = 30, 5
	want := b.site.products(t, `ORDER BY p.name, p.id LIMIT ?`, page*pages)
	for n := page; n <= page*pages; n += page {
		same(t, fmt.Sprintf("%d rows", n), b.scroll(list+"table", n), want[:n])
	}
}

func sortRows(t *testing.T, b *tab) {
	b.sort("columnPrice", "Price", "Descending")
	b.Wait(`document.querySelector('` + list + `columnPrice').ariaSort === 'descending'`)
	want := b.site.products(t, `ORDER BY p.price DESC, p.id LIMIT 60`)
	b.await(list+"table tr.sapMLIB td.sapMListTblCell", want[0][0])
	same(t, "price, descending", b.rows(list+"table", 30), want[:30])
	same(t, "price, descending, second page", b.scroll(list+"table", 60), want)

	b.sort("columnName", "Article number", "Ascending")
	want = b.site.products(t, `ORDER BY p.sku LIMIT 30`)
	b.await(list+"table tr.sapMLIB td.sapMListTblCell", want[0][0])
	same(t, "article number", b.rows(list+"table", 30), want)
}

func sortByCategory(t *testing.T, b *tab) {
	b.sort("columnCategory", "Category", "Descending")
	want := b.site.products(t, `ORDER BY c.name DESC, p.id LIMIT 60`)
	b.await(list+"table tr.sapMLIB td.sapMListTblCell", want[0][0])
	same(t, "category", b.rows(list+"table", 30), want[:30])
	same(t, "category, second page", b.scroll(list+"table", 60), want)
}

func filterRows(t *testing.T, b *tab) {
	b.top()
	b.pick("categories", "Dome tents")
	b.pick("categories", "Tunnel tents")
	two := `WHERE c.name IN ('Dome tents', 'Tunnel tents')`
	join := `JOIN categories c ON c.id = p.category_id `
	b.await(list+"heading", b.site.heading(t, join+two))
	same(t, "two categories", b.rows(list+"table", 30), b.site.products(t, two+` ORDER BY c.name DESC, p.id LIMIT 30`))

	b.pick("availability", "For sale")
	sale := two + ` AND p.stock > 0 AND p.discontinued = 0`
	b.await(list+"heading", b.site.heading(t, join+sale))
	same(t, "and for sale", b.rows(list+"table", 30), b.site.products(t, sale+` ORDER BY c.name DESC, p.id LIMIT 30`))

	supplier := b.site.one(t, `SELECT s.name FROM suppliers s JOIN products p ON p.supplier_id = s.id
		JOIN categories c ON c.id = p.category_id `+sale+` GROUP BY s.name ORDER BY count(*) DESC, s.name LIMIT 1`)
	b.pick("supplier", supplier)
	by := sale + ` AND p.supplier_id = (SELECT id FROM suppliers WHERE name = ?)`
	n := b.site.count(t, join+by, supplier)
	b.await(list+"heading", fmt.Sprintf("Products (%s)", grouped(n, ",")))
	same(t, "and by one supplier", b.rows(list+"table", min(n, 30)), b.site.products(t, by+` ORDER BY c.name DESC, p.id LIMIT 30`, supplier))
}

const found = ` (p.name LIKE '%light%' OR p.description LIKE '%light%') AND (p.name LIKE '%tent%' OR p.description LIKE '%tent%') `

func searchRows(t *testing.T, b *tab) {
	b.Click(list + "reset")
	b.await(list+"heading", b.site.heading(t, ""))
	b.Fill(list+"search-I", "light tent\r")
	b.await(list+"heading", b.site.heading(t, `WHERE`+found))
	same(t, "found", b.rows(list+"table", 30), b.site.products(t, `WHERE`+found+`ORDER BY c.name DESC, p.id LIMIT 30`))

	b.pick("availability", "Sold out")
	n := b.site.count(t, `WHERE p.stock = 0 AND`+found)
	b.await(list+"heading", fmt.Sprintf("Products (%s)", grouped(n, ",")))
	same(t, "found, but sold out", b.rows(list+"table", min(n, 30)),
		b.site.products(t, `WHERE p.stock = 0 AND`+found+`ORDER BY c.name DESC, p.id LIMIT 30`))
}

// Words that mean something to $search are only words here.
func noHit(_ *testing.T, b *tab) {
	b.Fill(list+"search-I", `NOT "(\ & OR`+"\r")
	b.await(list+"heading", "Products (0)")
	b.rows(list+"table", 0)
	b.await(list+"table-nodata-text", "No product fits.")
}

func reset(t *testing.T, b *tab) {
	b.Click(list + "reset")
	b.sort("columnName", "Name", "Ascending")
	want := b.site.products(t, `ORDER BY p.name, p.id LIMIT 30`)
	b.await(list+"table tr.sapMLIB td.sapMListTblCell", want[0][0])
	same(t, "as at the start", b.rows(list+"table", 30), want)
}

// shows compares the detail with a product of the database.
func (b *tab) shows(id string) {
	t := b.T
	t.Helper()
	p := b.site.rows(t, `SELECT p.name, p.sku, parent.name || ' › ' || c.name, s.name || ' (' || s.country || ')', printf('%.2f', p.price)
		FROM products p JOIN categories c ON c.id = p.category_id JOIN categories parent ON parent.id = c.parent_id
		JOIN suppliers s ON s.id = p.supplier_id WHERE p.id = ?`, id)[0]
	b.await(detail+"heading", p[0])
	b.await(detail+"number", p[1])
	b.await(detail+"category", p[2])
	b.await(detail+"supplier", p[3])
	b.await(detail+"price", money(p[4]))

	related := b.site.rows(t, `SELECT p.name || ' ' || c.name, printf('%.2f', p.price) FROM related_products r
		JOIN products p ON p.id = r.related_id JOIN categories c ON c.id = p.category_id WHERE r.product_id = ? ORDER BY p.id`, id)
	for _, r := range related {
		r[1] = money(r[1])
	}
	same(t, "related", b.rows(detail+"related", len(related)), related)

	n := number(t, b.site.one(t, `SELECT count(*) FROM order_items WHERE product_id = ?`, id))
	b.await(detail+"salesHeading", fmt.Sprintf("Orders (%d)", n))
	b.sales(id, min(n, 8))
	if n > 8 {
		b.still() // the column slides in, and a click at where the button was is lost
		b.Click(detail + "sales-trigger")
		b.sales(id, min(n, 16))
	}
}

// sales compares the first n orders of a product with the database.
func (b *tab) sales(id string, n int) {
	b.T.Helper()
	want := b.site.rows(b.T, `SELECT o.id, c.name || ' ' || c.shipping_city, CASE o.status WHEN 0 THEN 'Placed' WHEN 1 THEN 'Paid'
			WHEN 2 THEN 'Shipped' WHEN 3 THEN 'Returned' ELSE 'Cancelled' END, i.quantity, printf('%.2f', i.unit_price)
		FROM order_items i JOIN orders o ON o.id = i.order_id JOIN customers c ON c.id = o.customer_id
		WHERE i.product_id = ? ORDER BY o.ordered_at DESC, i.line_no, o.id LIMIT ?`, id, n)
	var got [][]string
	for _, r := range b.rows(detail+"sales", n) {
		got = append(got, append(r[:1:1], r[2:]...))
	}
	for _, r := range want {
		r[4] = money(r[4])
	}
	same(b.T, "orders", got, want)
}

func openDetail(t *testing.T, b *tab) {
	id := b.site.one(t, `SELECT id FROM products p ORDER BY p.name, p.id LIMIT 1 OFFSET 2`)
	b.Click(list + "table tr.sapMLIB:nth-child(3)")
	b.Wait(`location.hash === '#/products/` + id + `'`)
	b.shows(id)
	b.Wait(`document.querySelector('` + list + `table tr.sapMLIB:nth-child(3) .sapMLIBNavigated')`)
}

func openRelated(t *testing.T, b *tab) {
	id := b.site.one(t, `SELECT id FROM products p ORDER BY p.name, p.id LIMIT 1 OFFSET 2`)
	next := b.site.one(t, `SELECT min(related_id) FROM related_products WHERE product_id = ?`, id)
	b.Click(detail + "related tr.sapMLIB:nth-child(1)")
	b.Wait(`location.hash === '#/products/` + next + `'`)
	b.shows(next)
}

func fullScreen(_ *testing.T, b *tab) {
	b.Click(detail + "full")
	b.Wait(`location.hash.endsWith('/full')`)
	b.Click(detail + "close")
	b.Wait(`location.hash.length < 3`)
	b.Wait(`document.querySelector('` + list + `figureProducts').checkVisibility()`)
}

// All data came in batches of the default kind: parts with relative addresses.
func onlyBatches(t *testing.T, b *tab) {
	parts, direct := b.batched()
	if len(direct) > 0 {
		t.Errorf("asked for outside of batches: %v", direct)
	}
	for _, want := range []string{"$count=true", "$skip=120&$top=30", "$search=", "$filter=", "$expand=category", "Company?$select=motto", "customer($select=id,name,shipping_address/city)"} {
		if !strings.Contains(strings.Join(parts, "\n"), want) {
			t.Errorf("no part of a batch has %s:\n%s", want, strings.Join(parts, "\n"))
		}
	}
	for _, part := range parts {
		if strings.HasPrefix(part, "GET /") || strings.HasPrefix(part, "GET http") {
			t.Errorf("not relative: %s", part)
		}
	}
}

func signOut(t *testing.T, b *tab) {
	b.Click(frame + "signOut")
	b.Wait(`location.pathname === '/'`)
	if cookie := browsertest.Eval[string](b.Tab, `document.cookie`); cookie != "" {
		t.Errorf("a script can read the cookie %q", cookie)
	}
	b.visitGuest()
}

// visitGuest makes sure that the pages are closed again.
func (b *tab) visitGuest() {
	b.T.Helper()
	browsertest.Eval[any](b.Tab, `location.assign('/dashboard/'); null`)
	b.Wait(`location.pathname === '/login' && document.querySelector('input[name=password]')`)
}
