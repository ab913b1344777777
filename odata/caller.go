package odata

import "net/http"

// caller tells who asks. That it cannot be told is an outage: the database of
// sessions, or whatever else knows, did not answer.
func (s *Service) caller(w http.ResponseWriter, r *http.Request) (Caller, *fault) {
	c, err := s.opts.Caller(w, r)
	if err != nil {
		return Caller{}, &fault{
			status: http.StatusServiceUnavailable, code: "unavailable", pos: -1, cause: err,
			message: "it cannot be told who asks; try again later",
		}
	}
	return c, nil
}
