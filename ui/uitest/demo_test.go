package uitest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// demo serves the pages of the shop, with rows that come a moment after the page.
func demo(t *testing.T) string {
	t.Helper()
	shop := filepath.Join("..", "..", "examples", "shop")
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join(shop, "public"))))
	for _, name := range []string{"home", "dashboard", "terms", "privacy", "cookies"} {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, filepath.Join(shop, "site", name+".html"))
		})
	}
	mux.HandleFunc("/odata/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond) // so that the page is painted before
		rows := []obj{}
		switch {
		case strings.HasSuffix(r.URL.Path, "/Categories"):
			for i := range 12 {
				rows = append(rows, obj{"id": i, "parent_id": 1, "name": fmt.Sprintf("Category with a long name %d", i)})
			}
		case r.URL.Query().Get("$top") != "0":
			for i := range 25 {
				rows = append(rows, obj{"id": i, "name": fmt.Sprintf("Product with quite a name %d", i), "category_id": i % 12, "color": "Dunkelblau", "price": 1234.5, "stock": i})
			}
		}
		writeJSON(w, 200, obj{"@odata.count": 20000, "@odata.nextLink": "/odata/Products?next", "value": rows})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// The demo's pages fit 320 pixels in German, and the dashboard does not move while its
// rows come. The button in the head is beside the logo. No word of the pages is broken, but those that are longer than
// a line, and all content is within a landmark.
func TestDemoPages(t *testing.T) {
	source := needAxe(t)
	base := demo(t)
	b := open(t)
	for width, pages := range map[int64][]string{1280: {"dashboard"}, narrow: {"home", "dashboard", "terms", "privacy", "cookies"}} {
		b.Size(width, 900)
		for _, page := range pages {
			b.Visit(base + "/" + page + "?lang=de")
			b.Wait(`document.readyState === 'complete'`)
			if page == "dashboard" {
				b.Wait(`document.querySelectorAll('#rows tr').length === 25 && document.querySelector('#count-open').textContent`)
			}
			b.Picture(fmt.Sprintf("demo-%s-%d", page, width))
			faults := browsertest.Eval[[]string](b.Tab, `(async () => {
				const out = [];
				const shift = await new Promise((done) => {
					let sum = 0;
					new PerformanceObserver((list) => list.getEntries().forEach((e) => (sum += e.value))).observe({ type: 'layout-shift', buffered: true });
					setTimeout(() => done(sum), 100);
				});
				if (shift > 0.01) out.push('a layout shift of ' + shift.toFixed(3));
				for (const part of document.querySelectorAll('.scroll, .panel, .tools')) {
					if (part.scrollWidth > part.clientWidth) out.push(part.className + ' scrolls sideways');
				}
				if (document.documentElement.scrollWidth > innerWidth) out.push('scrolls sideways: ' + document.documentElement.scrollWidth);
				const logo = document.querySelector('.bar img').getBoundingClientRect(), button = document.querySelector('.bar .button')?.getBoundingClientRect();
				if (button && (button.top > logo.bottom || button.bottom < logo.top)) out.push('the button is below the logo');
				for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
					const node = walk.currentNode, range = document.createRange();
					if (!node.parentElement.checkVisibility() || node.parentElement.closest('#address')) continue;
					for (const word of node.data.matchAll(/[\p{L}\p{N}$]+/gu)) {
						range.setStart(node, word.index);
						range.setEnd(node, word.index + word[0].length);
						if (new Set([...range.getClientRects()].map((r) => r.top)).size > 1) out.push('breaks the word ' + word[0]);
					}
				}
				return out;
			})()`)
			b.axe(source, fmt.Sprintf("%s at %d pixels", page, width), true)
			for _, fault := range faults {
				t.Errorf("%s at %d pixels: %s", page, width, fault)
			}
		}
	}
}
