package layer

import "github.com/vestibule-dev/vestibule/v2/internal/finding"

type (
	// Position is where a setting was written.
	Position = finding.Position
	// Finding is one thing that is wrong in a layer.
	Finding = finding.Finding //nolint:errname // see there
	// Findings are all that are wrong in a layer.
	Findings = finding.Findings //nolint:errname // see there
)

// FindingsIn returns the findings in the tree of err, and the other errors there.
func FindingsIn(err error) (found []Finding, others []error) { return finding.In(err) }
