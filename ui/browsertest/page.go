package browsertest

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// Visit loads a page from nothing, so that a changed fragment is a new page.
func (b *Tab) Visit(url string) {
	b.T.Helper()
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(url))
}

// At waits for an address, fragment included.
func (b *Tab) At(url string) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`location.href === %q`, url))
}

// Ready waits until an element can be seen.
func (b *Tab) Ready(selector string) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
}

// Focused waits until an element has the focus.
func (b *Tab) Focused(selector string) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`document.activeElement?.matches(%q)`, selector))
}

// See waits for words on the page.
func (b *Tab) See(words string) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`document.body.innerText.includes(%q)`, words))
}

// Text returns the visible text of the first match, "" where there is none.
func (b *Tab) Text(selector string) string {
	b.T.Helper()
	return Eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ''`, selector))
}

// Click waits for an element and clicks it.
func (b *Tab) Click(selector string) {
	b.T.Helper()
	b.Do(chromedp.Click(chromedp.CSS(selector)))
}

// Press types keys wherever the focus is.
func (b *Tab) Press(keys ...string) {
	b.T.Helper()
	for _, k := range keys {
		b.Do(chromedp.KeyEvent(k))
	}
}

// Fill types a value over what a field holds.
func (b *Tab) Fill(selector, value string) {
	b.T.Helper()
	Eval[any](b, fmt.Sprintf(`document.querySelector(%q).select(); null`, selector))
	b.Do(chromedp.SendKeys(chromedp.CSS(selector), value))
}

// Choose picks a value of a select element.
func (b *Tab) Choose(selector, value string) {
	b.T.Helper()
	Eval[any](b, fmt.Sprintf(`document.querySelector(%q).value = %q; null`, selector, value))
}
