package dashboard_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// The ids that UI5 gives to what the views name.
const (
	list   = "#fernweh-dashboard---products--"
	detail = "#fernweh-dashboard---product--"
	frame  = "#fernweh-dashboard---app--"
)

// helpers are the functions that look at the page as a reader does: only what is
// there to be seen, in the order in which it stands there.
const helpers = `
window.seen = (element) => {
	if (!element) return null;
	const texts = [];
	const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const hidden = node.parentElement.closest('.sapUiPseudoInvisibleText, .sapUiInvisibleText, [hidden]');
		const text = node.data.replace(/[\u00a0\u202f]/g, ' ').trim();
		if (text && !hidden && node.parentElement.checkVisibility()) texts.push(text);
	}
	return texts.join(' ');
};
window.rows = (table) => [...document.querySelectorAll(table + ' tbody > tr.sapMLIB:not([id$=nodata])')]
	.map((row) => [...row.querySelectorAll(':scope > td.sapMListTblCell')].map(seen));
window.idle = (table) => document.querySelector(table) !== null
	&& document.querySelector(table + ' .sapUiLocalBusy, ' + table + '.sapUiLocalBusy') === null;
null`

// signIn fills in the sign-in, which is where a guest is.
func (b *tab) signIn() {
	b.T.Helper()
	b.signInAs(seed.Email)
}

// signInAs is signIn of somebody with the password of the demo account.
func (b *tab) signInAs(email string) {
	b.T.Helper()
	b.Wait(`document.querySelector('input[name=password]')`)
	b.Fill(`input[name=login]`, email)
	b.Fill(`input[name=password]`, seed.Password)
	b.Click(`button[type=submit]`)
	b.Wait(`location.pathname === '/dashboard/'`)
	b.Wait(`window.rows`)
}

// visit goes to a page of the application as a guest.
func (b *tab) visit(fragment string) {
	b.T.Helper()
	b.Do(chromedp.Navigate(b.site.url + "/dashboard/" + fragment))
	b.signIn()
}

// await waits until an element says something.
func (b *tab) await(selector, text string) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`seen(document.querySelector(%q)) === %q`, selector, text))
}

// rows waits until a table has n rows and is at rest, and returns its cells.
func (b *tab) rows(table string, n int) [][]string {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`rows(%q).length === %d && idle(%q)`, table, n, table))
	return browsertest.Eval[[][]string](b.Tab, fmt.Sprintf(`rows(%q)`, table))
}

// scroll turns the wheel over a table until it has n rows, and returns them. Who
// is at the end already goes back a little first, as a reader would.
func (b *tab) scroll(table string, n int) [][]string {
	b.T.Helper()
	for turn := range 40 {
		if browsertest.Eval[int](b.Tab, fmt.Sprintf(`rows(%q).length`, table)) >= n {
			break
		}
		if turn%10 == 0 {
			b.wheel(table, -400)
			b.wheel(table, 8000)
		}
		b.Do(chromedp.Sleep(100 * time.Millisecond))
	}
	return b.rows(table, n)
}

// top goes back to where the filters are, and waits until they stand still.
func (b *tab) top() {
	b.T.Helper()
	b.wheel(list+"table", -100_000)
	b.Wait(`(() => {
		const y = document.querySelector('` + list + `search').getBoundingClientRect().y;
		const still = document.querySelector('` + list + `page-contentWrapper').scrollTop === 0 && y === window.lastY && y > 0;
		window.lastY = y;
		return still;
	})()`)
}

func (b *tab) wheel(selector string, by float64) {
	b.T.Helper()
	at := browsertest.Eval[[]float64](b.Tab, fmt.Sprintf(`(() => {
		const box = document.querySelector(%q).getBoundingClientRect();
		return [box.x + box.width / 2, innerHeight - 60];
	})()`, selector))
	browsertest.Call(b.Tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{
		Type: input.DispatchMouseEventTypeMouseWheel, X: at[0], Y: at[1],
		DeltaX: 0.001, DeltaY: by, // 0 would be left out of the message, and is wanted in it
	})
}

// clickFound clicks the element that a script finds, after which the page may be gone.
func (b *tab) clickFound(script string) {
	b.T.Helper()
	browsertest.Eval[any](b.Tab, `document.querySelector('[data-test=found]')?.removeAttribute('data-test');
		(`+script+`).setAttribute('data-test', 'found'); null`)
	b.Click(`[data-test=found]`)
}

// sort opens the menu of a column of the list and chooses an order in it.
func (b *tab) sort(column, item, order string) {
	b.T.Helper()
	b.sortOn(list, column, item, order)
}

// sortOn is sort on any page.
func (b *tab) sortOn(page, column, item, order string) {
	b.T.Helper()
	b.Click(page + column)
	button := fmt.Sprintf(`[...document.querySelectorAll('.sapMTCMenuPopup .sapMILI')]
		.find((row) => seen(row.querySelector('.sapMILILabel')) === %q && row.checkVisibility())?.querySelector('[title=%q]')`, item, order)
	b.Wait(button)
	b.Picture("menu." + column)
	b.clickFound(button)
	b.Wait(`![...document.querySelectorAll('.sapMTCMenuPopup')].some((menu) => menu.checkVisibility())`)
}

// pick opens a drop-down list beside the list of products and clicks an entry of it.
func (b *tab) pick(control, entry string) {
	b.T.Helper()
	b.pickOn(list, control, entry)
}

// pickOn is pick on any page.
func (b *tab) pickOn(page, control, entry string) {
	b.T.Helper()
	b.Click(page + control + `-arrow`)
	item := fmt.Sprintf(`[...document.querySelectorAll('.sapMPopover li')].find((item) => seen(item).startsWith(%q))`, entry)
	b.Wait(item)
	b.Picture("drop-down." + control)
	b.clickFound(item)
	b.Wait(`![...document.querySelectorAll('.sapMPopover')].some((list) => list.checkVisibility())`)
}

// batched returns the requests within all batches so far, and whether a batch
// was the only way by which data came.
func (b *tab) batched() (parts []string, direct []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, body := range b.batches {
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "GET ") {
				parts = append(parts, strings.TrimSpace(line))
			}
		}
	}
	for _, url := range b.asked {
		if !strings.HasSuffix(url, "/$batch") && !strings.Contains(url, "/$metadata") {
			direct = append(direct, url)
		}
	}
	return parts, direct
}
