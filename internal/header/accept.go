package header

import (
	"slices"
	"strconv"
	"strings"
)

// Metadata is how much control information a JSON answer carries
// (OData-JSON 3.1).
type Metadata uint8

// The levels of control information; the zero value is the default.
const (
	Minimal Metadata = iota
	None
	Full
)

// String gives the value of the odata.metadata parameter.
func (m Metadata) String() string {
	switch m {
	case None:
		return "none"
	case Full:
		return "full"
	default:
		return "minimal"
	}
}

// JSON is a JSON representation that a client accepts.
type JSON struct {
	Metadata Metadata
	// IEEE754 asks for Edm.Int64 and Edm.Decimal as strings (OData-JSON 3.2).
	IEEE754 bool
	// Streaming tells that the client reads while it receives, and wants control
	// information before what it is about (OData-JSON 4.4). Answers always have it so.
	Streaming bool
}

// ContentType is the media type of an answer in this representation.
func (j JSON) ContentType() string {
	t := "application/json;odata.metadata=" + j.Metadata.String()
	if j.Streaming {
		t += ";odata.streaming=true"
	}
	if j.IEEE754 {
		t += ";IEEE754Compatible=true"
	}
	return t
}

// Accept is what a client accepts, best first. The zero value accepts all.
type Accept struct{ ranges []mediaRange }

type mediaRange struct {
	element
	q float64
}

// ParseAccept reads the Accept lines of a request (RFC 9110, 12.5.1). A range with
// a quality of 0 refuses what it matches and nothing more specific allows; one with
// a quality that cannot be read is left out.
func ParseAccept(lines []string) Accept {
	var a Accept
	all := elements(lines)
	for _, e := range all {
		e.value = strings.ToLower(e.value)
		q, ok := 1.0, true
		if s, sent := e.weight(); sent {
			q, ok = weight(s)
		}
		if ok && strings.Contains(e.value, "/") {
			a.ranges = append(a.ranges, mediaRange{e, q})
		}
	}
	slices.SortStableFunc(a.ranges, func(x, y mediaRange) int {
		switch {
		case x.q > y.q:
			return -1
		case x.q < y.q:
			return 1
		}
		return specificity(y.value) - specificity(x.value)
	})
	if len(a.ranges) == 0 && len(all) > 0 {
		a.ranges = []mediaRange{} // nothing that was sent is acceptable; nil would accept all
	}
	return a
}

// ParseFormat reads the value of $format, which stands in for the Accept
// header (OData-URL 5.1.9, OData-Protocol 11.2.11): json, xml, atom, csv, or a
// media type with parameters.
func ParseFormat(value string) Accept {
	switch strings.ToLower(value) {
	case "json":
		value = "application/json"
	case "xml":
		value = "application/xml"
	case "atom":
		value = "application/atom+xml"
	case "csv":
		value = typeCSV
	}
	a := ParseAccept([]string{value})
	if len(a.ranges) == 0 {
		a.ranges = []mediaRange{}
	}
	return a
}

// JSON gives the JSON representation that the client prefers, and false when it
// accepts none.
func (a Accept) JSON() (JSON, bool) {
	if a.ranges == nil {
		return JSON{}, true
	}
	for _, r := range a.ranges {
		if r.q == 0 || !matches(r.value, typeJSON) {
			continue
		}
		if j, ok := r.json(); ok && !a.refuses(typeJSON, j) {
			return j, true
		}
	}
	return JSON{}, false
}

// Best gives the offered media type that the client prefers, the first of several
// equal ones, or "" when none is acceptable.
func (a Accept) Best(offers ...string) string {
	if a.ranges == nil && len(offers) > 0 {
		return offers[0]
	}
	for _, r := range a.ranges {
		if r.q == 0 {
			continue
		}
		for _, o := range offers {
			if !matches(r.value, o) {
				continue
			}
			j, ok := JSON{}, true
			switch o {
			case typeJSON:
				j, ok = r.json()
			case typeCSV:
				ok = r.csv()
			}
			if ok && !a.refuses(o, j) {
				return o
			}
		}
	}
	return ""
}

// Names reports whether the client names a media type, rather than a range around it, and accepts it.
func (a Accept) Names(media string) bool {
	return slices.ContainsFunc(a.ranges, func(r mediaRange) bool { return r.value == media && r.q > 0 })
}

const (
	typeJSON = "application/json"
	typeCSV  = "text/csv"
)

// Refuses tells whether the client says that it does not want a media type: by a
// quality of 0.
func (a Accept) Refuses(media string) bool { return a.refuses(media, JSON{}) }

// refuses tells whether the most specific range that matches a representation has
// the quality 0. j is what the representation is, where it is JSON.
func (a Accept) refuses(media string, j JSON) bool {
	best, refused := -1, false
	for _, r := range a.ranges {
		if !matches(r.value, media) {
			continue
		}
		rank := 100*specificity(r.value) + len(r.params)
		if _, sent := r.weight(); sent {
			rank--
		}
		if media == typeJSON && rank > 200 { // its parameters count
			if same, ok := r.json(); !ok || same != j {
				continue
			}
		}
		if rank > best || rank == best && r.q > 0 {
			best, refused = rank, r.q == 0
		}
	}
	return refused
}

// json reads the parameters of a range. A value that is unknown, a charset other
// than UTF-8, or a parameter that application/json does not have here makes the
// range match nothing: what is sent would not have it (RFC 9110, 12.5.1, OData-JSON
// 3). What stands behind q is no part of the range.
func (r mediaRange) json() (JSON, bool) {
	var j JSON
	for _, p := range r.params {
		if p.name == "q" {
			break
		}
		var ok bool
		switch value := strings.ToLower(p.value); p.name {
		case "odata.metadata", "metadata":
			j.Metadata, ok = level(value)
		case "ieee754compatible":
			j.IEEE754, ok = truth(value)
		case "odata.streaming", "streaming":
			j.Streaming, ok = truth(value)
		case "exponentialdecimals": // allows exponents, which are not made use of
			_, ok = truth(value)
		case "charset":
			ok = value == "utf-8"
		default:
			ok = false
		}
		if !ok {
			return j, false
		}
	}
	return j, true
}

// csv tells whether the parameters of a range are those of text/csv as it is sent
// (RFC 4180, 3): in UTF-8 and with a header row.
func (r mediaRange) csv() bool {
	for _, p := range r.params {
		value := strings.ToLower(p.value)
		switch p.name {
		case "q":
			return true
		case "charset":
			if value != "utf-8" {
				return false
			}
		case "header":
			if value != "present" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func level(value string) (Metadata, bool) {
	for _, m := range []Metadata{Minimal, None, Full} {
		if m.String() == value {
			return m, true
		}
	}
	return Minimal, false
}

func truth(value string) (is, ok bool) {
	return value == "true", value == "true" || value == "false"
}

func matches(pattern, offer string) bool {
	if pattern == "*/*" || pattern == offer {
		return true
	}
	kind, ok := strings.CutSuffix(pattern, "/*")
	return ok && strings.HasPrefix(offer, kind+"/")
}

func specificity(pattern string) int {
	switch {
	case pattern == "*/*":
		return 0
	case strings.HasSuffix(pattern, "/*"):
		return 1
	default:
		return 2
	}
}

// quality is the weight that s gives, 0 where it cannot be read.
func quality(s string) float64 {
	q, _ := weight(s)
	return q
}

func weight(s string) (float64, bool) {
	q, err := strconv.ParseFloat(s, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0, false
	}
	return q, true
}
