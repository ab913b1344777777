package introspect

import (
	"slices"
	"strings"
)

// ftsTable is what the statement of an FTS5 table says.
type ftsTable struct {
	name                    string
	columns                 []string
	content, rowid          string
	trigrams, caseSensitive bool
	// other is a column or an option that nothing is known of; empty where there is none.
	other string
}

// parseFTS reads the statement of an FTS5 table; nil where it is none.
func parseFTS(name, sql string) *ftsTable {
	words := tokens(sql)
	at := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "fts5") })
	if at < 3 || !strings.EqualFold(words[at-1], "using") || len(words) < at+3 || words[at+1] != "(" || words[len(words)-1] != ")" {
		return nil
	}
	f := &ftsTable{name: name}
	for len(words) > at+2 {
		end := at + 2
		for end < len(words)-1 && words[end] != "," {
			end++
		}
		f.argument(words[at+2 : end])
		at = end - 1
	}
	return f
}

// argument takes in a column or an option.
func (f *ftsTable) argument(words []string) {
	all := strings.Join(words, " ")
	switch {
	case len(words) == 1 && words[0] != "" && words[0][0] != '\'':
		f.columns = append(f.columns, unquote(words[0]))
	case len(words) == 2 && strings.EqualFold(words[1], "unindexed"):
		f.columns, f.other = append(f.columns, unquote(words[0])), all
	case len(words) != 3 || words[1] != "=":
		f.other = all
	case strings.EqualFold(words[0], "content"):
		f.content = unquote(words[2])
	case strings.EqualFold(words[0], "content_rowid"):
		f.rowid = unquote(words[2])
	case strings.EqualFold(words[0], "tokenize"):
		f.tokenizer(all, strings.Fields(strings.ToLower(unquote(words[2]))))
	case strings.EqualFold(words[0], "detail") && strings.EqualFold(unquote(words[2]), "full"):
	default:
		f.other = all
	}
}

// tokenizer knows that of trigrams with its one option that changes no character.
func (f *ftsTable) tokenizer(all string, words []string) {
	f.trigrams = len(words) > 0 && unquote(words[0]) == "trigram"
	switch option := strings.Join(words[min(1, len(words)):], " "); option {
	case "", "case_sensitive 0", "remove_diacritics 0":
	case "case_sensitive 1":
		f.caseSensitive = true
	default:
		f.other = all
	}
}

// triggers are those that keep it in step with a table, as triggerText has them: https://sqlite.org/fts5.html, 4.4.3.
func (f *ftsTable) triggers(table, key string) []string {
	var names, news, olds []string
	for i, c := range append([]string{key}, f.columns...) {
		name := fold(c)
		news, olds = append(news, ",", "new", ".", name), append(olds, ",", "old", ".", name)
		if i == 0 {
			name = "rowid"
		}
		names = append(names, ",", name)
	}
	fts := fold(f.name)
	insert := slices.Concat([]string{"insert", "into", fts, "("}, names[1:], []string{")", "values", "("}, news[1:], []string{")", ";"})
	remove := slices.Concat([]string{"insert", "into", fts, "(", fts}, names, []string{")", "values", "(", "'delete'"}, olds, []string{")", ";"})
	on := func(event string, does ...[]string) string {
		return sequence(slices.Concat([]string{"after", event, "on", fold(table), "begin"}, slices.Concat(does...), []string{"end"}))
	}
	return []string{on("insert", insert), on("delete", remove), on("update", remove, insert)}
}

// sequence is one text for words, whatever is in them.
func sequence(words []string) string { return strings.Join(words, "\x00") }

// triggerText is the statement of a trigger, without its name, in one way to write it.
func triggerText(sql string) string {
	words := tokens(sql)
	for i, w := range words {
		if w[0] != '\'' {
			words[i] = fold(unquote(w))
		}
	}
	if len(words) < 4 || words[0] != "create" || words[1] != "trigger" {
		return ""
	}
	words = words[3:] // SQLite leaves out IF NOT EXISTS and the schema
	if at := slices.Index(words, "for"); at >= 0 && len(words) > at+2 && words[at+1] == "each" && words[at+2] == "row" {
		words = slices.Delete(words, at, at+3)
	}
	return sequence(words)
}

// fold makes names equal that SQLite takes for one.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// tokens parts SQL into words, texts and names with their quotes, and signs, and leaves out blanks and comments.
func tokens(sql string) (out []string) {
	for sql != "" {
		n := 1
		switch c := sql[0]; {
		case strings.HasPrefix(sql, "--"):
			n = end(sql, 2, "\n")
		case strings.HasPrefix(sql, "/*"):
			n = end(sql, 2, "*/")
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
		case strings.IndexByte("'\"`", c) >= 0:
			for n = end(sql, 1, string(c)); n < len(sql) && sql[n] == c; {
				n = end(sql, n+1, string(c))
			}
			out = append(out, sql[:n])
		case c == '[':
			n = end(sql, 1, "]")
			out = append(out, sql[:n])
		default:
			for letter(c) && n < len(sql) && letter(sql[n]) {
				n++
			}
			out = append(out, sql[:n])
		}
		sql = sql[n:]
	}
	return out
}

// end is where a text ends that is closed from some place on; the end of all where it is not.
func end(sql string, from int, closed string) int {
	if at := strings.Index(sql[from:], closed); at >= 0 {
		return from + at + len(closed)
	}
	return len(sql)
}

func letter(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
