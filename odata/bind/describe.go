package bind

import (
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// describe names an expression in a message; the message's position tells the rest.
func describe(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Literal:
		if e.Kind == syntax.String {
			return fmt.Sprintf("'%.40s'", e.Text)
		}
		return fmt.Sprintf("%.40s", e.Text)
	case *syntax.Path:
		var names []string
		if e.Root != "" {
			names = append(names, e.Root)
		}
		for _, seg := range e.Segments {
			names = append(names, seg.Name)
		}
		return fmt.Sprintf("%.80s", strings.Join(names, "/"))
	case *syntax.Call:
		return "the result of " + e.Func
	case *syntax.Binary:
		return "the result of " + e.Op
	}
	return "this expression"
}

// typeName names a type in a message.
func typeName(t edm.Type) string {
	switch t.Kind {
	case edm.Null:
		return "null"
	case edm.Enum:
		return t.Enum.Name
	case edm.Complex:
		return t.Complex.Name
	case edm.Entity:
		return t.Entity.Name
	}
	return "Edm." + t.Kind.String()
}
