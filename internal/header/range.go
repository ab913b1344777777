package header

import (
	"net/http"
	"strings"
)

// WithKnownRange returns the request as it is to be answered: without its Range header where that has another unit than
// bytes, which is to be ignored (RFC 9110, 14.2) and which [http.ServeContent] refuses. It changes no request, and returns
// r itself where nothing is to be left out.
func WithKnownRange(r *http.Request) *http.Request {
	asked := r.Header.Get("Range")
	if asked == "" || strings.HasPrefix(asked, "bytes=") {
		return r
	}
	known := *r
	known.Header = r.Header.Clone()
	known.Header.Del("Range")
	return &known
}
