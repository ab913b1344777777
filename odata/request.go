package odata

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
)

// request is one request as the service sees it: the HTTP request itself, or a
// part of a batch.
type request struct {
	ctx    context.Context
	method string
	header http.Header
	body   io.Reader
	// path and query are as sent, still encoded; path starts at the origin.
	path, query string
	// target is what stands below the service root, query included.
	target string
	// origin is the public base, root the URL of the service with a slash at its end.
	origin, root string
	caller       Caller
	// unsettled is Options.Unsettled for this request; nil for none.
	unsettled func(http.ResponseWriter) bool
	// challenge is Options.Challenge for this request; nil for none.
	challenge func(http.Header)
	// v401 tells that the client asked for OData 4.01, only40 that it can read 4.0 alone. A
	// client that names no version may be of either and gets 4.0.
	v401, only40 bool
	// inBatch marks a part of a batch.
	inBatch bool
	id      string
	prefer  header.Preferences
	timing  timing
	// left is shared by the parts of a batch.
	left *allowance
	// contentID names the request in its change set or atomicity group; empty elsewhere.
	contentID string
	// changes is the transaction of the group that the request is a part of; nil for one that writes by itself.
	changes *changes
	// judged is the same request as rules have judged it with its group, before the transaction; nil elsewhere.
	judged *writer
	// went holds how the requests of the batch before this one went; nil elsewhere.
	went *outcomes
	// mentioned reports that a later request of the group may name the row that this one makes.
	mentioned bool
	// row is the change that makes the row which the target begins with: see bind.Options.Row.
	row *bind.Writing
	// out takes the answers to the parts of a batch; nil elsewhere.
	out *spool
}

// readRequest takes an HTTP request apart. It goes by the request line and not by
// r.URL, which is decoded and cleaned (contract, section 7).
func readRequest(r *http.Request, opts *Options) (*request, *fault) {
	q := &request{
		ctx: r.Context(), method: r.Method, header: r.Header, body: r.Body,
		origin: strings.TrimSuffix(opts.Base(r), "/"),
		prefer: header.ParsePrefer(r.Header["Prefer"]), left: newAllowance(opts),
	}
	q.timing.start = opts.Now()
	q.root = q.origin + opts.Root
	if opts.RequestID != nil {
		q.id = opts.RequestID(r)
	}
	if q.id == "" {
		q.id = rand.Text()
	}
	ok := q.agree(r.Header["Odata-Maxversion"])
	raw := r.RequestURI
	if raw == "" { // a request made in the process
		raw = r.URL.RequestURI()
	}
	if f := q.locate(opts.Root, raw); f != nil {
		return q, f
	}
	switch {
	case !ok:
		return q, unsupportedVersion()
	case isolated(r.Header):
		return q, isolation()
	}
	return q, nil
}

// agree settles the version of the answer by the OData-MaxVersion lines of a request; false
// where we speak none that the client reads (OData-Protocol 8.2.7).
func (q *request) agree(lines []string) bool {
	if len(lines) == 0 {
		return true
	}
	version, ok := header.Version(lines)
	q.v401, q.only40 = version == "4.01", version == "4.0"
	return ok
}

// isolated tells whether a request asks for snapshot isolation over several
// requests, by the name of OData 4.01 or that of 4.0 (OData-Protocol 8.2.6).
func isolated(h http.Header) bool {
	for _, name := range []string{"Isolation", "Odata-Isolation"} {
		if strings.EqualFold(strings.TrimSpace(h.Get(name)), "snapshot") {
			return true
		}
	}
	return false
}

// isolation refuses what isolated found. Next links are requests of their own, and
// later ones see later data.
func isolation() *fault {
	return &fault{
		status: http.StatusPreconditionFailed, code: "precondition_failed", pos: -1,
		message: "Isolation: snapshot is not supported; leave the header out",
	}
}

func unsupportedVersion() *fault {
	return badRequest("unsupported_version", "OData-MaxVersion: this service speaks OData 4.0 and 4.01")
}

// locate splits a request target, which may be in absolute form (RFC 9112,
// 3.2.2), and finds what stands below the service root.
func (q *request) locate(root, raw string) *fault {
	if i := strings.Index(raw, "://"); i >= 0 && !strings.HasPrefix(raw, "/") {
		raw = raw[i+len("://"):]
		if i = strings.IndexAny(raw, "/?"); i < 0 {
			raw = "/"
		} else {
			raw = raw[i:]
		}
	}
	q.path, q.query, _ = strings.Cut(raw, "?")
	below, ok := cutRoot(q.path, root)
	if !ok {
		return notFound("there is nothing at this path")
	}
	q.setTarget(below)
	return nil
}

func (q *request) setTarget(below string) {
	q.target = below
	if q.query != "" {
		q.target += "?" + q.query
	}
}

// cutRoot takes root, which ends with a slash, off a path that may encode it
// differently or lack that slash.
func cutRoot(path, root string) (string, bool) {
	if below, ok := strings.CutPrefix(path, root); ok {
		return below, true
	}
	rest := path
	for range strings.Count(root, "/") {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			rest = ""
			break
		}
		rest = rest[i+1:]
	}
	head, err := url.PathUnescape(path[:len(path)-len(rest)])
	if err != nil || strings.TrimSuffix(head, "/") != strings.TrimSuffix(root, "/") {
		return "", false
	}
	return rest, true
}

func (q *request) version() string {
	if q.v401 {
		return "4.01"
	}
	return "4.0"
}

// acceptsGzip reports whether the body of the answer may be compressed, and whether the client takes it in no other form. Parts
// of a batch are compressed with the batch.
func (q *request) acceptsGzip() (accepts, only bool) {
	if q.inBatch {
		return false, false
	}
	coding, identity := header.Coding(q.header["Accept-Encoding"], "gzip")
	return coding != "", coding != "" && !identity
}

// resolve makes the URL of a part of a batch, or that of $id, a target from the
// origin on. It is relative to the service root, an absolute path, or an absolute
// URL (OData-Protocol 11.7.7.1, OData-JSON 19.1); the last must be one of this service.
func (q *request) resolve(root, raw string) (string, *fault) {
	if strings.HasPrefix(raw, "/") {
		return raw, nil
	}
	path, _, _ := strings.Cut(raw, "?")
	if !strings.Contains(path, "://") || strings.ContainsAny(path[:strings.Index(path, "://")], "/(") {
		return root + raw, nil
	}
	u, err := url.Parse(path)
	if err != nil || !strings.EqualFold(u.Scheme+"://"+u.Host, q.origin) {
		return "", badRequest("malformed", "this address is of another service: %.80q", raw)
	}
	return raw, nil
}

// maxPostedQuery is how many bytes of query options may be posted to $query.
const maxPostedQuery = 64 << 10

// asRead checks that a request reads. A POST to $query becomes the GET that it
// means.
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

// postedQuery makes a GET of what was posted to /$query, which means a GET
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

// segment reports whether the last segment of the target's path is name, and
// gives the path before it. One slash behind it is forgiven.
func (q *request) segment(name string) (string, bool) {
	below, _, _ := strings.Cut(q.target, "?")
	below = strings.TrimSuffix(below, "/")
	before, ok := strings.CutSuffix(below, name)
	return strings.TrimSuffix(before, "/"), ok && (before == "" || strings.HasSuffix(before, "/"))
}
