package odata

import (
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

const typeCSV = "text/csv"

// format is the representation of rows that a client has asked for.
type format struct {
	header.JSON
	// csv tells that it is text/csv, and what stands of JSON means nothing.
	csv bool
	// language is that of the $metadata whose tag full metadata tells; empty elsewhere.
	language string
}

// ContentType is the media type of an answer in this representation.
func (f format) ContentType() string {
	if f.csv {
		return typeCSV + ";charset=utf-8;header=present"
	}
	return f.JSON.ContentType()
}

// negotiate chooses the representation of what a plan reads. ok is false where the
// client accepts none; a raw value needs none.
func negotiate(accept header.Accept, q *request, p *plan.Plan) (f format, ok bool, err error) {
	if p.Kind == plan.Collection && !p.Top.Ref && accept.Best(typeJSON, typeCSV) == typeCSV {
		why := notInCSV(q, p.Top)
		if why == "" {
			return format{csv: true}, true, nil
		}
		if f.JSON, ok = accept.JSON(); ok {
			return f, true, nil
		}
		return f, false, notInTable(why)
	}
	f.JSON, ok = accept.JSON()
	return f, ok, nil
}

// notInCSV tells why an answer cannot be a table of cells; empty where it can.
func notInCSV(q *request, n *plan.Node) string {
	switch {
	case q.inBatch: // a part has no trailer for the next link of a long page
		return "the answer to a part of a batch: send the request by itself"
	case len(n.Expand) > 0:
		return "related rows: leave $expand out and read each set by itself"
	case n.Count:
		return "the total: leave $count out and read …/$count by itself"
	case !payload.HasCSV(n):
		return "navigation properties and streams alone: name a property in $select"
	}
	return ""
}

func notInTable(why string) *fault {
	return &fault{
		status: http.StatusNotAcceptable, code: "not_acceptable", pos: -1,
		message: typeCSV + " cannot show " + why + ", or ask for " + typeJSON,
	}
}

// setTable sets what the answer with a table says of it besides its type.
func setTable(h http.Header, n *plan.Node) {
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": n.Set.Name + ".csv"}))
}

// linkNext names the next page (RFC 8288): in front of the body where that has not
// begun, else behind it, as response.begin announced.
func (r *response) linkNext(option string) {
	r.w.Header().Set("Link", "<"+r.q.nextLink(option)+`>; rel="next"`)
}

// nextLink is the request itself with the option of another page: path and query as
// sent, byte for byte and in order, but for the pairs that say where the page begins
// (spec 4.2.6).
func (q *request) nextLink(option string) string {
	var b strings.Builder
	b.WriteString(q.origin + q.path + "?")
	for rest, pair := q.query, ""; rest != ""; {
		pair, rest, _ = strings.Cut(rest, "&")
		if !q.beginsPage(pair) {
			b.WriteString(pair + "&")
		}
	}
	return b.String() + option
}

// beginsPage reports whether a pair of the query is the option $skip or $skiptoken;
// OData 4.01 allows them in any case, and $skip without the dollar sign.
func (q *request) beginsPage(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(name)
	if err != nil {
		return false
	}
	if q.v401 {
		name = strings.ToLower(name)
	}
	return name == "$skip" || name == "$skiptoken" || q.v401 && name == "skip"
}
