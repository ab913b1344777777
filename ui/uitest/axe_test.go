package uitest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// tally is what the run of the tests ends with.
type tally struct{ runs, violations atomic.Int64 }

var axeTally tally

// needAxe returns the source of axe-core, or skips the test by name.
func needAxe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "node_modules", "axe-core", "axe.min.js"))
	switch {
	case err == nil:
		return string(source)
	case errors.Is(err, fs.ErrNotExist) && os.Getenv("REQUIRE_BROWSER") == "":
		t.Skipf("skipped %s: axe-core is missing, run npm ci in ui", t.Name())
	default:
		t.Fatalf("axe-core required, run npm ci in ui: %v", err)
	}
	return ""
}

type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// What axe is asked: everything of WCAG 2.2 AA and of the best practices, or the
// rules whose answer theme and width decide.
const (
	wholeAxe = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`
	lookAxe  = `{ type: 'rule', values: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'] }`
)

// axe fails the test for every violation that axe knows.
func (b *tab) axe(source, state string, whole bool) {
	b.T.Helper()
	axeTally.runs.Add(1)
	if !browsertest.Eval[bool](b.Tab, `typeof window.axe === 'object'`) {
		browsertest.Eval[any](b.Tab, source+`;null`)
	}
	rules := lookAxe
	if whole {
		rules = wholeAxe
	}
	found := browsertest.Eval[[]violation](b.Tab, `(async () => {
		const result = await axe.run(document, {
			runOnly: `+rules+`,
			rules: { 'target-size': { enabled: true } },
			resultTypes: ['violations'],
		});
		return result.violations.map((v) => ({ id: v.id, help: v.help,
			nodes: v.nodes.map((n) => n.html.slice(0, 160) + ' -- ' + (n.any[0] || n.all[0] || n.none[0] || {}).message) }));
	})()`)
	axeTally.violations.Add(int64(len(found)))
	for _, v := range found {
		b.T.Errorf("%s: axe: %s (%s)\n%v", state, v.ID, v.Help, v.Nodes)
	}
}

// checks holds what axe does not measure: one heading, a title, the language,
// targets of 44 pixels, nothing wider than the page.
func (b *tab) checks(lang, state string) {
	b.T.Helper()
	faults := browsertest.Eval[[]string](b.Tab, fmt.Sprintf(`(() => {
		const out = [];
		const root = document.documentElement;
		if (root.lang !== %q) out.push('lang is ' + root.lang);
		if (!document.title.includes(' · ')) out.push('title is ' + document.title);
		if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
		if (root.scrollWidth > innerWidth) out.push('scrolls sideways: ' + root.scrollWidth + ' > ' + innerWidth);
		for (const el of document.querySelectorAll('a, button, select, input, label.tick, label.option')) {
			if (el.closest('.strip') || el.matches('.tick input, .option input') || !el.checkVisibility()) continue;
			const box = el.getBoundingClientRect();
			if (box.height < 43.9 || box.width < 43.9) out.push('small target ' + box.width + 'x' + box.height + ': ' + el.outerHTML.slice(0, 80));
		}
		for (const el of document.querySelectorAll('h1, p, label, legend, a, button, li')) {
			if (!el.checkVisibility() || el.closest('.sr-only')) continue;
			const box = el.getBoundingClientRect();
			if (box.right > innerWidth + 0.5 || box.left < -0.5) out.push('cut off: ' + el.textContent.slice(0, 60));
		}
		for (const el of document.querySelectorAll('.mark')) { // a mark on a line of its own begins where the name does
			const box = el.getBoundingClientRect(), name = el.parentElement.getBoundingClientRect();
			if (box.top > name.top + 12 && Math.abs(box.left - name.left) > 1) out.push('hangs in: ' + el.textContent);
		}
		if (matchMedia('(forced-colors: active)').matches) { // what cannot be pressed has the system's colour for that
			const probe = document.body.appendChild(document.createElement('i'));
			probe.style.color = 'GrayText';
			const grey = getComputedStyle(probe).color;
			probe.remove();
			for (const el of document.querySelectorAll('.primary[data-locked]:not(.busy)')) {
				if (getComputedStyle(el).color !== grey) out.push('looks as if it could be pressed: ' + el.textContent);
			}
		}
		for (const el of document.querySelectorAll('.account .rows')) { // the style comes with the module of the account
			if (getComputedStyle(el).listStyleType !== 'none') out.push('no style: ' + el.textContent.slice(0, 60));
		}
		return out;
	})()`, lang))
	for _, f := range faults {
		b.T.Errorf("%s: %s", state, f)
	}
}
