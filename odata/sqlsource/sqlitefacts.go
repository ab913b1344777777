package sqlsource

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// facts are what remembering pages of SQLite rests on besides the data: what the schema says of the tables of the model.
type facts struct {
	// indirect tells that one of them is a view or a virtual table, and impure that such a view may change although nobody
	// writes.
	indirect, impure bool
	// rules are what the columns promise: that there is no null, that they are a key, or part of one.
	rules map[string]bool
}

// askViews and askRules give rows of a table's name, a text about it, and a word for it.
const (
	askViews = `SELECT name, lower(sql), '' FROM sqlite_schema WHERE type = 'view' OR sql LIKE 'create virtual%'`
	askRules = `WITH t AS (SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'create virtual%')
		SELECT t.name, c.name, 'required' FROM t, pragma_table_info(t.name) c WHERE c."notnull"
		UNION ALL SELECT t.name, c.name, 'key' FROM t, pragma_table_info(t.name) c WHERE c.pk
		UNION ALL SELECT t.name, (SELECT group_concat(name, char(31)) FROM pragma_index_info(i.name)), 'unique'
			FROM t, pragma_index_list(t.name) i WHERE i."unique" AND NOT i.partial`
)

// factsOf asks a file about the tables of the model.
func factsOf(ask engine.Asker, exposed map[string]bool) (facts, error) {
	f := facts{rules: map[string]bool{}}
	err := ask(askViews, func(row []string) {
		f.indirect = f.indirect || exposed[strings.ToLower(row[0])]
		for _, word := range impureWords() {
			f.impure = f.impure || strings.Contains(row[1], word)
		}
	})
	f.impure = f.impure && f.indirect
	if err != nil {
		return f, err
	}
	return f, ask(askRules, func(row []string) {
		if exposed[strings.ToLower(row[0])] {
			f.rules[strings.ToLower(strings.Join(row, "\x00"))] = true
		}
	})
}

// serve tells whether what was made for the first facts can go on with these.
func (f facts) serve(first facts) bool {
	if f.impure || f.indirect && !first.indirect {
		return false
	}
	for rule := range first.rules {
		if !f.rules[rule] {
			return false
		}
	}
	return true
}
