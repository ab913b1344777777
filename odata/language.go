package odata

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// maxLanguages is how many of Accept-Language are looked at; browsers send some ten.
const maxLanguages = 32

// languages choose the language of the documents that describe a service.
type languages struct {
	tags    []string
	matcher language.Matcher
}

// newLanguages makes the choice among the texts of a model. The first, which all others
// fall back on, may have no tag; then it is taken for English.
func newLanguages(m *edm.Model) languages {
	if m.Texts == nil || len(m.Texts.Languages) == 0 {
		return languages{tags: []string{""}}
	}
	l := languages{tags: m.Texts.Languages}
	tags := make([]language.Tag, len(l.tags))
	for i, t := range l.tags {
		if tags[i] = language.Make(t); t == "" && !slices.Contains(l.tags, "en") {
			tags[i] = language.English
		}
	}
	l.matcher = language.NewMatcher(tags)
	return l
}

// several tells whether there is a choice.
func (l *languages) several() bool { return len(l.tags) > 1 }

// of is the language for a request: that of sap-language in its query, which OpenUI5
// sends, or else the best of Accept-Language (RFC 9110, 12.5.4).
func (l *languages) of(q *request) string {
	if !l.several() {
		return l.tags[0]
	}
	if wanted := sapLanguage(q.query); wanted != "" {
		if tag, err := language.Parse(wanted); err == nil {
			_, i, _ := l.matcher.Match(tag)
			return l.tags[i]
		}
	}
	lines := q.header["Accept-Language"]
	_, i, _ := l.matcher.Match(accepted(lines)...)
	refused := func(tag string) bool { return header.RefusesLanguage(lines, cmp.Or(tag, "en")) }
	if refused(l.tags[i]) {
		i = max(0, slices.IndexFunc(l.tags, func(tag string) bool { return !refused(tag) }))
	}
	return l.tags[i]
}

// accepted are the languages that a client accepts, best first; what is none is left
// out.
func accepted(lines []string) []language.Tag {
	type weighted struct {
		tag language.Tag
		q   float32
	}
	var all []weighted
	for part := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		tags, qs, err := language.ParseAcceptLanguage(part)
		if err == nil && len(tags) == 1 && qs[0] > 0 && len(all) < maxLanguages {
			all = append(all, weighted{tags[0], qs[0]})
		}
	}
	slices.SortStableFunc(all, func(a, b weighted) int { return cmp.Compare(b.q, a.q) })
	out := make([]language.Tag, len(all))
	for i, w := range all {
		out[i] = w.tag
	}
	return out
}

// sapLanguage is the value of the option of that name, decoded.
func sapLanguage(query string) string {
	for pair := range strings.SplitSeq(query, "&") {
		if value, ok := strings.CutPrefix(pair, "sap-language="); ok {
			value, _ = url.QueryUnescape(value)
			return value
		}
	}
	return ""
}

// tellLanguage says that an answer depends on the language, and which it is in.
func (l *languages) tellLanguage(h http.Header, q *request, chosen string) {
	if !l.several() || q.inBatch {
		return
	}
	h.Set("Vary", h.Get("Vary")+", Accept-Language")
	if chosen != "" {
		h.Set("Content-Language", chosen)
	}
}
