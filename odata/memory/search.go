package memory

import (
	"bytes"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// search is a condition that terms stand in one of some places of a row, in any case. OData-URL 5.1.8
func search(id int, at []int, s *plan.Search) value {
	parts := make([]value, len(s.Args))
	for i, a := range s.Args {
		parts[i] = search(id, at, a)
	}
	term := bytes.ToLower([]byte(s.Term))
	return func(e *env) plan.Value {
		found := s.Op == "and"
		switch s.Op {
		case "term":
			found = contains(e.rows[id], at, term)
		case "not":
			found = !isTrue(parts[0](e))
		default:
			for _, p := range parts {
				if isTrue(p(e)) != found {
					found = !found
					break
				}
			}
		}
		if found {
			return plan.Value{Int: 1}
		}
		return plan.Value{}
	}
}

func contains(r row, at []int, term []byte) bool {
	for _, i := range at {
		if !r[i].Null && bytes.Contains(bytes.ToLower(r[i].Bytes), term) {
			return true
		}
	}
	return false
}
