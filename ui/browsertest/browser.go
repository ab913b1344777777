package browsertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// shared is the Chromium of this test binary, started by the first test that
// needs it. It is the package's only state.
var shared struct {
	once sync.Once
	open func() (context.Context, context.CancelFunc)
	stop func()
	err  error
}

// Stop ends the browser, if one was started, and removes its profile. TestMain
// calls it after the tests.
func Stop() {
	if shared.stop != nil {
		shared.stop()
	}
}

// newPage opens a page with cookies of its own in the shared browser, or skips the
// test.
func newPage(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	program, err := find()
	if err != nil {
		if os.Getenv("REQUIRE_BROWSER") != "" {
			t.Fatalf("browser required: %v", err)
		}
		t.Skipf("skipped %s: %v", t.Name(), err)
	}
	shared.once.Do(func() { start(program) })
	if shared.err != nil {
		t.Fatalf("start %s: %v", program, shared.err)
	}
	return shared.open()
}

// find returns $CHROMIUM, or the program under a name that distributions use: first the
// one without windows, which takes half the time for a page.
func find() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium in PATH: install the package chromium-headless-shell or chromium, or set CHROMIUM")
}

func start(program string) {
	profile, err := os.MkdirTemp("", "browsertest-")
	if err != nil {
		shared.err = err
		return
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(90*time.Second),
	)
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(alloc)
	shared.err = chromedp.Do(ctx)
	shared.open = func() (context.Context, context.CancelFunc) {
		return chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	}
	shared.stop = func() {
		stop()
		stopAlloc()
		_ = os.RemoveAll(profile)
	}
}
