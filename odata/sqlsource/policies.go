package sqlsource

import "github.com/vestibule-dev/vestibule/v2/odata/bind"

// PolicyColumn is a column of the user that a row policy names, with the path of the policy inside the Config.
type PolicyColumn struct {
	Path   []string
	Column string
}

// PolicyColumns lists the columns of the user that row policies name, so that whoever knows the users can check them.
func (s *Source) PolicyColumns() ([]PolicyColumn, error) {
	p, err := bind.New(s.model)
	if err != nil {
		return nil, err
	}
	var out []PolicyColumn
	for _, set := range s.model.All() {
		kind := "entity_set"
		if set.Single() {
			kind = "singleton"
		}
		for _, column := range p.UserColumns(set) {
			out = append(out, PolicyColumn{Path: []string{kind, set.Name, "filter"}, Column: column})
		}
	}
	return out, nil
}
