package introspect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

func (r *reader) mysql() ([]*Table, error) {
	var all named
	err := r.each(3, func(c row) {
		t := &Table{Name: c.text(0), View: c.text(1) == "VIEW", Comment: c.text(2)}
		if t.View {
			t.Comment = "" // MariaDB writes the word VIEW there
		}
		all.add(t)
	}, `SELECT table_name, table_type, table_comment FROM information_schema.tables
		WHERE table_schema = DATABASE() AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') ORDER BY table_name`)
	if err != nil {
		return nil, err
	}
	for _, read := range []func(*named) error{r.mysqlViews, r.mysqlColumns, r.mysqlIndexes, r.mysqlForeign, r.mysqlOrdered, r.mysqlBeyond, r.mysqlRules} {
		if err := read(&all); err != nil {
			return nil, err
		}
	}
	return all.list, nil
}

// noReturning reads the version of a server, such as 10.11.6-MariaDB, or 8.0.36 of MySQL.
func (r *reader) noReturning() (without bool, err error) {
	err = r.each(1, func(c row) { without = !returns(c.text(0)) }, "SELECT VERSION()")
	return without, err
}

// newestCase returns the collation of MariaDB 10.10 and later that knows each letter's case; empty on older servers, whose tables of
// letters lack some hundred.
func (r *reader) newestCase() (name string, err error) {
	err = r.each(1, func(c row) { name = "utf8mb4_" + c.text(0) }, "SELECT COLLATION_NAME FROM information_schema.COLLATIONS WHERE COLLATION_NAME = 'uca1400_as_cs'")
	return name, err
}

func returns(version string) bool {
	version = strings.TrimPrefix(version, "5.5.5-") // of MariaDB before 11, by some ways
	var major, minor int
	_, err := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return err == nil && strings.Contains(strings.ToLower(version), "mariadb") && (major > 10 || major == 10 && minor >= 5)
}

// mysqlViews marks the views that the database refuses to read; it lists the columns of some of them all the same.
func (r *reader) mysqlViews(all *named) error {
	const invalid, noDefiner, noSelect, noColumn = 1356, 1449, 1142, 1143 // as in ER_VIEW_INVALID
	for _, t := range all.list {
		if !t.View {
			continue
		}
		err := r.each(1, func(row) {}, "SELECT 1 FROM "+backquote(t.Name)+" LIMIT 0")
		var refused *mysql.MySQLError
		if errors.As(err, &refused) && slices.Contains([]uint16{invalid, noDefiner, noSelect, noColumn}, refused.Number) {
			t.Broken, err = err, nil
		}
		if err != nil {
			return fmt.Errorf("view %q: %w", t.Name, err)
		}
	}
	return nil
}

func (r *reader) mysqlColumns(all *named) error {
	return r.each(12, func(c row) {
		t := all.get("", c.text(0))
		if t == nil {
			return
		}
		col := Column{
			Name: c.text(1), Type: strings.ToLower(c.text(2)), Nullable: c.text(3) == "YES",
			Length: c.number(4), Precision: c.number(5), Scale: c.number(6),
			Collation: c.text(7), Comment: c.text(8), Generated: strings.Contains(strings.ToLower(c.text(10)), "generated"),
			Counted: strings.Contains(strings.ToLower(c.text(10)), "auto_increment"), Default: c[11].Kind != engine.Null && c.text(11) != "NULL",
		}
		if col.Default {
			col.Standard = c.text(11)
		}
		if digits := c.number(9); digits >= 0 {
			col.Precision = digits
		}
		// The full type tells a flag, tinyint(1), from a small number, and signed from unsigned.
		full := strings.ToLower(c.text(2))
		col.Type = full
		if end := strings.IndexAny(full, "( "); end >= 0 { // as in double unsigned zerofill
			col.Type = full[:end]
		}
		switch {
		case strings.HasPrefix(full, "tinyint(1)"), strings.HasPrefix(full, "bit(1)"):
			col.Type = "boolean"
		case strings.Contains(full, "unsigned"):
			col.Type += " unsigned"
		}
		if col.Type == "enum" || col.Type == "set" {
			col.Members = members(c.text(2))
		}
		if slices.Contains(mysqlOpaque(), col.Type) {
			t.Opaque = append(t.Opaque, col)
			return
		}
		t.Columns = append(t.Columns, col)
	}, `SELECT table_name, column_name, column_type, is_nullable, character_maximum_length, numeric_precision,
			numeric_scale, collation_name, column_comment, datetime_precision, extra, column_default
		FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`)
}

// members reads the texts of a type such as enum('a','it”s').
func members(declared string) []string {
	var out []string
	for {
		start := strings.IndexByte(declared, '\'')
		if start < 0 {
			return out
		}
		end := quotedEnd(declared, start)
		out = append(out, strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\0`, "\x00").Replace(unquote(declared[start:end])))
		declared = declared[end:]
	}
}

// mysqlOpaque are the types whose values come as bytes that mean something to the server alone.
func mysqlOpaque() []string {
	return []string{
		"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection", "vector",
	}
}

// mysqlBeyond looks for values of unsigned columns that no signed integer holds. The first column of an index has the
// greatest values together. Of other columns of keys it reads some rows: a counter has no such value, and every other random
// number is one. It finds none in columns that the reader may not see.
func (r *reader) mysqlBeyond(all *named) error {
	for _, t := range all.list {
		for i := range t.Columns {
			c := &t.Columns[i]
			from, isKey := backquote(t.Name), slices.ContainsFunc(append([][]string{t.Key}, t.Unique...), func(key []string) bool { return slices.Contains(key, c.Name) })
			first := slices.ContainsFunc(t.Indexes, func(ix []string) bool { return ix[0] == c.Name })
			if c.Type != "bigint unsigned" || !first && !isKey {
				continue
			}
			if !first {
				from = "(SELECT " + backquote(c.Name) + " FROM " + from + " LIMIT 1000) AS s"
			}
			err := r.each(1, func(row) { c.Beyond = true }, "SELECT 1 FROM "+from+" WHERE "+backquote(c.Name)+" > 9223372036854775807 LIMIT 1")
			var refused *mysql.MySQLError
			if err != nil && !errors.As(err, &refused) {
				return fmt.Errorf("column %q of %q: %w", c.Name, t.Name, err)
			}
		}
	}
	return nil
}

func backquote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (r *reader) mysqlIndexes(all *named) error {
	type index struct {
		table, name, kind string
		unique            bool
		columns           []string
	}
	var list []*index
	err := r.each(5, func(c row) {
		if n := len(list); n == 0 || list[n-1].table != c.text(0) || list[n-1].name != c.text(1) {
			list = append(list, &index{table: c.text(0), name: c.text(1), unique: c.number(2) == 0, kind: c.text(4)})
		}
		ix := list[len(list)-1]
		ix.columns = append(ix.columns, c.text(3))
	}, `SELECT table_name, index_name, non_unique, column_name, index_type FROM information_schema.statistics
		WHERE table_schema = DATABASE() ORDER BY table_name, index_name <> 'PRIMARY', index_name, seq_in_index`)
	for _, ix := range list {
		t := all.get("", ix.table)
		switch {
		case t == nil:
			continue
		case ix.kind == "FULLTEXT":
			t.Search = &sqltext.FullText{Columns: ix.columns}
			continue
		case ix.name == "PRIMARY":
			t.Key = ix.columns
		case ix.unique:
			t.unique(ix.columns)
		}
		t.Indexes = append(t.Indexes, ix.columns)
	}
	return err
}

func (r *reader) mysqlForeign(all *named) error {
	last := ""
	return r.each(7, func(c row) {
		t := all.get("", c.text(0))
		if t == nil {
			return
		}
		if id := c.text(0) + sep + c.text(1); id != last {
			t.Foreign = append(t.Foreign, ForeignKey{Name: c.text(1), Table: c.text(3), OnDelete: c.text(5), OnUpdate: c.text(6)})
			last = id
		}
		f := &t.Foreign[len(t.Foreign)-1]
		f.Columns = append(f.Columns, c.text(2))
		f.Referenced = append(f.Referenced, c.text(4))
	}, `SELECT k.table_name, k.constraint_name, k.column_name, k.referenced_table_name, k.referenced_column_name, f.delete_rule, f.update_rule
		FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints f
			ON f.constraint_schema = k.constraint_schema AND f.constraint_name = k.constraint_name AND f.table_name = k.table_name
		WHERE k.table_schema = DATABASE() AND k.referenced_table_schema = DATABASE()
		ORDER BY k.table_name, k.constraint_name, k.ordinal_position`)
}
