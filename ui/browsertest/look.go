package browsertest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Size sets the size of the window in pixels.
func (b *Tab) Size(width, height int64) {
	b.T.Helper()
	Call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// Media sets the colour scheme, "light" or "dark", and further "name: value"
// features. Motion is off, so that pictures are alike.
func (b *Tab) Media(scheme string, more ...string) {
	b.T.Helper()
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}
	for _, m := range more {
		name, value, _ := strings.Cut(m, ": ")
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// Language sets what the browser asks for and what scripts see, such as "de-DE".
func (b *Tab) Language(tag string) {
	b.T.Helper()
	Call(b, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: Eval[string](b, `navigator.userAgent`), AcceptLanguage: tag,
	})
}

// Picture writes what the window shows to NAME.png in SCREENS_DIR, when that is set.
func (b *Tab) Picture(name string) {
	b.T.Helper()
	dir := os.Getenv("SCREENS_DIR")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
	b.Must(err)
	b.Must(os.MkdirAll(dir, 0o755))
	b.Must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// PictureOfAll is [Tab.Picture] of the whole page. The window stays as tall as that:
// what is fixed to it then covers all of the page. A page with lengths in vh grows with
// the window, hence several steps.
func (b *Tab) PictureOfAll(name string) {
	b.T.Helper()
	if os.Getenv("SCREENS_DIR") == "" {
		return
	}
	for range 5 {
		b.Size(Eval[int64](b, `innerWidth`), Eval[int64](b, `Math.max(innerHeight, document.documentElement.scrollHeight)`))
	}
	b.Picture(name)
}
