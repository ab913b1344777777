package dashboard_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/input"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// orderList is the page of the orders, and orderRows its table.
const (
	orderList = "#fernweh-dashboard---orders--"
	orderRows = orderList + "table-innerTable"
)

// orders sees a table and filters that nobody wrote: columns, labels, texts, currency, and lists of values come from the
// annotations in config.hcl, in the language of the reader.
func orders(t *testing.T, s *site) {
	b := open(t, s, desk)
	b.visit("")
	b.rows(list+"table", 30)
	if heavy(b) {
		t.Error("sap.ui.mdc has loaded before anybody asked for it")
	}
	b.Click(frame + "orders")
	b.Wait(`location.hash === '#/orders'`)
	b.orders(fmt.Sprintf("Orders (%s)", grouped(s.ordersWhere(t, ""), ",")))
	same(t, "columns", b.columns(), []string{"Order", "Customer", "Ordered at", "Status", "Total"})
	same(t, "fields", b.fields(), []string{"Customer", "Status", "Ordered at", "Total"})
	same(t, "rows", b.orderCells(20), s.orderCells(t, `ORDER BY o.id LIMIT 20`))

	customer := s.rows(t, `SELECT c.name, c.id FROM customers c WHERE c.name LIKE '%wieb%'
		AND EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.status = 4) ORDER BY c.name, c.id LIMIT 1`)[0]
	b.choose("customer_id", "wieb", customer[0]+" "+customer[1])
	where := ` WHERE o.customer_id = ` + customer[1]
	b.orders(fmt.Sprintf("Orders (%d)", s.ordersWhere(t, where)))
	b.sortOrders("total", "Descending")
	n := min(s.ordersWhere(t, where), 20)
	want := s.orderCells(t, where+` ORDER BY o.total DESC, o.id LIMIT 20`)
	b.await(orderRows+" tr.sapMLIB td.sapMListTblCell", want[0][0])
	same(t, "by one customer, the dearest first", b.orderCells(n), want)

	b.choose("status", "", "Cancelled")
	where += ` AND o.status = 4`
	b.orders(fmt.Sprintf("Orders (%d)", s.ordersWhere(t, where)))
	same(t, "cancelled", b.orderCells(min(s.ordersWhere(t, where), 20)), s.orderCells(t, where+` ORDER BY o.total DESC, o.id LIMIT 20`))
	b.Picture("orders")
	b.grave()
	b.Quiet()

	l := look{name: "de.narrow", language: "de-DE", scheme: "dark", width: 320, height: 800}
	b.look(l)
	browsertest.Eval[any](b.Tab, `location.reload(); null`)
	b.orders(fmt.Sprintf("Bestellungen (%s)", grouped(s.ordersWhere(t, ""), ".")))
	same(t, "fields in German", b.fields(), []string{"Kunde", "Status", "Bestellt am", "Summe"})
	same(t, "statuses in German", b.statuses(), s.statuses(t))
	b.choose("status", "", "Storniert")
	b.orders(fmt.Sprintf("Bestellungen (%s)", grouped(s.ordersWhere(t, ` WHERE o.status = 4`), ".")))
	same(t, "the cancelled ones in German", b.statuses(), []string{"Storniert"})
	if wide := browsertest.Eval[float64](b.Tab, `document.documentElement.scrollWidth`); wide > float64(l.width) {
		t.Errorf("scrolls sideways: %v", wide)
	}
	b.Picture("orders." + l.name)
	b.grave()
	b.Quiet()
}

// statuses are the labels of members, in English and German, that the first 20 rows of the table show, wherever a narrow
// screen puts them.
func (b *tab) statuses() []string {
	b.T.Helper()
	b.rows(orderRows, 20)
	return browsertest.Eval[[]string](b.Tab, `((text) => ['Placed', 'Paid', 'Shipped', 'Returned', 'Cancelled', 'Aufgegeben', 'Bezahlt', 'Versandt', 'Zurückgesandt', 'Storniert']
		.filter((status) => text.includes(status)))(seen(document.querySelector('`+orderRows+` tbody')))`)
}

// grave fails the test for what axe-core calls serious or critical. A grid of sap.m.Table whose cells stand below each other
// has rows without a role, which is OpenUI5's own.
func (b *tab) grave() {
	b.T.Helper()
	b.axe(`{}`, `(one) => ['serious', 'critical'].includes(one.impact)
		&& (one.id !== 'aria-required-children' || !one.nodes.every((node) => node.html.includes('sapMListTbl')))`)
}

// heavy reports whether anything of sap.ui.mdc has been loaded.
func heavy(b *tab) bool {
	return browsertest.Eval[bool](b.Tab, `performance.getEntriesByType('resource').some((entry) => entry.name.includes('/sap/ui/mdc/'))`)
}

// orders waits for the title of the table, and until it is at rest.
func (b *tab) orders(title string) {
	b.T.Helper()
	b.await(orderList+"table-tableTitle", title)
	b.Wait(`idle('` + orderRows + `')`)
}

func (s *site) ordersWhere(t testing.TB, where string) int {
	t.Helper()
	return number(t, s.one(t, `SELECT count(*) FROM orders o`+where))
}

// orderCells are rows of the database as the table shows them, without the date.
func (s *site) orderCells(t testing.TB, rest string) [][]string {
	t.Helper()
	rows := s.rows(t, `SELECT o.id, c.name || ' (' || c.id || ')', CASE o.status WHEN 0 THEN 'Placed' WHEN 1 THEN 'Paid' WHEN 2 THEN 'Shipped'
		WHEN 3 THEN 'Returned' ELSE 'Cancelled' END, printf('%.2f', o.total)
		FROM orders o JOIN customers c ON c.id = o.customer_id `+rest)
	for _, r := range rows {
		r[3] = money(r[3])
	}
	return rows
}

// statuses are the German labels of those that the first 20 orders have.
func (s *site) statuses(t testing.TB) []string {
	t.Helper()
	var labels []string
	for _, r := range s.rows(t, `SELECT DISTINCT status FROM (SELECT status FROM orders ORDER BY id LIMIT 20) ORDER BY status`) {
		labels = append(labels, []string{"Aufgegeben", "Bezahlt", "Versandt", "Zurückgesandt", "Storniert"}[number(t, r[0])])
	}
	return labels
}

// orderCells waits until the table has n rows, and returns them without the date.
func (b *tab) orderCells(n int) [][]string {
	b.T.Helper()
	rows := b.rows(orderRows, n)
	for i, r := range rows {
		rows[i] = slices.Delete(r, 2, 3)
	}
	return rows
}

func (b *tab) columns() []string {
	b.T.Helper()
	return browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('`+orderRows+` thead th')].map(seen).filter((text) => text)`)
}

func (b *tab) fields() []string {
	b.T.Helper()
	return browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('`+orderList+`filters .sapMLabel')].map(seen).map((text) => text.replace(/\s*:$/, ''))`)
}

// choose opens the list below a field, types what narrows it, and takes an entry.
func (b *tab) choose(field, typed, entry string) {
	b.T.Helper()
	b.Click(orderList + "filters--" + field + " [id$=vhi]")
	b.Wait(`[...document.querySelectorAll('.sapMPopover li, .sapMPopover tr.sapMLIB')].some((e) => e.checkVisibility())`)
	if typed != "" {
		browsertest.Call(b.Tab, input.InsertText, input.InsertTextParams{Text: typed})
	}
	found := fmt.Sprintf(`[...document.querySelectorAll('.sapMPopover li, .sapMPopover tr.sapMLIB:not([id$=nodata])')].find((e) => e.checkVisibility() && seen(e).startsWith(%q))`, entry)
	b.Wait(found + ` && !document.querySelector('.sapMPopover .sapUiLocalBusy')`)
	b.Picture("value-help." + field)
	b.clickFound(found)
	b.Click(orderList + "heading") // several may be chosen: the list stays until somebody goes elsewhere
	b.Wait(`![...document.querySelectorAll('.sapMPopover')].some((list) => list.checkVisibility())`)
}

// sortOrders opens the menu of a column, and chooses an order in it.
func (b *tab) sortOrders(column, order string) {
	b.T.Helper()
	at := slices.Index([]string{"id", "customer_id", "ordered_at", "status", "total"}, column)
	b.Click(fmt.Sprintf(`%s thead th.sapMListTblHeaderCell:nth-of-type(%d)`, orderRows, at+2))
	button := fmt.Sprintf(`[...document.querySelectorAll('.sapMTCMenuPopup [title=%q], .sapMTCMenuPopup button')].find((e) => e.checkVisibility() && (e.title || seen(e)) === %q)`, order, order)
	b.Wait(button)
	b.Picture("orders.menu")
	b.clickFound(button)
	b.Wait(`![...document.querySelectorAll('.sapMTCMenuPopup')].some((menu) => menu.checkVisibility())`)
}
