package dashboard_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// tab is a page of the dashboard, and what it asked the service for.
type tab struct {
	*browsertest.Tab
	site *site

	mu      sync.Mutex
	batches []string // bodies of $batch requests
	asked   []string // URLs of all requests to the service
	signIns int      // how often the page went to the sign-in
	checks  int      // how often it asked what has become of the session

	instead atomic.Pointer[func(fetch.RequestID)] // answers what is paused
}

// look is what the system of a reader asks for.
type look struct {
	name          string
	language      string
	scheme        string
	more          string // a further media feature, "name: value"
	width, height int64
}

func open(t *testing.T, s *site, l look) *tab {
	t.Helper()
	b := &tab{site: s}
	b.Tab = browsertest.Open(t, b.hear)
	browsertest.Call(b.Tab, network.Enable, network.EnableParams{})
	b.Script(helpers)
	b.look(l)
	t.Cleanup(func() {
		if t.Failed() {
			b.Picture("failed." + strings.ReplaceAll(t.Name(), "/", "."))
		}
	})
	return b
}

// look sets language, theme and size.
func (b *tab) look(l look) {
	b.T.Helper()
	var more []string
	if l.more != "" {
		more = append(more, l.more)
	}
	b.Media(l.scheme, more...)
	b.Size(l.width, l.height)
	b.Language(l.language)
}

// hear keeps the requests to the service. Unlike elsewhere every request that
// fails is a complaint, and a warning is none: OpenUI5 warns of much.
func (b *tab) hear(event any) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "warning" {
			return nil
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			return []string{e.Entry.Text + " " + e.Entry.URL}
		}
	case *network.EventRequestWillBeSent:
		if e.Type == network.ResourceTypeDocument && strings.Contains(e.Request.URL, "/login?") {
			b.signIns++
		}
		if strings.HasSuffix(e.Request.URL, "/auth/bootstrap") {
			b.checks++
		}
		if strings.Contains(e.Request.URL, "/odata/") && e.Request.Method != "HEAD" { // UI5 asks for a token with it
			b.asked = append(b.asked, e.Request.URL)
			for _, part := range e.Request.PostDataEntries {
				b.batches = append(b.batches, string(part.Bytes))
			}
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			return []string{fmt.Sprintf("answer: %d %s", e.Response.Status, e.Response.URL)}
		}
	case *network.EventLoadingFailed:
		if !e.Canceled && e.ErrorText != "net::ERR_ABORTED" {
			return []string{"request failed: " + e.ErrorText}
		}
	}
	return browsertest.Complaints(event)
}
