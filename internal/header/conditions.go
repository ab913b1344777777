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

// Coding returns which of the offered content codings, given in lower case, the
// Accept-Encoding lines want most, of equals the first; "" where they want none, or
// "identity" more. Identity tells whether the plain form is acceptable, too: it is unless
// it has the weight 0, by its name or by "*" (RFC 9110, 12.5.3).
func Coding(lines []string, offered ...string) (coding string, identity bool) {
	most, all := 0.0, elements(lines)
	for _, c := range offered {
		if q, _ := codingWeight(all, c); q > most {
			coding, most = c, q
		}
	}
	plain, named := codingWeight(all, "identity")
	if named && plain > most {
		return "", true
	}
	refused, said := codingWeight(all, "*")
	return coding, plain > 0 || !named && !(said && refused == 0)
}

// codingWeight returns the weight of a content coding, by its name or else by "*", and
// whether it is named itself.
func codingWeight(all []element, coding string) (best float64, named bool) {
	for _, e := range all {
		q := 1.0
		if s, ok := e.weight(); ok {
			q = quality(s)
		}
		switch name := strings.ToLower(e.value); {
		case name == coding, name == "x-gzip" && coding == "gzip": // RFC 9110, 8.4.1.3
			best, named = q, true
		case name == "*" && !named:
			best = q
		}
	}
	return best, named
}

// RefusesLanguage reports whether the Accept-Language lines give a language, such as "de", the weight 0: by the longest range
// that matches it (RFC 9110, 12.5.4). A range for a part of its speakers that is accepted, such as "de-AT", accepts it, too.
func RefusesLanguage(lines []string, tag string) bool {
	longest, refused := -1, false
	tag = strings.ToLower(tag)
	for _, e := range elements(lines) {
		q, name := 1.0, strings.ToLower(e.value)
		if s, ok := e.weight(); ok {
			q = quality(s)
		}
		n := -1
		switch {
		case name == "*":
			n = 0
		case name == tag, strings.HasPrefix(tag, name+"-"), q > 0 && strings.HasPrefix(name, tag+"-"):
			n = len(name)
		}
		if n > longest {
			longest, refused = n, q == 0
		}
	}
	return refused
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

// ETags reads the If-Match lines of a request: the opaque tags without their quotes, weak and strong ones alike, or whether
// any will do. ok is false where a line is malformed (RFC 9110, 13.1.1).
func ETags(lines []string) (tags []string, any, ok bool) {
	for _, line := range lines {
		for line != "" {
			var item string
			item, line = cut(line, ',')
			item = strings.TrimSpace(item)
			if item == "*" {
				any = true
				continue
			}
			tag, ok := ETag(item)
			if !ok {
				return nil, false, false
			}
			tags = append(tags, tag)
		}
	}
	return tags, any, any != (len(tags) > 0)
}

// ETag returns the opaque tag of an entity tag, weak or strong, without its quotes; false for what is none (RFC 9110, 8.8.3).
func ETag(item string) (string, bool) {
	tag, ok := strings.CutPrefix(strings.TrimPrefix(item, "W/"), `"`)
	if !ok {
		return "", false
	}
	tag, ok = strings.CutSuffix(tag, `"`)
	return tag, ok && !strings.Contains(tag, `"`)
}
