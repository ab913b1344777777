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
}

// ContentType is the media type of an answer in this representation.
func (j JSON) ContentType() string {
	t := "application/json;odata.metadata=" + j.Metadata.String()
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

// ParseAccept reads the Accept lines of a request (RFC 9110, 12.5.1). A range
// with a quality of 0, or with one that cannot be read, is left out.
func ParseAccept(lines []string) Accept {
	var a Accept
	all := elements(lines)
	for _, e := range all {
		e.value = strings.ToLower(e.value)
		q := 1.0
		if s, ok := e.param("q"); ok {
			q = quality(s)
		}
		if q > 0 && strings.Contains(e.value, "/") {
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
// header (OData-URL 5.1.2.10, OData-Protocol 11.2.11): json, xml, atom, or a
// media type with parameters.
func ParseFormat(value string) Accept {
	switch strings.ToLower(value) {
	case "json":
		value = "application/json"
	case "xml":
		value = "application/xml"
	case "atom":
		value = "application/atom+xml"
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
		if !matches(r.value, "application/json") {
			continue
		}
		if j, ok := r.json(); ok {
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
		for _, o := range offers {
			if matches(r.value, o) {
				return o
			}
		}
	}
	return ""
}

// json reads the format parameters of a range; an unknown value of a known
// parameter, or a charset other than UTF-8, makes the range unacceptable.
func (r mediaRange) json() (JSON, bool) {
	var j JSON
	for _, p := range r.params {
		switch p.name {
		case "odata.metadata", "metadata":
			switch strings.ToLower(p.value) {
			case "none":
				j.Metadata = None
			case "minimal":
				j.Metadata = Minimal
			case "full":
				j.Metadata = Full
			default:
				return j, false
			}
		case "ieee754compatible":
			switch strings.ToLower(p.value) {
			case "true":
				j.IEEE754 = true
			case "false":
			default:
				return j, false
			}
		case "charset":
			if !strings.EqualFold(p.value, "utf-8") {
				return j, false
			}
		}
	}
	return j, true
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

func quality(s string) float64 {
	q, err := strconv.ParseFloat(s, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}
