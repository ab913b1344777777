package header

import "strings"

// element is one member of a comma-separated header list: a value such as
// text/html or maxpagesize=50, and its parameters.
type element struct {
	value  string
	params []param
}

type param struct{ name, value string }

// elements splits header lines into their list members (RFC 9110, 5.6.1).
// Empty members are skipped; quoted strings may hold commas and semicolons.
func elements(lines []string) []element {
	var out []element
	for _, line := range lines {
		for line != "" {
			var item string
			item, line = cut(line, ',')
			if e, ok := parseElement(item); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

func parseElement(item string) (element, bool) {
	head, rest := cut(item, ';')
	e := element{value: strings.TrimSpace(head)}
	if e.value == "" {
		return e, false
	}
	for rest != "" {
		var p string
		p, rest = cut(rest, ';')
		if name, value := pair(p); name != "" {
			e.params = append(e.params, param{name, value})
		}
	}
	return e, true
}

// cut splits s at the first sep outside of a quoted string.
func cut(s string, sep byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// pair splits name=value; the name is lowered, the value unquoted.
func pair(s string) (name, value string) {
	name, value, _ = strings.Cut(s, "=")
	return strings.ToLower(strings.TrimSpace(name)), unquote(strings.TrimSpace(value))
}

// unquote resolves a quoted-string (RFC 9110, 5.6.4); other text is itself.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// weight returns the parameter q, and whether it was sent (RFC 9110, 12.4.2).
func (e element) weight() (string, bool) {
	for _, p := range e.params {
		if p.name == "q" {
			return p.value, true
		}
	}
	return "", false
}
