package dashboard_test

import (
	"fmt"
	"os"
	"sort"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// most is what may come over the wire until the first row is there, in bytes.
const most = 1_200_000

// arrivals counts what comes over the wire, headers included.
type arrivals struct {
	mu    sync.Mutex
	urls  map[network.RequestID]string
	bytes map[network.RequestID]int64
}

// forget begins anew.
func (a *arrivals) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.urls, a.bytes = map[network.RequestID]string{}, map[network.RequestID]int64{}
}

func (a *arrivals) hear(event any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		a.urls[e.RequestID] = e.Request.URL
	case *network.EventResponseReceived:
		a.bytes[e.RequestID] = int64(e.Response.EncodedDataLength)
	case *network.EventDataReceived:
		a.bytes[e.RequestID] += e.EncodedDataLength
	case *network.EventLoadingFinished:
		a.bytes[e.RequestID] = int64(e.EncodedDataLength)
	}
}

// list returns all that came, the heaviest first, and the sum.
func (a *arrivals) list() (lines []string, sum int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := make([]network.RequestID, 0, len(a.bytes))
	for id, n := range a.bytes {
		ids = append(ids, id)
		sum += n
	}
	sort.Slice(ids, func(i, j int) bool { return a.bytes[ids[i]] > a.bytes[ids[j]] })
	for _, id := range ids {
		lines = append(lines, fmt.Sprintf("%8d %s", a.bytes[id], a.urls[id]))
	}
	return lines, sum
}

// firstRow notes when the first row of the table is there to be seen, in
// milliseconds after the page was asked for.
const firstRow = `new MutationObserver((_, observer) => {
	if (document.querySelector('` + list + `table tr.sapMLIB td.sapMListTblCell')) {
		observer.disconnect();
		requestAnimationFrame(() => setTimeout(() => { window.firstRow = performance.now(); }));
	}
}).observe(document, {childList: true, subtree: true})`

// oneByOne asks for all files once more, each by itself: where as many are asked for at
// once as there are processors, the host sends the next as it is.
const oneByOne = `(async () => {
	for (const { name } of performance.getEntriesByType('resource').filter((e) => e.name.includes('/dashboard/'))) {
		await (await fetch(name, { cache: 'reload' })).blob();
	}
	return null;
})()`

// weight holds what the dashboard weighs until its first row is there, for a
// browser that has nothing of it yet. UI5_SLOW=1 takes the time, too, on the slow
// network and processor of Lighthouse; a time is printed and not held.
func weight(t *testing.T, s *site) {
	b := open(t, s, desk)
	came := &arrivals{}
	came.forget()
	b.Must(chromedp.Listen(b.Ctx, came.hear))
	b.visit("")
	b.rows(list+"table", 30)
	browsertest.Eval[any](b.Tab, oneByOne)
	b.Do(chromedp.Navigate("about:blank"))
	b.Script(firstRow)
	for range slowly(b) {
		browsertest.Call(b.Tab, network.ClearBrowserCache, cdp.Empty{})
		came.forget()
		b.Visit(s.url + "/dashboard/")
		b.Wait(`window.firstRow`)
		lines, sum := came.list()
		at := browsertest.Eval[float64](b.Tab, `window.firstRow`)
		t.Logf("%d bytes in %d answers until the first row, after %.2f s", sum, len(lines), at/1000)
		if sum > most {
			t.Errorf("more than %d bytes", most)
		}
		if os.Getenv("UI5_SLOW") != "" {
			for _, l := range lines {
				t.Log(l)
			}
		}
	}
}

// slowly makes network and processor slow where UI5_SLOW asks for it, and returns
// how often to load.
func slowly(b *tab) int {
	b.T.Helper()
	if os.Getenv("UI5_SLOW") == "" {
		return 1
	}
	browsertest.Call(b.Tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{
			Latency: 150, DownloadThroughput: 1.6e6 / 8, UploadThroughput: 750e3 / 8,
		}},
	})
	browsertest.Call(b.Tab, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4})
	return 3
}
