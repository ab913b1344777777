package engine

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// registerSearch adds a function that makes each text of a row small once, however many words a search has.
//
//	ves_search(search, text, ...)  whether a search finds its words in the texts, in any case
//
// The search is read anew for each row, so it has a form that takes no time to read: "&2:", "|2:" or "!1:" in front of so many
// operands, and "=5:small", a term in small letters behind the number of its bytes.
func registerSearch(conn *conn) error {
	var texts []string
	return conn.Function("ves_search", -1, func(args []sqlite3.Value) (sqlite3.Value, error) {
		texts = texts[:0]
		for _, a := range args[1:] {
			if a.Kind() != sqlite3.KindNull {
				texts = append(texts, strings.ToLower(a.Text()))
			}
		}
		found, err := finds(args[0].Text(), texts)
		return flag(found), err
	})
}

// finds carries out a search.
func finds(text string, texts []string) (bool, error) {
	s := search{rest: text, texts: texts}
	found := s.next(true)
	if s.broken || s.rest != "" {
		return false, errors.New("ves_search: the search is not in its form")
	}
	return found, nil
}

// search is a search that is being carried out.
type search struct {
	rest   string
	texts  []string
	broken bool
}

// next reads one operand and reports whether it holds. If the result does not matter, it only reads.
func (s *search) next(matters bool) bool {
	head, rest, ok := strings.Cut(s.rest, ":")
	n := -1
	if ok && head != "" {
		n, _ = strconv.Atoi(head[1:])
	}
	if s.rest = rest; n < 0 || head == "=" || n > len(rest) {
		s.broken, s.rest = true, ""
		return false
	}
	if head[0] == '=' {
		term := rest[:n]
		s.rest = rest[n:]
		return matters && slices.ContainsFunc(s.texts, func(text string) bool { return strings.Contains(text, term) })
	}
	all, some := true, false
	for range n {
		holds := s.next(matters && (head[0] != '|' && all || head[0] == '|' && !some))
		all, some = all && holds, some || holds
		if s.broken {
			return false
		}
	}
	switch head[0] {
	case '|':
		return some || n == 0
	case '!':
		return !all
	}
	return all
}
