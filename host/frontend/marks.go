package frontend

import (
	"bytes"
	"regexp"
)

// marks find what the host fills in an app's page, however its author has written it.
type marks struct{ bootstrap, lang, title, description, noscript, header *regexp.Regexp }

func newMarks() marks {
	return marks{
		bootstrap:   regexp.MustCompile(`(?is)<script(?:\s[^>]*)?\sid\s*=\s*(?:"bootstrap"|'bootstrap'|bootstrap)(?:\s[^>]*)?>(\s*(?:\{\s*\})?\s*)</script\s*>`),
		lang:        regexp.MustCompile(`(?is)<html(?:\s[^>]*)?\slang\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`),
		title:       regexp.MustCompile(`(?is)<title>(.*?)</title>`),
		description: regexp.MustCompile(`(?i)<meta name="description" content="()">`),
		header:      regexp.MustCompile(`(?i)<header>(\s*)</header\s*>`),
		noscript:    regexp.MustCompile(`(?is)<body[\s>].*?<noscript(?:\s[^>]*)?>(.*?)</noscript\s*>`),
	}
}

// fill puts the language, the title, which may be empty for the page's own, and the
// data into a page. The title is the description, too, where the page leaves one empty.
// What it has no mark for stays out.
func (m marks) fill(page []byte, lang, title string, data []byte) []byte {
	page = between(page, m.lang, []byte(`"`+lang+`"`))
	if title != "" {
		page = between(between(page, m.title, []byte(title)), m.description, []byte(title))
	}
	return between(page, m.bootstrap, data)
}

// head puts the logo or name above the card into the empty header of the text for browsers without JavaScript.
func (m marks) head(page, text []byte) []byte {
	at := m.noscript.FindSubmatchIndex(page)
	if at == nil {
		return page
	}
	return bytes.Join([][]byte{page[:at[2]], between(page[at[2]:at[3]], m.header, text), page[at[3]:]}, nil)
}

// between replaces the first group of the first match.
func between(page []byte, mark *regexp.Regexp, text []byte) []byte {
	at := mark.FindSubmatchIndex(page)
	if at == nil {
		return page
	}
	return bytes.Join([][]byte{page[:at[2]], text, page[at[3]:]}, nil)
}
