package sqlsource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// How long keys are looked for in the rows of one table and of all tables, in how many queries, and how many columns a key may have.
const (
	guessTime    = 3 * time.Second
	guessAll     = 30 * time.Second
	guessQueries = 60
	guessColumns = 3
)

// keyGuess looks for columns that identify the rows of a table or view without a key, in the rows that it has.
type keyGuess struct {
	db      engine.DB
	dialect string
	table   *introspect.Table
	// rows is how many rows there are; distinct is how many values each of the columns has, in which nothing is null.
	rows     int64
	columns  []string
	distinct map[string]int64
	queries  int
}

// guessKey returns the fewest columns, at most three, of which no two rows of the table have the same values, none of them
// null. It tries the keys of other tables first, and then columns with the name of a key. Without such columns, why is the
// reason.
func guessKey(ctx context.Context, limit time.Duration, db engine.DB, dialect string, t *introspect.Table, tables []*introspect.Table) (key []string, why string, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	g := &keyGuess{db: db, dialect: dialect, table: t, distinct: map[string]int64{}}
	key, err = g.find(limited, tables)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err == nil && key != nil:
		return key, "", nil
	case limited.Err() != nil || engine.IsTimeout(err):
		return nil, "it has no key, and none was found in its rows in time; name the columns that identify a row in key", nil
	case err != nil:
		return nil, "", err
	case g.rows == 0:
		return nil, "it has no key, and no rows to find one in; name the columns that identify a row in key", nil
	}
	return nil, fmt.Sprintf("it has no key, and no %d of its columns or fewer identify its rows; name those that do in key, or make a view that has some", guessColumns), nil
}

func (g *keyGuess) find(ctx context.Context, tables []*introspect.Table) ([]string, error) {
	known := g.knownKeys(tables)
	for _, c := range g.candidates() {
		n, err := g.count(ctx, []string{c})
		if stopped := ctx.Err() != nil || engine.IsTimeout(err); stopped {
			return nil, err
		}
		if err != nil { // such as a view that divides by zero, or a type without an equality
			continue
		}
		if g.distinct[c] = n; n > 0 {
			g.columns = append(g.columns, c)
		}
	}
	if g.rows == 0 && len(known) > 0 {
		return known[0], nil
	}
	for _, key := range known {
		if ok, err := g.identifies(ctx, key); ok || err != nil {
			return key, err
		}
	}
	for size := 1; size <= guessColumns && g.rows > 0; size++ {
		for _, key := range combinations(g.columns, size) {
			if ok, err := g.identifies(ctx, key); ok || err != nil {
				return key, err
			}
		}
	}
	return nil, nil
}

// knownKeys returns the keys of tables whose columns are all in the view under the same names, those of fewer columns
// first.
func (g *keyGuess) knownKeys(tables []*introspect.Table) [][]string {
	var out [][]string
	for _, t := range tables {
		if holdsAll(g.candidates(), t.Key) && g.table.View && !slices.ContainsFunc(out, func(key []string) bool { return slices.Equal(key, t.Key) }) {
			out = append(out, t.Key)
		}
	}
	slices.SortStableFunc(out, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	return out
}

// candidates returns the columns that can be part of a key, those first that look like it. Columns of floating point
// numbers, of bytes and of credentials cannot.
func (g *keyGuess) candidates() []string {
	var out []string
	secret := secretColumns(g.table)
	for i := range g.table.Columns {
		c := &g.table.Columns[i]
		if strings.TrimSpace(c.Name) != "" && !slices.Contains(secret, c.Name) && g.rank(c) >= 0 {
			out = append(out, c.Name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(g.rank(g.table.Column(a)), g.rank(g.table.Column(b))) })
	return out
}

// rank orders columns by how likely they are part of a key; it is negative for those that cannot be.
func (g *keyGuess) rank(c *introspect.Column) int {
	k := edmType(g.dialect, c).Kind
	switch {
	case slices.Contains([]string{"json", "jsonb", "xml", "point", "polygon", "geometry", "circle", "box", "path", "line", "lseg"}, c.Type):
		return -1 // whose values PostgreSQL does not compare
	case (k.Integer() || k == edm.String || k == edm.Guid) && slices.Contains([]string{"id", "key", "uuid", "guid", "code", "no", "nr"}, lastWord(c.Name)):
		return 0
	case k.Integer() || k == edm.String || k == edm.Guid:
		return 1
	case k == edm.Date || k == edm.DateTimeOffset || k == edm.TimeOfDay || k == edm.Decimal:
		return 2
	}
	return -1
}

// identifies reports whether no two rows have the same values in some columns. A column that was not counted has nulls or
// is no candidate.
func (g *keyGuess) identifies(ctx context.Context, key []string) (bool, error) {
	most := int64(1)
	for _, c := range key {
		if most *= min(g.distinct[c], g.rows); most >= g.rows {
			most = g.rows
		}
		if g.distinct[c] == 0 {
			return false, nil
		}
	}
	if len(key) == 1 || most < g.rows {
		return most == g.rows && len(key) == 1, nil
	}
	if g.queries++; g.queries > guessQueries {
		return false, nil
	}
	n, err := g.count(ctx, key)
	return n == g.rows, err
}

// count returns how many values some columns have together; zero if a row has null in one of them, or a value of another
// type than the column. It notes the number of rows.
func (g *keyGuess) count(ctx context.Context, key []string) (int64, error) {
	table, list, whole := make([]string, 0, 2), make([]string, len(key)), make([]string, len(key))
	for _, part := range tableName(g.table) {
		table = append(table, g.quote(part))
	}
	for i, name := range key {
		list[i] = g.quote(name)
		whole[i] = list[i] + " IS NOT NULL"
		if c := g.table.Column(name); g.dialect == "sqlite" && edmType(g.dialect, c).Kind.Integer() {
			whole[i] = "typeof(" + list[i] + ") = 'integer'"
		}
	}
	from, columns := " FROM "+strings.Join(table, "."), strings.Join(list, ", ")
	query := "SELECT (SELECT COUNT(*)" + from + "), (SELECT COUNT(*)" + from + " WHERE " + strings.Join(whole, " AND ") +
		"), (SELECT COUNT(*) FROM (SELECT DISTINCT " + columns + from + ") AS k)"
	var complete, distinct int64
	err := engine.Ask(ctx, g.db, 3, func(cells []engine.Cell) bool {
		g.rows, complete, distinct = number(cells[0]), number(cells[1]), number(cells[2])
		return true
	}, query)
	if err != nil {
		return 0, fmt.Errorf("look for a key of %s: %w", strings.Join(tableName(g.table), "."), err)
	}
	if complete < g.rows {
		return 0, nil
	}
	return distinct, nil
}

// number returns a count, which MariaDB gives as text.
func number(c engine.Cell) int64 {
	if c.Kind != engine.Text {
		return c.Int
	}
	n, err := strconv.ParseInt(string(c.Bytes), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (g *keyGuess) quote(name string) string {
	mark := `"`
	if g.dialect == "mysql" {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

// combinations returns the choices of so many items of a list, in its order.
func combinations(list []string, size int) [][]string {
	if size == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i := range list {
		for _, rest := range combinations(list[i+1:], size-1) {
			out = append(out, append([]string{list[i]}, rest...))
		}
	}
	return out
}

// lastWord returns the last word of a name in small letters: "id" of CustomerID and of customer_id.
func lastWord(name string) string {
	words := strings.Fields(strings.ToLower(edm.Readable(makeIdentifier(name))))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
