package engine

import "errors"

// Asker runs a statement of SQLite and hands out the texts of each row.
type Asker func(query string, row func(texts []string)) error

// trusted tells whether what is remembered may still be used, as far as the schema decides on that. It asks again when the
// schema has another number. The caller holds mu.
func (v *versions) trusted() bool {
	if v.trust == nil {
		return true
	}
	n, err := single(v.schemaStmt)
	if err != nil {
		return false
	}
	if n != v.schema {
		if v.serves, err = v.trust(v.read); err != nil {
			return false // and asks again
		}
		v.schema = n
	}
	return v.serves
}

// read is an Asker on the connection of the watch.
func (v *versions) read(query string, row func([]string)) (err error) {
	stmt, _, err := v.watch.PrepareTransient(query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Finalize()) }()
	texts := make([]string, stmt.ColumnCount())
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		for i := range texts {
			texts[i] = stmt.ColumnText(i)
		}
		row(texts)
	}
}
