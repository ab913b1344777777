package odata

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/csdl"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Where the OpenAPI document is, below the root, and the media type that its own
// standard gives it.
const (
	openAPIPath = "openapi.json"
	typeOpenAPI = "application/vnd.oai.openapi+json"
)

// isOpenAPI tells whether a request is for the OpenAPI document, whose name no set has.
func (q *request) isOpenAPI() bool {
	path, _, _ := strings.Cut(q.target, "?")
	return path == openAPIPath
}

// accesses is the number of the kinds of callers that guards know: nobody, signed in, and settled.
const accesses = 3

func newOpenAPIs(m *edm.Model, root string, o csdl.Options) (out [accesses]document) {
	for i := range out {
		c := Caller{SignedIn: i > 0, Settled: i > 1}
		out[i] = newDocument(func(to io.Writer) error {
			return csdl.OpenAPI(to, m, root, o, func(s *edm.EntitySet) bool { return c.Pass(s.Guard) == nil })
		})
	}
	return out
}

// accessOf returns the kind of a caller: the number of a document that shows what the caller may see.
func accessOf(m *edm.Model, c plan.Caller) int {
	switch {
	case !guarded(m) || !c.SignedIn:
		return 0
	case c.Settled:
		return 2
	}
	return 1
}

// guarded reports whether not everybody sees all sets.
func guarded(m *edm.Model) bool {
	return slices.ContainsFunc(m.All(), func(s *edm.EntitySet) bool { return s.Guard != edm.GuardNone })
}

// openAPI answers with the document.
func (s *answering) openAPI(w http.ResponseWriter, q *request) error {
	q.timing.parsed, q.timing.planned = s.opts.Now(), s.opts.Now()
	out := s.response(w, q)
	defer out.stop()
	media := header.ParseAccept(q.header["Accept"]).Best(typeJSON, typeOpenAPI)
	if media == "" {
		return notAcceptable(typeJSON + ", " + typeOpenAPI)
	}
	docs, lang := s.documents.in(q)
	m := s.documents.model
	return s.documentIn(out, lang, media, docs.openAPI[accessOf(m, q.caller)], guarded(m) || m.Guard != edm.GuardNone)
}
