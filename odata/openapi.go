package odata

import (
	"net/http"
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

// openAPIs are the OpenAPI documents of a service, by the callers who may see the same
// sets.
type openAPIs struct {
	byAccess [3][]byte
	// differ tells that not everybody sees the same.
	differ bool
}

// The kinds of callers that guards know.
func accesses() [3]Caller {
	return [3]Caller{{}, {SignedIn: true}, {SignedIn: true, Settled: true}}
}

func newOpenAPIs(m *edm.Model, root string, o csdl.Options) openAPIs {
	var out openAPIs
	for i, c := range accesses() {
		out.byAccess[i] = csdl.OpenAPI(m, root, o, func(s *edm.EntitySet) bool { return c.Pass(s.Guard) == nil })
		out.differ = out.differ || string(out.byAccess[i]) != string(out.byAccess[0])
	}
	return out
}

// of gives the document for a caller.
func (a *openAPIs) of(c plan.Caller) []byte {
	switch {
	case c.SignedIn && c.Settled:
		return a.byAccess[2]
	case c.SignedIn:
		return a.byAccess[1]
	}
	return a.byAccess[0]
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
	return s.documentIn(out, lang, media, docs.openAPI.of(q.caller), docs.openAPI.differ || s.documents.model.Guard != edm.GuardNone)
}
