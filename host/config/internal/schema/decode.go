package schema

import "github.com/go-viper/mapstructure/v2"

// Decode fills the struct that into points to, by the tags that [Of] reads, with values as
// [Key.Convert] makes them. A field without a value keeps its zero value.
func Decode(values map[string]any, into any) error {
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: into, TagName: "koanf"})
	if err != nil {
		return err
	}
	return d.Decode(values)
}
