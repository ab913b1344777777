package odatatest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// modelInside holds the entities that the body of a creation has for a navigation property.
type modelInside struct {
	nav  string
	many bool
	// bound reports that the body has the addresses of rows that are there, and not entities.
	bound bool
	// of are the creations of the entities. One with a key names a row that is there.
	of []*operation
	// maker is the number of a maker that is created for a part.
	maker int
}

// notAdopted is the 403 of a row that is there. Only the transaction knows of it.
const notAdopted = 1403

// worse returns the status that a request has of which two changes are refused, a the earlier one. What the body alone decides
// comes first.
func worse(a, b int) int {
	for _, status := range []int{403, 422} {
		if a == status || b == status {
			return status
		}
	}
	if a == http.StatusCreated {
		return b
	}
	return a
}

// deep predicts the status of a creation with entities inside, and makes it.
func (m *model) deep(o *operation, user int) int {
	after := m.clone()
	_, status := after.nested(o, nil, user)
	if status == http.StatusCreated {
		m.rows, m.next, m.links = after.rows, after.next, after.links
	}
	return status % 1000
}

// nested makes a creation, whose row has the values of a link to the row above, and returns the row.
func (m *model) nested(o *operation, above map[string]string, user int) (modelRow, int) {
	status := http.StatusCreated
	values := maps.Clone(o.values)
	maps.Copy(values, above)
	in := &o.inside
	if in.nav != "" && !in.many {
		in.maker = m.next["Makers"]
		one, refused := m.nested(in.of[0], nil, user)
		status = refused
		for i, name := range m.sets[o.set].link {
			values[name] = "null"
			if refused == http.StatusCreated {
				values[name] = one.values[m.sets[in.of[0].set].key[i]]
			}
		}
	}
	status = worse(status, m.post(o.set, values, user))
	row := modelRow{values: map[string]string{"id": "null"}}
	if rows := m.rows[o.set]; status == http.StatusCreated {
		row = rows[len(rows)-1]
	}
	if in.many {
		status = worse(status, m.below(o, row.values[m.sets[o.set].key[0]], user))
	}
	return row, status
}

// below creates the rows inside of one that has the key, and links those that are there behind them.
func (m *model) below(o *operation, key string, user int) int {
	status := http.StatusCreated
	for _, in := range o.inside.of {
		if in.key != nil {
			continue
		}
		above := map[string]string{}
		if in.set == "Parts" {
			above["maker_id"] = key
		}
		row, refused := m.nested(in, above, user)
		if in.set != "Parts" && refused == http.StatusCreated {
			m.join(o.set, key, row.values[m.sets[in.set].key[0]])
		}
		status = worse(status, refused)
	}
	for _, in := range o.inside.of {
		switch {
		case in.key == nil:
		case in.set == "Parts":
			status = worse(status, m.adopt(in.key, key, user))
		default:
			status = worse(status, m.reach(o.set, key, in, user))
		}
	}
	return status
}

// reach links a team or a badge to one that is there.
func (m *model) reach(set, key string, to *operation, user int) int {
	s := m.sets[to.set]
	at := m.find(s, to.key, user)
	switch {
	case at < 0:
		return 409
	case s.filter != nil && !s.filter(m.rows[to.set][at], user):
		return notAdopted
	}
	m.join(set, key, to.key[0])
	return http.StatusCreated
}

// join adds the link of a team or a badge, unless it is there.
func (m *model) join(set, key, other string) {
	link := [2]string{key, other}
	if set == "Badges" {
		link = [2]string{other, key}
	}
	if !slices.Contains(m.links, link) {
		m.links = append(m.links, link)
	}
}

// patchDeep predicts the status of a change whose body binds rows, and makes it.
func (m *model) patchDeep(o *operation, user int) int {
	after := m.clone()
	status := after.patch(o.set, o.key, o.values, o.tag, user)
	if status >= 300 {
		return status
	}
	if refused := after.below(o, o.key[0], user); refused != http.StatusCreated {
		return refused % 1000
	}
	m.rows, m.next, m.links = after.rows, after.next, after.links
	return status
}

// adopt gives a part that is there another maker.
func (m *model) adopt(part []string, maker string, user int) int {
	parts := m.sets["Parts"]
	at := m.find(parts, part, user)
	switch {
	case at < 0:
		return 409
	case !parts.filter(m.rows["Parts"][at], user):
		return notAdopted
	}
	values := m.rows["Parts"][at].values
	values["maker_id"], values["changed"] = maker, modelNow
	return http.StatusCreated
}

// nest gives a creation entities inside.
func (g writes) nest(m *model, o *operation, depth int) {
	create := func(set string) *operation {
		in := &operation{method: http.MethodPost, set: set, values: map[string]string{}}
		s := m.sets[set]
		for _, name := range s.names() {
			chance := 4 // of ten
			if _, nullable := s.standard(name); !nullable {
				chance = 9
			}
			if name != s.auto && name != "maker_id" && g.IntN(10) < chance {
				in.values[name] = g.valueOf(m, s, name)
			}
		}
		if depth > 1 && g.IntN(2) == 0 {
			g.nest(m, in, depth-1)
		}
		return in
	}
	for _, name := range m.sets[o.set].link {
		delete(o.values, name)
	}
	switch o.set {
	case "Parts":
		o.inside = modelInside{nav: "maker", of: []*operation{create("Makers")}}
	case "Replies":
		o.inside = modelInside{nav: "note", of: []*operation{create("Notes")}}
	case "Makers":
		o.inside = modelInside{nav: "parts", many: true}
		for range g.IntN(3) {
			part := create("Parts")
			if g.IntN(3) == 0 {
				part = &operation{set: "Parts", key: []string{g.value(m, "code")}}
			}
			part.inside = modelInside{} // its maker is the one above
			o.inside.of = append(o.inside.of, part)
		}
	case "Teams", "Badges":
		o.inside = modelInside{nav: "badges", many: true}
		other := m.sets["Badges"]
		if o.set == "Badges" {
			o.inside.nav, other = "teams", m.sets["Teams"]
		}
		for range g.IntN(3) {
			in := create(other.name)
			if g.IntN(2) == 0 {
				in = &operation{set: other.name, key: []string{g.valueOf(m, other, other.key[0])}}
			}
			o.inside.of = append(o.inside.of, in)
		}
	}
}

// bindMany lets the body of a creation or a change bind rows by a property to many.
func (g writes) bindMany(m *model, o *operation) {
	to := map[string]string{"Makers": "Parts", "Teams": "Badges", "Badges": "Teams"}[o.set]
	if to == "" {
		return
	}
	o.inside = modelInside{nav: strings.ToLower(to), many: true, bound: true}
	s := m.sets[to]
	for range 1 + g.IntN(2) {
		o.inside.of = append(o.inside.of, &operation{set: to, key: []string{g.valueOf(m, s, s.key[0])}})
	}
}

// inside is the member of a body that has entities.
func (e *written) inside(o *operation, m *model) string {
	var list []string
	for _, in := range o.inside.of {
		if o.inside.bound {
			list = append(list, `"`+e.target(in, m.sets[in.set])+`"`)
			continue
		}
		if in.key != nil {
			list = append(list, `{"@odata.id":"`+e.target(in, m.sets[in.set])+`"}`)
			continue
		}
		list = append(list, e.body(in, m))
	}
	text := strings.Join(list, ",")
	if o.inside.many {
		text = "[" + text + "]"
	}
	if o.inside.bound {
		return `"` + o.inside.nav + `@odata.bind":` + text
	}
	return `"` + o.inside.nav + `":` + text
}

// learnInside notes the number of a maker that was created for a part. body is that of the answer, where there is one.
func (e *written) learnInside(o *operation, body []byte, user int) {
	if o.inside.nav != "maker" {
		return
	}
	if len(body) == 0 {
		part := e.target(&operation{set: "Parts", key: []string{o.values["code"]}}, &modelSet{key: []string{"code"}})
		body = e.send(http.MethodGet, part+"?$expand=maker", "", user).Body.Bytes()
	}
	var row struct {
		Maker struct {
			ID json.Number `json:"id"`
		} `json:"maker"`
	}
	if json.Unmarshal(body, &row) == nil {
		e.numbers["Makers"][o.inside.maker] = row.Maker.ID.String()
	}
}
