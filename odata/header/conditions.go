package header

import "strings"

// Version gives the protocol version to answer in, 4.0 or 4.01, for the lines
// of OData-MaxVersion, and false when the client accepts neither.
// Without the header the answer is 4.0 (OData-Protocol 8.2.7).
func Version(lines []string) (string, bool) {
	if len(lines) == 0 {
		return "4.0", true
	}
	major, minor, ok := strings.Cut(strings.TrimSpace(lines[0]), ".")
	if !ok || !digits(major) || !digits(minor) {
		return "", false
	}
	major = strings.TrimLeft(major, "0")
	switch {
	case len(major) > 1 || major > "4":
		return "4.01", true
	case major != "4":
		return "", false
	case strings.Trim(minor, "0") == "":
		return "4.0", true
	default:
		return "4.01", true
	}
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// AcceptsCoding tells whether the Accept-Encoding lines allow a content coding, given
// in lower case, by its name or by "*" (RFC 9110, 12.5.3). Without the header they
// allow none.
func AcceptsCoding(lines []string, coding string) bool {
	best, named := 0.0, false
	for _, e := range elements(lines) {
		q := 1.0
		if s, ok := e.param("q"); ok {
			q = quality(s)
		}
		switch name := strings.ToLower(e.value); {
		case name == coding, name == "x-gzip" && coding == "gzip": // RFC 9110, 8.4.1.3
			best, named = q, true
		case name == "*" && !named:
			best = q
		}
	}
	return best > 0
}

// MatchesETag tells whether the If-None-Match lines name the entity tag,
// compared weakly (RFC 9110, 13.1.2).
func MatchesETag(lines []string, etag string) bool {
	want := strings.TrimPrefix(etag, "W/")
	for _, line := range lines {
		for line != "" {
			var item string
			item, line = cut(line, ',')
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == want {
				return true
			}
		}
	}
	return false
}
