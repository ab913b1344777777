package reading

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// The bounds of the work on one path: readings, and bytes of all of them. No honest
// path has a tenth of it.
const (
	maxReadings     = 64
	maxReadingBytes = 64 << 10
)

// All returns every path that a server might take the encoded one for, the
// plainly decoded one first. Servers differ in whether they decode %2F and %5C,
// decode twice, take a backslash for a slash, leave out parameters (";v=1"), and
// in what they make of dot segments and empty ones. ok is false where there are too
// many to tell.
func All(encoded string) (readings []string, ok bool) {
	if readings = []string{decode(encoded, "")}; Plain(encoded) {
		return readings, true
	}
	same := func(reading string) string { return reading }
	return explore(append(readings, decode(encoded, `/\;%`)), len(encoded), same, steps())
}

// A step is something that some server does with a path.
type step func(path string) string

func steps() []step {
	return []step{
		func(path string) string { return decode(path, "") },
		func(path string) string { return strings.ReplaceAll(path, `\`, "/") },
		withoutParameters, WithoutDots, Clean,
	}
}

// explore returns the form of each path, and of all that the steps make of it in any order,
// each once. ok is false where there are too many to tell; size is that of the encoded path.
func explore(paths []string, size int, form func(string) string, steps []step) (found []string, ok bool) {
	add := func(path string) {
		if path = form(path); !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	for _, path := range paths {
		add(path)
	}
	for i := 0; i < len(found); i++ { //nolint:intrange // add makes the list longer meanwhile
		if len(found) > maxReadings || len(found)*size > maxReadingBytes {
			return found, false
		}
		for _, step := range steps {
			add(step(found[i]))
		}
	}
	return found, true
}

// Plain reports whether an encoded path has but one reading.
func Plain(encoded string) bool {
	return !strings.ContainsAny(encoded, `%\;`) && !strings.Contains(encoded, "//") && !strings.Contains(encoded, "/.")
}

// Ambiguity names what in an encoded path servers read in more than one way; it is
// empty where that is an empty segment at most.
func Ambiguity(encoded string) string {
	plain, kept := decode(encoded, ""), decode(encoded, `/\;%`)
	lower := strings.ToLower(kept)
	switch {
	case strings.Contains(lower, "%2f"):
		return "encoded_slash"
	case strings.Contains(plain, `\`):
		return "backslash"
	case strings.Contains(plain, ";"):
		return "parameter"
	case strings.Contains(lower, "%25"):
		return "encoded_twice"
	}
	for segment := range strings.SplitSeq(plain, "/") {
		if segment == "." || segment == ".." {
			return "dot_segment"
		}
	}
	return ""
}

// decode takes one level of percent-encoding away but for the bytes in keep. What
// is no encoding stays.
func decode(s, keep string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			c, err := url.PathUnescape(s[i : i+3])
			if err == nil && !strings.Contains(keep, c) {
				b.WriteString(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// withoutParameters cuts each segment at its first semicolon (RFC 3986 3.3).
func withoutParameters(path string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i], _, _ = strings.Cut(segments[i], ";")
	}
	return strings.Join(segments, "/")
}

// WithoutDots resolves dot segments as RFC 3986 5.2.4 does: empty segments count.
func WithoutDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		case ".":
		default:
			kept = append(kept, segment)
			last = false
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// Clean returns the shortest path that means the same, with a final slash
// where there was one.
func Clean(p string) string {
	if strings.HasPrefix(p, "/") && !strings.Contains(p, "//") && !strings.Contains(p, "/.") {
		return p
	}
	clean := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}
