package introspect

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// samples is how many values of a column are looked at.
const samples = 200

// sqliteLayouts looks at stored values of the columns whose declared type leaves their form open.
func (r *reader) sqliteLayouts(t *Table) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Type == "" {
			if err := r.sqliteTypeOf(t, c); err != nil {
				return err
			}
		}
		classify := classifier(c.Type)
		if classify == nil {
			continue
		}
		query := "SELECT " + quote(c.Name) + " FROM " + quote(t.Name) + " WHERE " + quote(c.Name) + " IS NOT NULL LIMIT ?"
		err := r.each(1, func(v row) {
			layout := classify(v[0])
			if c.Stored != "" && c.Stored != layout {
				layout = scalar.LayoutMixed
			}
			c.Stored = layout
		}, query, int64(samples))
		if err != nil {
			return err
		}
		if c.Stored == "" {
			c.Stored = scalar.LayoutMixed
		}
	}
	return nil
}

// sqliteTypeOf finds the type of a column that has none, such as an expression in a view, by its values.
func (r *reader) sqliteTypeOf(t *Table, c *Column) error {
	query := "SELECT DISTINCT typeof(" + quote(c.Name) + ") FROM (SELECT " + quote(c.Name) + " FROM " + quote(t.Name) +
		" WHERE " + quote(c.Name) + " IS NOT NULL LIMIT ?)"
	var kinds []string
	err := r.each(1, func(v row) { kinds = append(kinds, v.text(0)) }, query, int64(samples))
	if len(kinds) == 1 {
		c.Type = kinds[0]
	}
	if len(kinds) == 2 && kinds[0] != "text" && kinds[1] != "text" && kinds[0] != "blob" && kinds[1] != "blob" {
		c.Type = "real"
	}
	return err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func classifier(typ string) func(engine.Cell) string {
	switch {
	case strings.HasPrefix(typ, "datetime"), strings.HasPrefix(typ, "timestamp"):
		return instantLayout
	case typ == "date":
		return func(c engine.Cell) string { return shape(c, "dddd-dd-dd", scalar.LayoutText) }
	case typ == "uuid", typ == "guid", typ == "uniqueidentifier":
		return guidLayout
	}
	return nil
}

func instantLayout(c engine.Cell) string {
	if c.Kind == engine.Int {
		return scalar.LayoutUnix
	}
	for _, layout := range [][2]string{
		{"dddd-dd-dd dd:dd:dd", scalar.LayoutSpace}, {"dddd-dd-ddTdd:dd:dd", scalar.LayoutT}, {"dddd-dd-ddTdd:dd:ddZ", scalar.LayoutZ},
	} {
		if shape(c, layout[0], layout[1]) != scalar.LayoutMixed {
			return layout[1]
		}
	}
	return scalar.LayoutMixed
}

func guidLayout(c engine.Cell) string {
	switch {
	case c.Kind == engine.Blob && len(c.Bytes) == 16:
		return scalar.LayoutBlob
	case c.Kind == engine.Text && len(c.Bytes) == 36 && strings.ToLower(string(c.Bytes)) == string(c.Bytes):
		return scalar.LayoutText
	}
	return scalar.LayoutMixed
}

// shape gives the layout when the text looks like the pattern, in which d is a digit.
func shape(c engine.Cell, pattern, layout string) string {
	if c.Kind != engine.Text || len(c.Bytes) != len(pattern) {
		return scalar.LayoutMixed
	}
	for i, b := range c.Bytes {
		if pattern[i] == 'd' && (b < '0' || b > '9') || pattern[i] != 'd' && pattern[i] != b {
			return scalar.LayoutMixed
		}
	}
	return layout
}
