package config

import (
	"reflect"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// Keys are the settings of config.hcl.
func Keys() schema.Block { return schema.Of(reflect.TypeFor[Config]()) }

// Sample is the commented file that `vestibule init` writes.
func Sample() string { return schema.Sample(Keys()) }

// Reference is the table of all settings in docs/configuration.md.
func Reference() string { return schema.Reference(Keys(), sourceKeys()) }
