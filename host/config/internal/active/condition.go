package active

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/internal/finding"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// A Condition reports whether a person may sign in, by the columns of the row in users.
type Condition func(columns map[string]any, now time.Time) bool

// Compile compiles a condition in $filter syntax over columns of users, and returns the columns that it names. Its
// error is a [finding.Finding].
func Compile(text string, columns []store.Column) (Condition, []string, error) {
	parsed, err := syntax.ParseFilter(text, syntax.Options{Functions: function.Arity})
	if err != nil {
		return nil, nil, wrong(err.Error(), `write a condition over columns of users, such as "deleted_at eq null and is_active"`)
	}
	named, err := resolve(parsed, columns)
	if err != nil {
		return nil, nil, err
	}
	truths := map[string]bool{}
	findTruths(parsed, truths)
	properties := make([]*edm.Property, len(named))
	for i, c := range named {
		kind := kindOf(c)
		if kind == edm.Int64 && truths[c.Name] {
			kind = edm.Boolean
		}
		properties[i] = &edm.Property{Name: c.Name, Type: typeOf(kind), Nullable: true}
	}
	compiled, err := memory.NewCondition(properties, text)
	if err != nil {
		return nil, nil, wrong(err.Error(), `write a condition that is true for people who may sign in, such as "deleted_at eq null and is_active"`)
	}
	return evaluate(compiled, properties), names(named), nil
}

func wrong(what, remedy string) error { return finding.Finding{What: what, Remedy: remedy} }

// typeOf is the type of a column of this kind. Moments have all digits of a second that a text may have.
func typeOf(kind edm.Kind) edm.Type {
	t := edm.Of(kind)
	if kind == edm.DateTimeOffset {
		t.Precision = 6
	}
	return t
}

func names(columns []store.Column) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Name
	}
	return list
}

// resolve returns the columns that a condition names, without credentials and aliases.
func resolve(e syntax.Expr, columns []store.Column) (named []store.Column, err error) {
	known := slices.DeleteFunc(names(columns), reserved.Credential)
	syntax.Walk(e, func(e syntax.Expr) {
		path, ok := e.(*syntax.Path)
		if !ok || err != nil {
			return
		}
		if strings.HasPrefix(path.Root, "@") {
			err = wrong(path.Root+" stands for somebody who is signed in, and the condition decides who may be", "compare with a constant")
			return
		}
		if path.Root != "" || len(path.Segments) == 0 {
			return // which the compiler refuses
		}
		name := path.Segments[0].Name
		if reserved.Credential(name) {
			err = wrong(fmt.Sprintf("the column %q is a credential", name), "compare with another column: no condition may use it")
			return
		}
		at := slices.IndexFunc(columns, func(c store.Column) bool { return c.Name == name })
		if at < 0 {
			err = wrong(fmt.Sprintf("the table users has no column %q", name), schema.DidYouMean(name, known))
			return
		}
		if !slices.Contains(named, columns[at]) {
			named = append(named, columns[at])
		}
	})
	return named, err
}

// findTruths adds the columns that e uses as booleans to truths: those that are conditions themselves, or that e compares
// with true or false. MariaDB and SQLite store booleans as integers, so the type of the column cannot answer this.
func findTruths(e syntax.Expr, truths map[string]bool) {
	truth := func(e syntax.Expr) {
		if path, ok := e.(*syntax.Path); ok && path.Root == "" && len(path.Segments) == 1 {
			truths[path.Segments[0].Name] = true
		}
	}
	isBoolean := func(e syntax.Expr) bool {
		l, ok := e.(*syntax.Literal)
		return ok && l.Kind == syntax.Boolean
	}
	truth(e)
	syntax.Walk(e, func(e syntax.Expr) {
		switch e := e.(type) {
		case *syntax.Binary:
			if e.Op == "and" || e.Op == "or" || isBoolean(e.Y) {
				truth(e.X)
			}
			if e.Op == "and" || e.Op == "or" || isBoolean(e.X) {
				truth(e.Y)
			}
		case *syntax.Unary:
			if e.Op == "not" {
				truth(e.X)
			}
		case *syntax.Case:
			for _, w := range e.When {
				truth(w.Cond)
			}
		}
	})
}

// evaluate returns the condition over rows as the store reads them. A value that its type cannot hold, and a column that
// is no longer there, keep the person out.
func evaluate(compiled *memory.Condition, properties []*edm.Property) Condition {
	return func(columns map[string]any, now time.Time) bool {
		row := make([]plan.Value, len(properties))
		for i, p := range properties {
			v, there := columns[p.Name]
			if !there {
				return false
			}
			var ok bool
			if row[i], ok = valueOf(p.Type.Kind, v); !ok {
				return false
			}
		}
		return compiled.Holds(row, now)
	}
}
