package introspect

import (
	"strings"

	"github.com/vestibule-dev/vestibule/odata/sqlsource/engine"
)

// The layouts in which SQLite columns hold times and the like. A column has one when every sampled value has it;
// otherwise comparisons take the slow, always right way.
const (
	// LayoutSpace is "2006-01-02 15:04:05".
	LayoutSpace = "space"
	// LayoutT is "2006-01-02T15:04:05".
	LayoutT = "t"
	// LayoutZ is "2006-01-02T15:04:05Z".
	LayoutZ = "z"
	// LayoutUnix is seconds since 1970 as an integer.
	LayoutUnix = "unix"
	// LayoutText is plain text in the canonical form of its type: dates, times of day, upper or lower case GUIDs.
	LayoutText = "text"
	// LayoutBlob is 16 bytes for a GUID.
	LayoutBlob = "blob"
	// LayoutMixed is anything else.
	LayoutMixed = "mixed"
)

// samples is how many values of a column are looked at.
const samples = 200

// sqliteLayouts looks at values of the columns whose declared type does not say how they are stored.
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
				layout = LayoutMixed
			}
			c.Stored = layout
		}, query, int64(samples))
		if err != nil {
			return err
		}
		if c.Stored == "" {
			c.Stored = LayoutMixed
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
		return func(c engine.Cell) string { return shape(c, "dddd-dd-dd", LayoutText) }
	case typ == "uuid", typ == "guid", typ == "uniqueidentifier":
		return guidLayout
	}
	return nil
}

func instantLayout(c engine.Cell) string {
	if c.Kind == engine.Int {
		return LayoutUnix
	}
	for _, layout := range [][2]string{
		{"dddd-dd-dd dd:dd:dd", LayoutSpace}, {"dddd-dd-ddTdd:dd:dd", LayoutT}, {"dddd-dd-ddTdd:dd:ddZ", LayoutZ},
	} {
		if shape(c, layout[0], layout[1]) != LayoutMixed {
			return layout[1]
		}
	}
	return LayoutMixed
}

func guidLayout(c engine.Cell) string {
	switch {
	case c.Kind == engine.Blob && len(c.Bytes) == 16:
		return LayoutBlob
	case c.Kind == engine.Text && len(c.Bytes) == 36 && strings.ToLower(string(c.Bytes)) == string(c.Bytes):
		return LayoutText
	}
	return LayoutMixed
}

// shape gives the layout when the text looks like the pattern, in which d is a digit.
func shape(c engine.Cell, pattern, layout string) string {
	if c.Kind != engine.Text || len(c.Bytes) != len(pattern) {
		return LayoutMixed
	}
	for i, b := range c.Bytes {
		if pattern[i] == 'd' && (b < '0' || b > '9') || pattern[i] != 'd' && pattern[i] != b {
			return LayoutMixed
		}
	}
	return layout
}
