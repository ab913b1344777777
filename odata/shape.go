package odata

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A shape is a target without the number of its $skip, without its $skiptoken, and without custom options, which have no meaning here. Targets of
// one shape share what is prepared for them.
type shape struct {
	target string
	// skip is the number that was taken out; -1 for none.
	skip int64
	// token was taken out as well; pos is the position of its option.
	token string
	pos   int
}

// tokenOption is how most clients write the option $skiptoken.
const tokenOption = "$skiptoken="

// shapeOf returns false if nothing can be taken out of a target: a request of OData 4.01, whose options have many
// spellings, one with a $skip, a token or a custom option of unusual characters, and one with none of them.
func shapeOf(key planKey) (l shape, ok bool) {
	path, query, _ := strings.Cut(key.target, "?")
	if key.v401 || query == "" || len(key.target) > maxTarget || strings.Contains(query, "#") {
		return l, false
	}
	var b strings.Builder
	b.Grow(len(key.target) + len("#custom"))
	b.WriteString(path + "?")
	l.skip = -1
	custom := false
	for rest, pair := query, ""; rest != ""; {
		pair, rest, _ = strings.Cut(rest, "&")
		number, isSkip := strings.CutPrefix(pair, "$skip=")
		token, isToken := strings.CutPrefix(pair, tokenOption)
		switch {
		case isSkip:
			n, ok := digits(number)
			if !ok || l.skip >= 0 {
				return l, false
			}
			l.skip = n
			b.WriteString("#skip&") // no target that has a plan has this character
		case isToken:
			if token == "" || l.token != "" || strings.ContainsFunc(token, unlikeToken) {
				return l, false
			}
			l.token, l.pos = token, strings.Index(key.target, tokenOption)
			b.WriteString("#token&")
		case isPlainOption(pair):
			custom = true
		default:
			b.WriteString(pair)
			b.WriteByte('&')
		}
	}
	if custom {
		b.WriteString("#custom") // a resource that takes one takes all of them
	}
	l.target = b.String()
	return l, custom || l.skip >= 0 || l.token != ""
}

// unlikeToken reports whether a character is not one of base64url.
func unlikeToken(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}

// digits reads a number that can be nothing else.
func digits(s string) (int64, bool) {
	if s == "" || len(s) > 18 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// isPlainOption reports whether a pair is a custom option without anything that could be malformed.
func isPlainOption(pair string) bool {
	for i := range len(pair) {
		switch c := pair[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '-' || c == '.' || c == '~' || c == '='):
		default:
			return false
		}
	}
	return pair != ""
}

// fits reports whether the plan of one target serves all of its shape.
func (l shape) fits(p *plan.Plan) bool {
	return l.skip < 0 || p.Kind == plan.Collection // $skip has no meaning elsewhere, or another one
}

// of returns the plan of a target of this shape. Its answers are its own. The fault is a *plan.Error.
func (l shape) of(p *planned) (*planned, error) {
	out := &planned{plan: p.plan, format: p.format}
	var err error
	switch {
	case l.token != "":
		out.plan, err = bind.Behind(p.plan, l.token, l.pos)
	case l.skip >= 0:
		out.plan = p.plan.From(l.skip)
	}
	return out, err
}
