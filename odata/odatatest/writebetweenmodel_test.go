package odatatest_test

import (
	"net/http"
	"slices"
	"strings"
)

// modelBetween is the link between a team and a badge that an operation on one of them writes.
type modelBetween struct {
	// path is one of betweenCollection, betweenMember and betweenOption.
	path string
	// set and key are of the other end.
	set string
	key []string
}

// The paths of requests for links behind a team or a badge.
const (
	betweenCollection = "/$ref"
	betweenMember     = "()/$ref"
	betweenOption     = "/$ref?$id="
)

func (b modelBetween) other() *operation { return &operation{set: b.set, key: b.key} }

// linkBetween predicts the status of a request for a link over the table in between, and makes it.
func (m *model) linkBetween(o *operation, user int) int {
	own, other := m.sets[o.set], m.sets[o.between.set]
	link := [2]string{o.key[0], o.between.key[0]}
	if o.set == "Badges" {
		link = [2]string{link[1], link[0]}
	}
	at, end := m.find(own, o.key, user), m.find(other, o.between.key, user)
	linked := slices.Index(m.links, link)
	may := func(s *modelSet, at int) bool { return s.filter == nil || s.filter(m.rows[s.name][at], user) }
	switch {
	case at < 0, o.method == http.MethodDelete && (end < 0 || linked < 0):
		return 404
	case !may(own, at):
		return 403
	case end < 0:
		return 409
	case !may(other, end):
		return 403
	case o.method == http.MethodDelete:
		m.links = slices.Delete(m.links, linked, linked+1)
	case linked < 0:
		m.links = append(m.links, link)
	}
	return 204
}

// listLinks is the body of the teams with the badges that a person sees.
func (m *model) listLinks(user int) string {
	var teams []string
	badges := map[string][]string{}
	for _, r := range m.rows["Teams"] {
		teams = append(teams, r.values["id"])
	}
	for _, l := range m.links {
		if m.find(m.sets["Badges"], []string{l[1]}, user) >= 0 {
			badges[l[0]] = append(badges[l[0]], `{"code":`+l[1]+"}")
		}
	}
	slices.Sort(teams)
	for i, team := range teams {
		slices.Sort(badges[team])
		teams[i] = `{"id":` + team + `,"badges":[` + strings.Join(badges[team], ",") + "]}"
	}
	return `{"value":[` + strings.Join(teams, ",") + "]}"
}

// between makes an operation on a team or badge one that links it.
func (g writes) between(m *model, o *operation) {
	o.values, o.inside = map[string]string{}, modelInside{}
	o.between = modelBetween{path: betweenCollection, set: map[string]string{"Teams": "Badges", "Badges": "Teams"}[o.set]}
	own, other := m.sets[o.set], m.sets[o.between.set]
	o.key, o.between.key = []string{g.valueOf(m, own, own.key[0])}, []string{g.valueOf(m, other, other.key[0])}
	o.method = http.MethodPost
	if g.IntN(5) < 2 {
		o.method, o.between.path = http.MethodDelete, g.one(betweenMember, betweenOption)
	}
}

// pathBetween is the path of a request for a link over the table in between.
func (e *written) pathBetween(o *operation, m *model) string {
	path := e.target(o, m.sets[o.set]) + "/" + strings.ToLower(o.between.set)
	other := e.target(o.between.other(), m.sets[o.between.set])
	switch o.between.path {
	case betweenMember:
		return path + strings.TrimPrefix(other, o.between.set) + "/$ref"
	case betweenOption:
		return path + "/$ref?$id=" + other
	}
	return path + "/$ref"
}
