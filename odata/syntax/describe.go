package syntax

import (
	"fmt"
	"strings"
)

// Describe names an expression in a message. It is cut; the message's position tells the rest.
func Describe(e Expr) string {
	switch e := e.(type) {
	case *Literal:
		if e.Kind == String {
			return fmt.Sprintf("'%.40s'", e.Text)
		}
		return fmt.Sprintf("%.40s", e.Text)
	case *Path:
		var names []string
		if e.Root != "" {
			names = append(names, e.Root)
		}
		for _, seg := range e.Segments {
			names = append(names, seg.Name)
		}
		return fmt.Sprintf("%.80s", strings.Join(names, "/"))
	case *Call:
		return "the result of " + e.Func
	case *Binary:
		return "the result of " + e.Op
	}
	return "this expression"
}
