package csdl

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// aggregation tells that a set takes $apply, and which transformations (OData Data
// Aggregation 5.1), and the properties that can be aggregated by their names (5.2).
func aggregation(s *edm.EntitySet, o Options) []annotation {
	if len(o.Transformations) == 0 || s.Single() || s.NoApply {
		return nil
	}
	var names []any
	for _, name := range o.Transformations {
		names = append(names, name)
	}
	out := []annotation{{"Aggregation.ApplySupported", record{
		{"Transformations", names},
		{"Rollup", enumMember{"Aggregation.RollupType", "MultipleHierarchies"}},
		{"From", true},
	}}}
	for _, p := range s.Type.Properties {
		if method := s.Type.CustomAggregate(p.Name); method != "" {
			out = append(out, annotation{"Aggregation.CustomAggregate#" + p.Name, edm.Aggregated(method, p.Type).QualifiedName("")})
		}
	}
	return out
}
