package odata

import (
	"net/url"
	"strconv"
	"strings"
)

// nextLink is the request itself with another $skip: path and query as sent,
// byte for byte and in order, but for the pairs that set $skip (spec 4.2.6).
func (q *request) nextLink(skip int64) string {
	var b strings.Builder
	b.WriteString(q.origin + q.path + "?")
	for rest, pair := q.query, ""; rest != ""; {
		pair, rest, _ = strings.Cut(rest, "&")
		if !q.setsSkip(pair) {
			b.WriteString(pair + "&")
		}
	}
	return b.String() + "$skip=" + strconv.FormatInt(skip, 10)
}

// setsSkip tells whether a pair of the query is the option $skip; OData 4.01
// allows it in any case and without the dollar sign.
func (q *request) setsSkip(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(name)
	if err != nil {
		return false
	}
	return name == "$skip" || q.v401 && strings.EqualFold(strings.TrimPrefix(name, "$"), "skip")
}
