package config

import "github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"

// Sample is the commented file that `vestibule init` writes.
func Sample() string { return schema.Sample() }
