package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Position is where a setting was written: in a file, or in the variable or
// flag of Name.
type Position struct {
	// File is the path as it was given; Line and Column count from one.
	File         string
	Line, Column int
	// Name is the environment variable or flag, empty for files.
	Name string
}

// String gives file:line:column, or the name of the variable or flag.
func (p Position) String() string {
	if p.Name != "" {
		return p.Name
	}
	return fmt.Sprintf("%s:%d:%d", p.File, max(p.Line, 1), max(p.Column, 1))
}

// Findings are all that a check found, in the order of their positions.
type Findings []Finding //nolint:errname // several of them are one error, but they are findings first

// Failed reports whether one of the findings is more than a warning.
func (f Findings) Failed() bool {
	return slices.ContainsFunc(f, func(one Finding) bool { return !one.Warning })
}

// Err returns those that are more than warnings as one error, a line each; nil when
// there are only warnings. Its type is [Findings].
func (f Findings) Err() error {
	wrong := slices.DeleteFunc(slices.Clone(f), func(one Finding) bool { return one.Warning })
	if len(wrong) == 0 {
		return nil
	}
	return wrong
}

// Error gives a line for each finding.
func (f Findings) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// With returns all findings of both, in order.
func (f Findings) With(more Findings) Findings { return append(slices.Clone(f), more...).Sorted() }

// Sorted returns the findings in the order in which a reader meets them, each once.
func (f Findings) Sorted() Findings {
	slices.SortStableFunc(f, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.At.Name, b.At.Name),
			cmp.Compare(a.At.File, b.At.File),
			cmp.Compare(a.At.Line, b.At.Line),
			cmp.Compare(a.At.Column, b.At.Column))
	})
	return slices.CompactFunc(f, func(a, b Finding) bool { return a.Error() == b.Error() })
}

// Add adds an error.
func (f *Findings) Add(at Position, what, remedy string) {
	*f = append(*f, Finding{At: at, What: what, Remedy: remedy})
}

// Warn adds a warning.
func (f *Findings) Warn(at Position, what, remedy string) {
	*f = append(*f, Finding{At: at, What: what, Remedy: remedy, Warning: true})
}
