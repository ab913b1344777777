package header

import (
	"strconv"
	"strings"
)

// Preferences are what a client would like (RFC 7240, OData-Protocol 8.2.8).
// None of them can make a request fail: a value that cannot be read is ignored.
type Preferences struct {
	// MaxPageSize is the page size that is asked for, in rows; 0 for none.
	MaxPageSize int64
	// ContinueOnError asks a batch to go on after a fault, StopOnError not to; a
	// client that prefers neither leaves it to the format of the batch.
	ContinueOnError, StopOnError bool
	// OmitNulls asks for entities without the properties that are null
	// (OData-Protocol 8.2.8.6).
	OmitNulls bool
	// IncludeAnnotations is the value of include-annotations as sent, quotes undone;
	// empty for none (OData-Protocol 8.2.8.4).
	IncludeAnnotations string
	// Return is "minimal" or "representation"; empty for neither (RFC 7240, 4.2).
	Return string
}

// ParsePrefer reads the Prefer lines of a request. The names with and without
// the odata. prefix mean the same; where both are sent and can be read, the
// one without wins. Duplicate preferences: the first wins (RFC 7240, 2).
func ParsePrefer(lines []string) Preferences {
	var p Preferences
	if len(lines) == 0 {
		return p
	}
	seen := map[string]bool{}
	var prefixed, plain int64
	for _, e := range elements(lines) {
		name, value := pair(e.value)
		if seen[name] {
			continue
		}
		seen[name] = true
		switch name {
		case "odata.maxpagesize":
			prefixed = pageSize(value)
		case "maxpagesize":
			plain = pageSize(value)
		case "odata.continue-on-error", "continue-on-error":
			p.ContinueOnError = value == "" || strings.EqualFold(value, "true")
			p.StopOnError = strings.EqualFold(value, "false")
		case "odata.omit-values", "omit-values":
			p.OmitNulls = value == "nulls"
		case "odata.include-annotations", "include-annotations":
			p.IncludeAnnotations = value
		case "return":
			if value == "minimal" || value == "representation" {
				p.Return = value
			}
		}
	}
	p.MaxPageSize = plain
	if plain == 0 {
		p.MaxPageSize = prefixed
	}
	return p
}

// pageSize reads oneToNine *DIGIT within an int64; 0 for anything else.
func pageSize(s string) int64 {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
