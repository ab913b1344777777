package sqlsource

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// shape tells whether the columns are still of the types that the model was made of. Where somebody changed them under a
// running service, a database may say so with any error, or not at all. It is safe for concurrent use.
type shape struct {
	db      engine.DB
	dialect string
	mapping *sqltext.Mapping

	mu    sync.Mutex
	asked time.Time
	last  error
}

// How long an answer is good for: where a statement failed, and where a value only looks odd, which may be the fault of
// the value alone. lookTime bounds the look itself.
const (
	failedAgain = time.Second
	oddAgain    = time.Minute
	lookTime    = 2 * time.Second
)

// look compares the tables with the model, or remembers how that went a moment ago. The error is an engine.ErrChanged.
func (s *shape) look(ctx context.Context, mild bool) error {
	good := failedAgain
	if mild {
		good = oddAgain
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.asked) < good {
		return s.last
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	found, err := introspect.Read(ctx, s.db, s.dialect)
	s.asked = time.Now()
	if err != nil {
		return s.last // the database is away or busy, which others tell
	}
	s.last = nil
	if list := s.differences(found.Tables); len(list) > 0 {
		s.last = fmt.Errorf("%w: %s", engine.ErrChanged, strings.Join(list, ", "))
	}
	return s.last
}

// still is what was found last, as long as it is so.
func (s *shape) still(ctx context.Context) error {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == nil {
		return nil
	}
	return s.look(ctx, false)
}

// differences name the columns of the model that are missing or of another family of types.
func (s *shape) differences(tables []*introspect.Table) []string {
	var list []string
	for _, t := range s.mapping.Tables {
		name := strings.Join(t.Name, ".")
		at := slices.IndexFunc(tables, func(f *introspect.Table) bool { return strings.Join(tableName(f), ".") == name })
		if at < 0 {
			list = append(list, name+" is missing")
			continue
		}
		for _, c := range t.Columns {
			list = append(list, s.columns(name, c, tables[at])...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (s *shape) columns(table string, c *sqltext.Column, found *introspect.Table) []string {
	if c.Sub != nil {
		var list []string
		for _, sub := range c.Sub {
			list = append(list, s.columns(table, sub, found)...)
		}
		return list
	}
	now := found.Column(c.Name)
	switch {
	case now == nil:
		return []string{table + "." + c.Name + " is missing"}
	case s.family(c.Type) != s.family(now.Type):
		return []string{fmt.Sprintf("%s.%s was %s and is %s", table, c.Name, c.Type, now.Type)}
	}
	return nil
}

// family names all types whose values take each other's place: numbers of one kind, and texts. Other types are read each
// in a way of its own, such as instants with a zone and without.
func (s *shape) family(declared string) string {
	k := edmType(s.dialect, &introspect.Column{Type: declared, Length: -1, Precision: -1, Scale: -1}).Kind
	has := func(part string) bool { return strings.Contains(declared, part) }
	switch {
	case k.Integer(), k == edm.Decimal && has("int"), k == edm.Boolean && s.dialect == "mysql":
		return "integer"
	case k.Floating():
		return "double"
	case k == edm.Decimal:
		return "decimal"
	case k == edm.String && (has("char") || has("text") || has("clob")):
		return "text"
	}
	return declared
}
