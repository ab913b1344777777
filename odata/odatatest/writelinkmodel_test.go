package odatatest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// modelLink is the link that an operation writes. The operation itself is of the set whose rows hold the foreign key.
type modelLink struct {
	// bind is the navigation property to one that the body binds.
	bind string
	// inline reports that the body has an object with the address, and not @odata.bind.
	inline bool
	// path is the path of a request for a link: one of ownRef, collectionRef, memberRef, optionRef and below.
	path string
	// set is the set of the other end. key is the key there; nil for no row.
	set string
	key []string
	// name is the value of the unique property that the address has where it has no key.
	name string
	// request is the address of an earlier request of the group, which the address is then.
	request string
}

// The paths of requests for links between a part and its maker.
const (
	ownRef        = "Parts/maker/$ref"
	collectionRef = "Makers/parts/$ref"
	memberRef     = "Makers/parts()/$ref"
	optionRef     = "Makers/parts/$ref?$id="
	below         = "Makers/parts"
)

// end returns the key of the row at the other end; the number 77777 is in no row.
func (m *model) end(l modelLink) []string {
	if l.name == "" {
		return l.key
	}
	for _, r := range m.rows[l.set] {
		if r.values[m.sets[l.set].unique] == l.name {
			return []string{r.values[m.sets[l.set].key[0]]}
		}
	}
	return []string{"77777"}
}

// bound returns the values of an operation with the foreign key that its body binds.
func (m *model) bound(o *operation) map[string]string {
	values := maps.Clone(o.values)
	for i, name := range m.sets[o.set].link {
		values[name] = "null"
		if key := m.end(o.link); key != nil {
			values[name] = key[i]
		}
	}
	return values
}

// relink predicts the status of a request for a link, and makes it.
func (m *model) relink(o *operation, user int) int {
	makers, parts := m.sets["Makers"], m.sets["Parts"]
	maker := m.end(o.link)
	missing := m.find(makers, maker, user) < 0
	if o.link.path == below {
		given, ok := o.values["maker_id"]
		switch {
		case missing:
			return 404
		case ok && given != maker[0]:
			return 400
		}
		values := maps.Clone(o.values)
		values["maker_id"] = maker[0]
		return m.post("Parts", values, user)
	}
	at := m.find(parts, o.key, user)
	switch {
	case o.link.path == ownRef && at < 0, o.link.path != ownRef && missing:
		return 404
	case at < 0 && o.method == http.MethodPost: // the precondition comes before the dead link
		return map[modelTag]int{noTag: 428, staleTag: 412, everyTag: 409}[o.tag]
	case o.method == http.MethodDelete:
		held := "null"
		if at >= 0 {
			held = m.rows["Parts"][at].values["maker_id"]
		}
		if held == "null" || o.link.path != ownRef && held != maker[0] {
			return 404
		}
		maker = []string{"null"}
	}
	if status := m.judge(parts, at, o.tag, user); status != 0 {
		return status
	}
	if o.method != http.MethodDelete && missing {
		return 409
	}
	values := m.rows["Parts"][at].values
	values["maker_id"], values["changed"] = maker[0], modelNow
	return 204
}

// link lets some operations write links.
func (g writes) link(m *model, o *operation) {
	maker := modelLink{set: "Makers", key: []string{g.value(m, "id")}}
	if g.IntN(4) == 0 {
		maker.name = g.value(m, "name")
	}
	if maker.name == "null" {
		maker.name = ""
	}
	switch {
	case o.set == "Parts" && o.method == http.MethodPost && g.IntN(4) == 0:
		o.link, o.link.path = maker, below
	case o.set == "Parts" && g.IntN(3) == 0:
		o.values, o.link = map[string]string{}, maker
		o.link.path = g.one(ownRef, collectionRef)
		o.method = map[string]string{ownRef: http.MethodPut, collectionRef: http.MethodPost}[o.link.path]
		if o.key == nil {
			o.key = []string{g.value(m, "code")}
		}
		if g.IntN(2) == 0 {
			o.method, o.link.path = http.MethodDelete, g.one(ownRef, memberRef, optionRef)
		}
	case o.method == http.MethodDelete || g.IntN(3) > 0:
	case o.set == "Parts":
		o.link, o.link.bind = maker, "maker"
	case o.set == "Replies":
		o.link = modelLink{bind: "note", set: "Notes", key: []string{g.value(m, "book"), g.value(m, "page")}}
	}
	if o.link.bind == "" {
		return
	}
	o.link.inline = o.method == http.MethodPost && g.IntN(2) == 0
	for _, name := range m.sets[o.set].link {
		delete(o.values, name)
	}
	if g.IntN(6) == 0 {
		o.link.key, o.link.name = nil, ""
	}
}

// key returns the key of the last row of a set.
func (m *model) key(set string) []string {
	var key []string
	if rows := m.rows[set]; len(rows) > 0 {
		for _, k := range m.sets[set].key {
			key = append(key, rows[len(rows)-1].values[k])
		}
	}
	return key
}

// member makes an operation of a group, most often one that does not fail: else few groups would change anything. Numbers are of
// rows that m has given, since those of the same group have none yet.
func (g writes) member(m, after *model, user int, list []*operation, made [][]string) *operation {
	for tries := g.IntN(12); ; tries-- {
		o := g.operation(m)
		o.minimal = false
		if g.refer(o, list, made); tries <= 0 || o.apply(after.clone(), user) < 300 {
			return o
		}
	}
}

// refer lets some operations of a group name the row that an earlier one of it creates. made are the last rows behind each.
func (g writes) refer(o *operation, list []*operation, made [][]string) {
	for i, earlier := range list[:len(made)] {
		if earlier.method != http.MethodPost || earlier.key != nil || g.IntN(4) == 0 {
			continue
		}
		request := "$" + number(i)
		switch {
		case o.link.key != nil && o.link.set == earlier.set && o.link.name == "":
			o.link.key, o.link.request = made[i], request
		case o.key != nil && o.set == earlier.set && o.link.path != memberRef && o.link.path != optionRef:
			o.key, o.request = made[i], request
		}
	}
}

// address is that of the row at the other end of a link for the engine.
func (e *written) address(l modelLink) string {
	literal := func(text string) string {
		var value string
		_ = json.Unmarshal([]byte(text), &value) // the generator writes texts alone
		return url.PathEscape("'" + strings.ReplaceAll(value, "'", "''") + "'")
	}
	switch {
	case l.request != "":
		return l.request
	case l.name != "":
		return l.set + "(name=" + literal(l.name) + ")"
	case l.set == "Makers":
		return "Makers(" + e.own("Makers", l.key[0]) + ")"
	}
	return l.set + "(book=" + literal(l.key[0]) + ",page=" + l.key[1] + ")"
}

// reference is the JSON text of the address in a body.
func (e *written) reference(l modelLink) string {
	if l.key == nil {
		return "null"
	}
	return `"` + e.address(l) + `"`
}

// bound is the member of a body that links a row by a property to one.
func (e *written) bound(l modelLink) string {
	text := e.reference(l)
	switch {
	case !l.inline:
		return `"` + l.bind + `@odata.bind":` + text
	case l.key != nil:
		text = `{"@odata.id":` + text + "}"
	}
	return `"` + l.bind + `":` + text
}

// path is the path of an operation for the engine.
func (e *written) path(o *operation, m *model) string {
	s := m.sets[o.set]
	if o.between.path != "" {
		return e.pathBetween(o, m)
	}
	switch o.link.path {
	case ownRef:
		return e.target(o, s) + "/maker/$ref"
	case collectionRef:
		return e.address(o.link) + "/parts/$ref"
	case memberRef:
		return e.address(o.link) + "/parts" + strings.TrimPrefix(e.target(o, s), "Parts") + "/$ref"
	case optionRef:
		return e.address(o.link) + "/parts/$ref?$id=" + e.target(o, s)
	case below:
		return e.address(o.link) + "/parts"
	}
	return e.target(o, s)
}
