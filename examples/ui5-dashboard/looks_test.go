package dashboard_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// looks sees both languages, and the theme that the system asks for, also when
// the system changes its mind.
func looks(t *testing.T, s *site) {
	heading := map[string]string{"en-US": "Products (20,000)", "de-DE": "Artikel (20.000)"}
	price := s.one(t, `SELECT printf('%.2f', price) FROM products ORDER BY name, id LIMIT 1`)
	prices := map[string]string{"en-US": price + " EUR", "de-DE": strings.Replace(price, ".", ",", 1) + " EUR"}
	for _, l := range []look{
		{name: "en.light", language: "en-US", scheme: "light", width: 1440, height: 900},
		{name: "de.dark", language: "de-DE", scheme: "dark", width: 1440, height: 900},
		{name: "en.phone", language: "en-US", scheme: "dark", width: 390, height: 844},
		{name: "de.contrast", language: "de-DE", scheme: "light", more: "prefers-contrast: more", width: 1024, height: 768},
	} {
		t.Run(l.name, func(t *testing.T) {
			b := open(t, s, l)
			b.visit("")
			b.rows(list+"table", 30)
			b.await(list+"heading", heading[l.language])
			b.await(list+"table tr.sapMLIB > td:last-of-type", "") // the arrow
			if got := browsertest.Eval[[][]string](b.Tab, `rows('`+list+`table')`)[0]; !slices.Contains(got, prices[l.language]) {
				t.Errorf("no price %q in %q", prices[l.language], got)
			}
			if got := browsertest.Eval[string](b.Tab, `document.documentElement.lang`); got != l.language {
				t.Errorf("the language of the page is %q", got)
			}
			b.theme(l)
			b.Picture("list." + l.name)
			b.Click(list + "table tr.sapMLIB:nth-child(1)")
			b.await(detail+"heading", s.one(t, `SELECT name FROM products ORDER BY name, id LIMIT 1`))
			b.Wait(`idle('` + detail + `sales') && rows('` + detail + `sales').length > 0`)
			b.still()
			b.Picture("detail." + l.name)
			if wide := browsertest.Eval[float64](b.Tab, `document.documentElement.scrollWidth`); wide > float64(l.width) {
				t.Errorf("scrolls sideways: %v", wide)
			}

			l.scheme = map[string]string{"light": "dark", "dark": "light"}[l.scheme]
			b.look(l)
			b.theme(l)
		})
	}
}

// theme waits for the theme that fits, and for its colours.
func (b *tab) theme(l look) {
	b.T.Helper()
	name := "sap_horizon"
	switch {
	case l.more != "" && l.scheme == "dark":
		name += "_hcb"
	case l.more != "":
		name += "_hcw"
	case l.scheme == "dark":
		name += "_dark"
	}
	b.Wait(`document.documentElement.classList.contains('sapUiTheme-` + name + `')`)
	b.Wait(fmt.Sprintf(`(() => {
		const light = getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every((part) => part > 127);
		return light === %t;
	})()`, l.scheme == "light"))
}

// axe fails the test for what axe-core finds with these options and a filter keeps. Without npm ci in ui it is left out.
func (b *tab) axe(options, filter string) {
	b.T.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "ui", "node_modules", "axe-core", "axe.min.js"))
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("REQUIRE_BROWSER") == "" {
		b.T.Logf("axe-core is missing, run npm ci in ui")
		return
	}
	b.Must(err)
	browsertest.Eval[any](b.Tab, string(source)+`;null`)
	b.still() // a label is hidden while its column slides in
	for _, one := range browsertest.Eval[[]string](b.Tab, `axe.run(document, { ...`+options+`, resultTypes: ['violations'] }).then((result) => result.violations
		.filter(`+filter+`)
		.map((one) => one.id + ': ' + one.help + '\n' + one.nodes.map((node) => node.html.slice(0, 300)).join('\n')))`) {
		b.T.Errorf("axe: %s", one)
	}
}

// still waits until nothing moves any more.
func (b *tab) still() {
	b.T.Helper()
	b.Wait(`(() => {
		const now = JSON.stringify([...document.querySelectorAll('.sapFFCLColumn, .sapFDynamicPage')].map((e) => e.getBoundingClientRect()));
		const since = window.stillSince?.[0] === now ? window.stillSince[1] : performance.now();
		window.stillSince = [now, since];
		return performance.now() - since > 300;
	})()`)
}

// wayBack holds that a link to a product leads through the sign-in to that
// product, also when the session has ended meanwhile, and that what does not
// exist is said.
func wayBack(t *testing.T, s *site) {
	b := open(t, s, desk)
	b.visit("#/products/77")
	b.shows("77")
	b.Quiet()

	browsertest.Call(b.Tab, network.ClearBrowserCookies, cdp.Empty{})
	b.Click(detail + "related tr.sapMLIB:nth-child(1)")
	b.Wait(`location.pathname === '/login'`)
	if complaints := strings.Join(b.Forgive(), "\n"); !strings.Contains(complaints, "401") {
		t.Errorf("the session had ended, and nothing was refused: %s", complaints)
	}
	b.signIn()
	b.Forgive() // of the page that was left
	next := s.one(t, `SELECT min(related_id) FROM related_products WHERE product_id = 77`)
	b.Wait(`location.hash === '#/products/` + next + `'`)
	b.shows(next)
	b.Quiet()

	for _, missing := range []string{"999999999", "x'y"} {
		browsertest.Eval[any](b.Tab, `location.hash = '#/products/`+strings.ReplaceAll(missing, "'", "%27")+`'; null`)
		b.Wait(`document.querySelector('.sapMMessageToast')?.textContent === 'There is no such product.'`)
		b.Wait(`location.hash.length < 3`)
		b.Wait(`document.querySelector('.sapMMessageToast') === null`)
	}
	b.Forgive() // a 404 is an error to UI5
}

// The browser test proves the application; this one proves that no word of it is
// missing in a language, and none is left over.
func TestWords(t *testing.T) {
	bundles := map[string]map[string]string{"i18n.properties": {}, "i18n_de.properties": {}}
	for name, words := range bundles {
		for line := range strings.Lines(read(t, filepath.Join("webapp", "i18n", name))) {
			key, word, ok := strings.Cut(strings.TrimSpace(line), "=")
			if ok && words[key] != "" {
				t.Errorf("%s: %s stands there twice", name, key)
			}
			if ok {
				words[key] = word
			}
		}
	}
	english, german := slices.Sorted(maps.Keys(bundles["i18n.properties"])), slices.Sorted(maps.Keys(bundles["i18n_de.properties"]))
	same(t, "the keys of both languages", german, english)

	var sources strings.Builder
	for _, pattern := range []string{"*.js", "*.json", "*/*.js", "*/*.xml"} {
		files, err := filepath.Glob(filepath.Join("webapp", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v %v", pattern, files, err)
		}
		for _, file := range files {
			sources.WriteString(read(t, file))
		}
	}
	used := map[string]bool{}
	for _, found := range regexp.MustCompile("i18n>([\\w.]+)|\\{\\{([\\w.]+)\\}\\}|(?:getText|word)\\(\"([\\w.]+)\"").FindAllStringSubmatch(sources.String(), -1) {
		used[found[1]+found[2]+found[3]] = true
	}
	for _, status := range []string{"Placed", "Paid", "Shipped", "Returned", "Cancelled"} {
		used["status."+status] = true
	}
	same(t, "the keys in use", slices.Sorted(maps.Keys(used)), english)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
