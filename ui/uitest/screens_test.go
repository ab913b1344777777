package uitest

import (
	"fmt"
	"os"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// look is how a state is looked at: a theme of the system and a width.
type look struct {
	name          string
	scheme        string
	more          []string
	width, height int64
	// whole has axe ask everything, not only what depends on theme and width.
	whole bool
}

// narrow is what a scrollbar leaves of 320 pixels. A headless Chromium lays its own over
// the page, where Firefox on a desk takes 12 of them away.
const narrow = 304

// looks are the four of every state. What axe asks about names, roles, headings
// and landmarks is the same in both themes: it is asked once for each width.
func looks() []look {
	return []look{
		{name: "light", scheme: "light", width: 1280, height: 900, whole: true},
		{name: "dark", scheme: "dark", width: 1280, height: 900},
		{name: "light-320", scheme: "light", width: narrow, height: 640},
		{name: "dark-320", scheme: "dark", width: narrow, height: 640, whole: true},
	}
}

// system are those that the system of the reader asks for: more contrast, its own colours.
func system() []look {
	return []look{
		{name: "contrast-light", scheme: "light", more: []string{"prefers-contrast: more"}, width: 1280, height: 900},
		{name: "contrast-dark", scheme: "dark", more: []string{"prefers-contrast: more"}, width: 1280, height: 900},
		{name: "forced-light", scheme: "light", more: []string{"forced-colors: active"}, width: 1280, height: 900},
		{name: "forced-dark", scheme: "dark", more: []string{"forced-colors: active"}, width: 1280, height: 900},
	}
}

// small are a narrow and a usual phone, and a window of 1280 by 1024 pixels at a zoom of 400 %.
func small() []look {
	return []look{
		{name: "dark-300", scheme: "dark", width: 300, height: 600},
		{name: "light-390", scheme: "light", width: 390, height: 844},
		{name: "light-zoom-400", scheme: "light", width: 320, height: 256},
	}
}

// extremes are all looks beside the four of every state.
func extremes() []look { return append(system(), small()...) }

// looksIn are those in which a language is looked at: English in the light at a desk and
// in the dark on a phone, German the other way round. So every state is seen in each of
// the four, and each language in both themes and at both widths: what is wrong in one
// language, theme or width, or in two of these together, is found. Pictures are of all.
func looksIn(lang string) []look {
	all := looks()
	if os.Getenv("SCREENS_DIR") != "" {
		return append(all, extremes()...)
	}
	if lang != "en" {
		all[1].whole, all[2].whole = true, true
		return all[1:3]
	}
	return []look{all[0], all[3]}
}

// Every screen and state, in every look and language: axe finds nothing, every
// target is large enough, nothing is cut off, the page does not complain.
func TestScreens(t *testing.T) {
	source := needAxe(t)
	for _, s := range states() {
		for _, lang := range []string{"en", "de"} {
			t.Run(s.name+"/"+lang, func(t *testing.T) {
				b := s.reach(t, lang)
				for _, l := range looksIn(lang) {
					b.inspect(source, lang, s.name+"."+lang+"."+l.name, l)
				}
			})
		}
	}
}

// What the system of the reader may ask for besides: more contrast, its own
// colours.
func TestContrast(t *testing.T) {
	source := needAxe(t)
	for _, s := range states() {
		switch s.name {
		case "signin", "signin-throttled", "set-password-done", "org-setup-empty", "org-setup-more-input", "sign-out", "signin-pending", "signin-identity-alone":
		default:
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			b := s.reach(t, "en")
			for _, l := range extremes() {
				b.inspect(source, "en", s.name+".en."+l.name, l)
			}
		})
	}
}

// The layout mirrors: nothing is tied to the left.
func TestRightToLeft(t *testing.T) {
	for _, s := range states() {
		if s.name != "signin-wrong" && s.name != "org-setup-more-input" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			b := s.reach(t, "en")
			browsertest.Eval[any](b.Tab, `document.documentElement.dir = 'rtl'; null`)
			for _, l := range looks() {
				b.Size(l.width, l.height)
				b.Media(l.scheme)
				b.checks("en", l.name)
				b.PictureOfAll(s.name + ".rtl." + l.name)
			}
			if !browsertest.Eval[bool](b.Tab, `(() => {
				const field = document.querySelector('input.reveal, .box input').getBoundingClientRect();
				const label = document.querySelector('.labels label').getBoundingClientRect();
				return Math.abs(label.right - field.right) < 2;
			})()`) {
				t.Error("labels do not start at the right")
			}
		})
	}
}

// reach opens a page in a state.
func (s state) reach(t *testing.T, lang string) *tab {
	t.Helper()
	h := newHost(t)
	if s.setup != nil {
		s.setup(h)
	}
	b := open(t)
	b.Visit(fmt.Sprintf("%s/login?lang=%s%s%s", h.URL, lang, s.query, s.hash))
	b.Wait(`document.querySelector('h1')?.textContent`)
	if s.act != nil {
		s.act(b)
	}
	b.Wait(s.until)
	b.Wait(`!document.querySelector('.logo') || document.querySelector('.logo').complete`)
	return b
}

func (b *tab) inspect(axe, lang, name string, l look) {
	b.T.Helper()
	b.Size(l.width, l.height)
	b.Media(l.scheme, l.more...)
	b.axe(axe, name, l.whole)
	b.checks(lang, name)
	b.PictureOfAll(name)
}
