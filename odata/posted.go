package odata

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxPostedQuery is how many bytes of query options may be posted to $query.
const maxPostedQuery = 64 << 10

// asRead checks that a request reads. A POST to $query becomes the GET that it
// stands for.
func (q *request) asRead() error {
	if before, ok := q.segment("$query"); ok {
		if q.method != http.MethodPost {
			return notAllowed(q.method, http.MethodPost)
		}
		if err := q.postedQuery(before); err != nil {
			return err
		}
	}
	if q.method != http.MethodGet && q.method != http.MethodHead {
		return notAllowed(q.method, "GET, HEAD")
	}
	return nil
}

// postedQuery makes a GET of what was posted to /$query, which stands for a GET
// whose query options are too long for a URL (OData-URL 4.17).
func (q *request) postedQuery(before string) error {
	media, _, _ := strings.Cut(q.header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "text/plain") {
		return &fault{
			status: http.StatusUnsupportedMediaType, code: "unsupported_media_type", pos: -1,
			message: "the body of a request to $query is text/plain",
		}
	}
	body, err := io.ReadAll(io.LimitReader(q.body, maxPostedQuery+1))
	switch {
	case err != nil:
		return badRequest("malformed", "the body with the query options did not arrive whole")
	case len(body) > maxPostedQuery:
		return &fault{
			status: http.StatusRequestEntityTooLarge, code: "request_too_large", pos: -1, limit: fixedLimit,
			message: fmt.Sprintf("the query options are longer than %d bytes, which is a fixed limit", maxPostedQuery),
		}
	}
	options := strings.TrimSpace(string(body))
	if q.query != "" && options != "" {
		options = q.query + "&" + options
	} else {
		options = q.query + options
	}
	q.method, q.query = http.MethodGet, options
	q.path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(q.path, "/"), "$query"), "/")
	q.setTarget(before)
	return nil
}

// segment tells whether the last segment of the target's path is name, and
// gives the path before it. One slash behind it is forgiven.
func (q *request) segment(name string) (string, bool) {
	below, _, _ := strings.Cut(q.target, "?")
	below = strings.TrimSuffix(below, "/")
	before, ok := strings.CutSuffix(below, name)
	return strings.TrimSuffix(before, "/"), ok && (before == "" || strings.HasSuffix(before, "/"))
}
