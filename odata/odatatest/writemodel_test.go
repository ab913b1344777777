package odatatest_test

import (
	"maps"
	"slices"
	"strings"
)

// modelSet is a set of WriteMapping: the properties in their order, and the rules.
type modelSet struct {
	name string
	// props are all that clients see; those with "!" behind the name may not be null, those with "=TEXT" have a default.
	props []string
	key   []string
	// auto is the key that the service gives.
	auto string
	// unique are the sets of properties that differ, key is not among them.
	unique string
	// fixed are ignored in changes, given in every write.
	fixed, given []string
	// version counts changes.
	version string
	// policy reports whether a person sees a row, filter whether they may write it. Nil for everybody.
	policy, filter func(modelRow, int) bool
	// link are the properties that name a row of the set to, by its key; foreign reports that the database knows of it.
	link    []string
	to      string
	foreign bool
	create  bool
	update  bool
}

// modelRow is a row: JSON texts by property, and who it belongs to.
type modelRow struct {
	values map[string]string
	owner  int
}

// model is the tables of WriteTables as simply as can be.
type model struct {
	sets map[string]*modelSet
	rows map[string][]modelRow
	// next are the numbers that rows get. They are the model's own: each engine has others.
	next map[string]int
	// links are those of teams and badges, by their keys.
	links [][2]string
}

func newModel() *model {
	own := func(r modelRow, user int) bool { return r.owner == user }
	m := &model{sets: map[string]*modelSet{}, rows: map[string][]modelRow{}, next: map[string]int{"Makers": 4, "Replies": 2}}
	for _, s := range []*modelSet{
		{name: "Makers", props: []string{"id!", "name!", "country!=\"DE\"", "note"}, key: []string{"id"}, auto: "id", unique: "name", create: true, update: true},
		{
			name: "Parts", key: []string{"code"}, fixed: []string{"kind"}, given: []string{"changed"}, filter: own, link: []string{"maker_id"}, to: "Makers", foreign: true, create: true, update: true,
			props: []string{"code!", "title!", "price", "stock!=0", "kind", "maker_id", "changed", "remark", "unit"},
		},
		{
			name: "Notes", props: []string{"book!", "page!", "text", "open!", "version!"}, key: []string{"book", "page"}, version: "version", policy: own,
			filter: func(r modelRow, _ int) bool { return r.values["open"] == "true" }, create: true, update: true,
		},
		{name: "Teams", props: []string{"id!", "name!", "city"}, key: []string{"id"}, unique: "name", create: true, update: true},
		{
			name: "Badges", props: []string{"code!", "title", "locked!"}, key: []string{"code"}, policy: own,
			filter: func(r modelRow, _ int) bool { return r.values["locked"] == "false" }, create: true, update: true,
		},
		{name: "Replies", props: []string{"id!", "book", "page", "text!"}, key: []string{"id"}, auto: "id", link: []string{"book", "page"}, to: "Notes", create: true},
	} {
		m.sets[s.name] = s
	}
	add := func(set string, owner int, values ...string) {
		r := modelRow{map[string]string{}, owner}
		for i, p := range m.sets[set].names() {
			r.values[p] = values[i]
		}
		m.rows[set] = append(m.rows[set], r)
	}
	add("Makers", 0, "1", `"Acme"`, `"DE"`, "null")
	add("Makers", 0, "2", `"Bolt"`, `"CH"`, `"second"`)
	add("Makers", 0, "3", `"Free"`, `"AT"`, "null")
	add("Parts", 1, `"A"`, `"Anvil"`, "10.5000", "3", `"tool"`, "1", "null", `"r"`, `"kg"`)
	add("Parts", 2, `"B"`, `"Bellows"`, "null", "0", "null", "null", "null", "null", "null")
	add("Notes", 1, `"x"`, "1", `"one"`, "true", "1")
	add("Notes", 1, `"x"`, "2", `"two"`, "false", "7")
	add("Notes", 2, `"y"`, "1", `"bob's"`, "true", "1")
	add("Replies", 0, "1", `"x"`, "1", `"reply"`)
	for i, name := range []string{`"Red"`, `"Blue"`, `"Green"`} {
		add("Teams", 0, `"`+number(i+1)+`"`, name, []string{`"Bern"`, "null", "null"}[i])
	}
	add("Badges", 1, `"gold"`, `"Gold"`, "false")
	add("Badges", 1, `"lead"`, `"Lead"`, "true")
	add("Badges", 2, `"bob"`, `"Bob's"`, "false")
	m.links = [][2]string{{`"1"`, `"lead"`}, {`"1"`, `"bob"`}}
	return m
}

// clone copies the rows, so that a group can be undone.
func (m *model) clone() *model {
	out := &model{sets: m.sets, rows: map[string][]modelRow{}, next: maps.Clone(m.next), links: slices.Clone(m.links)}
	for set, rows := range m.rows {
		for _, r := range rows {
			out.rows[set] = append(out.rows[set], modelRow{maps.Clone(r.values), r.owner})
		}
	}
	return out
}

// names are the names of the properties.
func (s *modelSet) names() []string {
	var out []string
	for _, p := range s.props {
		name, _, _ := strings.Cut(p, "=")
		out = append(out, strings.TrimSuffix(name, "!"))
	}
	return out
}

// standard returns what a property that is not given has, and whether it may be null.
func (s *modelSet) standard(name string) (value string, nullable bool) {
	for _, p := range s.props {
		if bare, text, _ := strings.Cut(p, "="); strings.TrimSuffix(bare, "!") == name {
			return text, !strings.HasSuffix(bare, "!")
		}
	}
	return "", false
}

// find returns the place of the row that a person sees by its key; -1 for none.
func (m *model) find(s *modelSet, key []string, user int) int {
	return slices.IndexFunc(m.rows[s.name], func(r modelRow) bool {
		for i, k := range s.key {
			if r.values[k] != key[i] {
				return false
			}
		}
		return s.policy == nil || s.policy(r, user)
	})
}

// modelNow is the text of the time of every request.
const modelNow = `"2024-06-01T12:00:00Z"`

// modelTag is a precondition: none, one that every row meets, or one that none does.
type modelTag int

const (
	noTag modelTag = iota
	everyTag
	staleTag
)

// post predicts the status of a creation, and makes it.
func (m *model) post(set string, values map[string]string, user int) int {
	s := m.sets[set]
	r := modelRow{map[string]string{}, user}
	invalid := false
	for _, name := range s.names() {
		standard, nullable := s.standard(name)
		value, given := values[name]
		switch {
		case name == s.auto:
			value = ""
		case name == s.version:
			value = "1"
		case slices.Contains(s.given, name):
			value = modelNow
		case !given && standard != "":
			value = standard
		case !given || value == "null":
			value, invalid = "null", invalid || !nullable
		}
		r.values[name] = value
	}
	_, open := values["open"]
	_, locked := values["locked"]
	if (open && set == "Notes" || locked && set == "Badges") && !s.filter(r, user) {
		return 403
	}
	switch {
	case invalid:
		return 422
	case m.taken(s, r, -1):
		return 409
	case m.dead(s, r, values, user):
		return 409
	}
	if s.auto != "" {
		r.values[s.auto] = number(m.next[set])
		m.next[set]++
	}
	m.rows[set] = append(m.rows[set], r)
	return 201
}

// taken reports whether another row than that at a place has the key, or a value that has to differ.
func (m *model) taken(s *modelSet, r modelRow, at int) bool {
	for i, other := range m.rows[s.name] {
		same := s.auto == ""
		for _, k := range s.key {
			same = same && other.values[k] == r.values[k]
		}
		if i != at && (same || s.unique != "" && other.values[s.unique] == r.values[s.unique]) {
			return true
		}
	}
	return false
}

// dead reports whether a link that was written names a row that is not there for the person.
func (m *model) dead(s *modelSet, r modelRow, written map[string]string, user int) bool {
	if written["unit"] == `"nope"` { // the only one of Units is "kg"
		return true
	}
	given := false
	key := make([]string, len(s.link))
	for i, p := range s.link {
		_, ok := written[p]
		given = given || ok
		if key[i] = r.values[p]; key[i] == "null" {
			return false
		}
	}
	return given && m.find(m.sets[s.to], key, user) < 0
}

// judge predicts the status of a change of a row before its values count; 0 where it may go on.
func (m *model) judge(s *modelSet, at int, tag modelTag, user int) int {
	switch {
	case at < 0 && tag == noTag:
		return 404
	case at < 0:
		return 412
	case tag == noTag:
		return 428
	case tag == staleTag:
		return 412
	case s.filter != nil && !s.filter(m.rows[s.name][at], user):
		return 403
	}
	return 0
}

// patch predicts the status of a change, and makes it.
func (m *model) patch(set string, key []string, values map[string]string, tag modelTag, user int) int {
	s := m.sets[set]
	at := m.find(s, key, user)
	if at < 0 && tag == noTag && s.auto == "" {
		created := maps.Clone(values)
		for i, k := range s.key {
			created[k] = key[i]
		}
		return m.post(set, created, user)
	}
	if status := m.judge(s, at, tag, user); status != 0 {
		return status
	}
	old := m.rows[set][at]
	r := modelRow{maps.Clone(old.values), old.owner}
	written := map[string]string{}
	invalid := false
	for name, value := range values {
		if slices.Contains(s.key, name) || slices.Contains(s.fixed, name) || slices.Contains(s.given, name) || name == s.version {
			continue
		}
		_, nullable := s.standard(name)
		invalid = invalid || value == "null" && !nullable
		r.values[name], written[name] = value, value
	}
	for _, name := range s.given {
		r.values[name] = modelNow
	}
	if s.version != "" {
		r.values[s.version] = number(numeric(r.values[s.version]) + 1)
	}
	switch {
	case s.filter != nil && !s.filter(r, user):
		return 403
	case invalid:
		return 422
	case m.taken(s, r, at), m.dead(s, r, written, user):
		return 409
	}
	m.rows[set][at] = r
	return 200
}

// remove predicts the status of a deletion, and makes it.
func (m *model) remove(set string, key []string, tag modelTag, user int) int {
	s := m.sets[set]
	at := m.find(s, key, user)
	if status := m.judge(s, at, tag, user); status != 0 {
		return status
	}
	if slices.ContainsFunc(m.links, func(l [2]string) bool { return set == "Teams" && l[0] == key[0] || set == "Badges" && l[1] == key[0] }) {
		return 409
	}
	for _, other := range m.sets {
		for _, r := range m.rows[other.name] {
			if other.foreign && other.to == set && r.values[other.link[0]] == key[0] {
				return 409
			}
		}
	}
	m.rows[set] = slices.Delete(m.rows[set], at, at+1)
	return 204
}

// list is the body of an answer without metadata that has all rows of a set that a person sees, in the order of the key.
func (m *model) list(set string, user int) string {
	s := m.sets[set]
	var rows []modelRow
	for _, r := range m.rows[set] {
		if s.policy == nil || s.policy(r, user) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b modelRow) int {
		for _, k := range s.key {
			x, y := a.values[k], b.values[k]
			if n := len(x) - len(y); n != 0 && x[0] != '"' {
				return n
			}
			if n := strings.Compare(strings.Trim(x, `"`), strings.Trim(y, `"`)); n != 0 {
				return n
			}
		}
		return 0
	})
	var b strings.Builder
	b.WriteString(`{"value":[`)
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, name := range s.names() {
			b.WriteString(map[bool]string{true: "{", false: ","}[j == 0] + `"` + name + `":` + r.values[name])
		}
		b.WriteByte('}')
	}
	return b.String() + "]}"
}
