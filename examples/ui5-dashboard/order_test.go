package dashboard_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// orderPage is the page of one order, and itemRows the table of its items.
const (
	orderPage = "#fernweh-dashboard---order--"
	itemRows  = orderPage + "items"
)

// The columns of the table of items.
const (
	itemProduct = iota
	itemQuantity
	itemPrice
)

// order takes an order with its items in one request, and changes it. What the service refuses is said at the field, and the
// second of two people learns of the first one's change.
func order(t *testing.T, s *site) {
	b := open(t, s, desk)
	b.visit("")
	b.rows(list+"table", 30)
	b.Click(frame + "orders")
	b.orders(fmt.Sprintf("Orders (%s)", grouped(s.ordersWhere(t, ""), ",")))
	b.Click(orderList + "create")
	b.await(orderPage+"heading", "New order")
	b.rows(itemRows, 1)
	id := taken(t, s, b)
	b.Do(chromedp.Navigate(s.url + "/dashboard/#/orders"))
	b.orders(fmt.Sprintf("Orders (%s)", grouped(s.ordersWhere(t, ""), ",")))

	b.Do(chromedp.Navigate(fmt.Sprintf("%s/dashboard/#/orders/%d", s.url, id)))
	b.await(orderPage+"heading", fmt.Sprintf("Order %d", id))
	b.rows(itemRows, 2)
	b.grave()
	changed(t, s, b, id)
	meanwhile(t, s, b, id)

	l := look{name: "de.narrow", language: "de-DE", scheme: "dark", width: 320, height: 800}
	b.look(l)
	browsertest.Eval[any](b.Tab, `location.reload(); null`)
	b.Wait(`window.rows`)
	b.await(orderPage+"heading", fmt.Sprintf("Bestellung %d", id))
	b.rows(itemRows, 2)
	if wide := browsertest.Eval[float64](b.Tab, `document.documentElement.scrollWidth`); wide > float64(l.width) {
		t.Errorf("scrolls sideways: %v", wide)
	}
	b.Picture("order." + l.name)
	b.grave()
	b.Quiet()
}

// taken creates an order with two items, after the service has refused one of them, and returns its id.
func taken(t *testing.T, s *site, b *tab) int {
	t.Helper()
	n := s.ordersWhere(t, "")
	price := s.one(t, `SELECT printf('%.2f', price) FROM products WHERE id = 7`)
	b.typeInto(fieldOf("customer"), "12")
	b.typeInto(itemField(0, itemProduct), "7")
	b.Wait(fmt.Sprintf(`%s.value.replace(',', '') === %q`, itemField(0, itemPrice), price))
	b.Click(orderPage + "add")
	b.rows(itemRows, 2)
	b.typeInto(itemField(1, itemProduct), "9")
	b.Wait(itemField(1, itemPrice) + `.value !== ''`)
	b.typeInto(itemField(1, itemPrice), "2.50")
	b.typeInto(itemField(1, itemQuantity), "-1")
	b.saveOrder("Not saved. See the marked fields.")
	b.Wait(itemField(1, itemQuantity) + `.getAttribute('aria-invalid') === 'true'`)
	same(t, "fields that are marked", b.marked(), 1)
	same(t, "what was refused", s.ordersWhere(t, ""), n)
	b.Picture("order.refused")
	b.Forgive() // a refused change is an error to UI5
	b.typeInto(itemField(1, itemQuantity), "2")
	b.saveOrder("Saved.")
	id := number(t, s.one(t, `SELECT max(id) FROM orders`))
	b.Wait(fmt.Sprintf(`location.hash === '#/orders/%d'`, id))
	same(t, "orders", s.ordersWhere(t, ""), n+1)
	same(t, "the items", s.items(t, id), [][]string{{"1", "7", "1", price}, {"2", "9", "2", "2.50"}})
	same(t, "the order", s.rows(t, `SELECT customer_id, status, total = (SELECT sum(quantity * unit_price) FROM order_items WHERE order_id = orders.id)
		FROM orders WHERE id = ?`, id), [][]string{{"12", "0", "1"}})
	b.sent(`POST Orders`)
	b.sent(`"items":[{`)
	return id
}

// changed adds an item and removes another, and changes a third, in one change set.
func changed(t *testing.T, s *site, b *tab, id int) {
	t.Helper()
	b.Click(orderPage + "add")
	b.rows(itemRows, 3)
	b.typeInto(itemField(2, itemQuantity), "3")
	b.typeInto(itemField(2, itemPrice), "1.00")
	b.saveOrder("Not saved. See the marked fields.")
	b.Wait(itemField(2, itemProduct) + `.getAttribute('aria-invalid') === 'true'`)
	b.Forgive()
	b.typeInto(itemField(2, itemProduct), "11")
	b.Wait(itemField(2, itemPrice) + `.value !== '1.00'`)
	b.typeInto(itemField(2, itemPrice), "1.00")
	b.clickFound(itemRow(0) + `.querySelector('.sapMListTblSelCol button, .sapMLIBDelete, .sapMLIBIconDel')`)
	b.rows(itemRows, 2)
	b.typeInto(itemField(0, itemQuantity), "4")
	b.saveOrder("Saved.")
	same(t, "the items after the change", s.items(t, id), [][]string{{"2", "9", "4", "2.50"}, {"3", "11", "3", "1.00"}})
	same(t, "the total after the change", s.one(t, `SELECT printf('%.2f', total) FROM orders WHERE id = ?`, id), "13.00")
	b.sent(fmt.Sprintf("POST Orders(%d)/items", id))
	b.sent(fmt.Sprintf("DELETE OrderItems(order_id=%d,line_no=1)", id))
	b.sent("If-Match:W/")
	b.Quiet()
}

// meanwhile lets somebody else change the order that is open.
func meanwhile(t *testing.T, s *site, b *tab, id int) {
	t.Helper()
	other := open(t, s, desk)
	other.Do(chromedp.Navigate(fmt.Sprintf("%s/dashboard/#/orders/%d", s.url, id)))
	other.signInAs(seed.Email)
	other.rows(itemRows, 2)
	other.typeInto(itemField(0, itemQuantity), "1")
	other.saveOrder("Saved.")

	b.typeInto(itemField(1, itemQuantity), "8")
	b.Click(orderPage + "save")
	b.box("Changed by somebody else")
	b.Picture("order.conflict")
	same(t, "the items after the conflict", s.items(t, id), [][]string{{"2", "9", "1", "2.50"}, {"3", "11", "3", "1.00"}})
	b.answer("Show what is there now")
	b.Wait(fmt.Sprintf(`%s?.value === '1' && %s.value === '3'`, itemField(0, itemQuantity), itemField(1, itemQuantity)))
	b.Forgive()
	b.Picture("order")
}

// items reads the items of an order from the database.
func (s *site) items(t *testing.T, id int) [][]string {
	t.Helper()
	return s.rows(t, `SELECT line_no, product_id, quantity, printf('%.2f', unit_price) FROM order_items WHERE order_id = ? ORDER BY line_no`, id)
}

func fieldOf(name string) string {
	return fmt.Sprintf(`document.querySelector('%s%s input')`, orderPage, name)
}

func itemRow(row int) string {
	return fmt.Sprintf(`document.querySelectorAll('%s tbody > tr.sapMLIB:not([id$=nodata])')[%d]`, itemRows, row)
}

func itemField(row, column int) string {
	return fmt.Sprintf(`%s?.querySelectorAll('td.sapMListTblCell input')[%d]`, itemRow(row), column)
}

// typeInto types into the field that a script finds, and leaves it.
func (b *tab) typeInto(field, text string) {
	b.T.Helper()
	b.Wait(field + ` && !document.querySelector('.sapUiLocalBusy')`)
	browsertest.Eval[any](b.Tab, `(`+field+`).scrollIntoView({ block: 'center' }); null`)
	browsertest.Eval[any](b.Tab, `(`+field+`).focus(); document.activeElement.select(); null`)
	b.Press(text, kb.Tab)
}

// marked counts the fields that are marked as wrong.
func (b *tab) marked() int {
	b.T.Helper()
	return browsertest.Eval[int](b.Tab, `document.querySelectorAll('`+orderPage+`page [aria-invalid=true]').length`)
}

func (b *tab) saveOrder(said string) {
	b.T.Helper()
	b.saveOn(orderPage, said)
}
