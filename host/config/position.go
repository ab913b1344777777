package config

import "github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"

type (
	// Position is where a setting was written: in a file, or in a variable or
	// flag.
	Position = layer.Position
	// Finding is one thing that is wrong, or odd, in the configuration.
	Finding = layer.Finding //nolint:errname // see there
	// Findings are all that a check found, in the order of their positions.
	Findings = layer.Findings //nolint:errname // see there
)
