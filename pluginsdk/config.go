package pluginsdk

import "github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"

// A ConfigError is the mistakes that a plugin found in its config block. Each of its Problems
// has a Path such as rules[1].target, empty for the block as a whole, and a Message that says
// what is wrong and what to do.
type ConfigError = configblock.Error

// BadConfig is an error about the config block, for [Plugin.Configure] and for
// the Validate method of a config struct. The host reports it at the place in
// config.hcl that path leads to. Several can be joined with [errors.Join].
func BadConfig(path, format string, args ...any) error {
	return configblock.Bad(path, format, args...)
}

// Decode fills the struct that into points to from the config block, and
// reports every mistake at once as a [*ConfigError]: keys that the struct does
// not have, missing ones, wrong types, values outside of a list. [Serve] does it
// for [Plugin.Config]. Fields are described by tags:
//
//	config:"name,required"   the key in the block; without the tag, the
//	                         field's name in snake_case; "-" leaves it out
//	default:"3s"             the value of a key that is absent or null
//	oneof:"plain loud"       the values that a text may have
//	doc:"What it does."      shown by -describe and vestibule plugin check
//
// Fields may be of type string, bool, any integer, float64, [time.Duration]
// (written "3s"), any, structs, pointers, slices, and maps by string of these;
// a default of another type than text and duration is written as JSON. A struct
// with a method Validate() error is asked at the end; what it returns by
// [BadConfig] is reported below the struct's own place.
func (s Setup) Decode(into any) error { return configblock.Decode(s.Config, into) }
