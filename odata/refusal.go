package odata

import (
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// codeUnknown is the code of 503 for a change that may have been made.
const codeUnknown = "outcome_unknown"

// refusalFault makes the answer for a change that was not made, with the properties that the source has named.
func refusalFault(r *write.Refusal) *fault {
	f := &fault{pos: -1, cause: r}
	why := ""
	switch r.Kind {
	case write.Unfit:
		f.status, f.code, f.message = http.StatusBadRequest, "bad_request", "a value cannot be stored as it is"
		why = "cannot be stored as it is"
	case write.RowNotFound:
		f.status, f.code, f.message = http.StatusNotFound, "not_found", "there is no such entity"
	case write.PreconditionRequired:
		f.status, f.code = http.StatusPreconditionRequired, "precondition_required"
		f.message = "a change needs If-Match with the entity tag of the entity that was read, or *"
	case write.PreconditionFailed:
		f.status, f.code, f.message = http.StatusPreconditionFailed, "precondition_failed", "the entity has changed, or is gone: read it again"
	case write.RowNotAllowed:
		f.status, f.code, f.message = http.StatusForbidden, "row_not_allowed", "the entity may not be changed in this way"
	case write.InvalidValue:
		f.status, f.code, f.message = http.StatusUnprocessableEntity, "invalid_value", "values are missing, or a rule of the database refuses them"
		why = "is refused by a rule of the database"
	case write.Duplicate:
		f.status, f.code, f.message = http.StatusConflict, "duplicate", "another entity has these values already"
		why = "has a value that another entity has"
	case write.DeadLink:
		f.status, f.code, f.message = http.StatusConflict, "dead_link", "the entity refers to another one that is not there"
	case write.Referenced:
		f.status, f.code, f.message = http.StatusConflict, "referenced", "other entities refer to this one"
	case write.OutcomeUnknown:
		f.status, f.code = http.StatusServiceUnavailable, codeUnknown
		f.message = "the connection to the database broke: it cannot be told whether the change was made; read before trying again"
	default:
		f.status, f.code, f.retryAfter = http.StatusServiceUnavailable, "unavailable", time.Second
		f.message = "others change the same data at the same time; try again"
	}
	f.details = detailsOf(r.Properties, f.code, why)
	return f
}

// detailsOf makes a detail for each path.
func detailsOf(paths [][]*edm.Property, code, message string) []detail {
	var out []detail
	for _, path := range paths {
		names := make([]string, len(path))
		for i, p := range path {
			names[i] = p.Name
		}
		target := strings.Join(names, "/")
		out = append(out, detail{target, code, target + " " + message})
	}
	return out
}
