package odata

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// ask asks rules about the proposals, and gives the requests what they say: values, or a refusal in writer.against. again reports that rules
// have to see more than they did: they have amended a row that a later change is about. The error is that of all requests together.
func (a *asking) ask() (again bool, err error) {
	size := 0
	for i, p := range a.proposals {
		if size += len(p.Set) + len(p.Key) + len(p.Old) + len(p.New); size > MaxProposed {
			a.steps[i].by.against = &fault{
				status: http.StatusRequestEntityTooLarge, code: "request_too_large", pos: -1, limit: fixedLimit,
				message: fmt.Sprintf("the rows that rules have to judge are longer than %d bytes, which is a fixed limit", MaxProposed),
			}
			return false, nil
		}
	}
	q := a.steps[0].by.q
	verdict, err := a.opts.Validate(q.ctx, q.caller, a.proposals)
	if busy, ok := errors.AsType[*Busy](err); ok {
		a.steps[0].by.against = busy.fault(fmt.Sprintf("too many changes are judged by rules at once: %s is %d; try again later", busy.Limit, busy.Allowed), err)
		return false, nil
	}
	if err != nil {
		a.steps[0].by.against = unjudged(err)
		return false, nil
	}
	if a.refuse(verdict.Refused) {
		return false, nil
	}
	if again, err = a.amend(verdict.Amended); again || err != nil {
		return again, err
	}
	for _, s := range a.steps {
		s.by.seen = append(s.by.seen, s.seen)
	}
	return false, nil
}

// refuse makes the faults of the requests that rules refuse. It reports false where there are none.
func (a *asking) refuse(list []Objection) bool {
	for _, o := range list {
		what := ""
		switch {
		case o.Change < 0 || o.Change >= len(a.steps):
			what = "there is no such change"
		case o.Property != "" && pathOf(a.steps[o.Change].change.Set, o.Property) == nil:
			what = "there is no such property"
		}
		if what != "" {
			a.broken(o.Change, o.Property, what)
			return true
		}
	}
	for _, o := range list {
		r := a.steps[o.Change].by
		if r.against == nil {
			r.against = &fault{status: http.StatusUnprocessableEntity, code: codeRefused, pos: -1, message: o.Message}
		} else {
			r.against.message = severalRefused
		}
		at := o.Property
		if a.hidden(o.Change, at) {
			at = ""
		}
		r.against.details = append(r.against.details, detail{a.place(o.Change, at), codeRefused, o.Message})
	}
	return len(list) > 0
}

// codeRefused is the code of 422 for a change that rules refuse.
const codeRefused = "refused"

const severalRefused = "rules of the application refuse the change"

// hidden reports whether rules see a property that does not exist for clients.
func (a *asking) hidden(change int, property string) bool {
	set := a.steps[change].change.Set
	path := pathOf(set, property)
	return path != nil && slices.Contains(set.Type.Hidden, path[0])
}

// place names a property of a change by its place in the body.
func (a *asking) place(change int, property string) string {
	w := a.steps[change].w
	switch {
	case w.Reference != "" && property != "":
		return w.Reference + "/" + property
	case w.Reference != "":
		return w.Reference
	case property == "":
		return strings.TrimSuffix(w.Path, "/")
	}
	return w.Path + property
}

// unjudged is the fault of changes that rules have given no verdict about.
func unjudged(why error) *fault {
	return &fault{status: http.StatusServiceUnavailable, code: "unavailable", pos: -1, message: "the rules for this change cannot be asked; nothing was written", cause: why}
}

// broken refuses a request because of a verdict that does not keep to the contract. The log names rules, change and property.
func (a *asking) broken(change int, property, what string) {
	for _, s := range a.steps {
		s.by.against = nil
	}
	if change < 0 || change >= len(a.steps) {
		a.steps[0].by.against = unjudged(fmt.Errorf("the verdict about change %d, property %q: %s", change, property, what))
		return
	}
	p := a.proposals[change]
	a.steps[change].by.against = unjudged(fmt.Errorf("validator %q broke the contract: change %d, the %s of %s(%s), property %q: %s",
		a.steps[change].change.Set.Write.Validator, change, p.Kind, p.Set, p.Key, property, what))
}

// amend binds the requests again that have values which rules have given. Each value must be one that a client could have sent. See ask.
func (a *asking) amend(list []Amendment) (again bool, err error) {
	last := map[*writer]Amendment{}
	for _, m := range list {
		values, what := a.values(m)
		if what != "" {
			a.broken(m.Change, m.Property, what)
			return false, nil
		}
		s := a.steps[m.Change]
		if values = slices.DeleteFunc(values, s.has); len(values) == 0 {
			continue
		}
		later := func(b *step) bool { return b.row == s.row }
		if again = again || slices.ContainsFunc(a.steps[m.Change+1:], later); again && a.round == maxAsked {
			a.broken(m.Change, m.Property, "the amendments of a row that is changed twice do not come to rest")
			return false, nil
		}
		if last[s.by] = m; s.by.amended == nil {
			s.by.amended = map[string][]write.Assignment{}
		}
		of := s.by.amended
		for _, v := range values {
			of[s.w.Place] = append(slices.DeleteFunc(of[s.w.Place], func(b write.Assignment) bool { return slices.Equal(b.Path, v.Path) }), v)
		}
	}
	for i := 0; i < len(a.steps); {
		r, n := a.steps[i].by, 1
		for i+n < len(a.steps) && a.steps[i+n].by == r {
			n++
		}
		if m, ok := last[r]; ok {
			what, err := a.amended(r, a.steps[i:i+n])
			if err != nil {
				return false, err
			}
			if what != "" {
				a.broken(m.Change, m.Property, what)
				return false, nil
			}
		}
		i += n
	}
	return again, nil
}

// amended binds a request with the values that rules have given. steps are those of its changes that are judged. It says what is wrong
// with the values.
func (a *asking) amended(r *writer, steps []*step) (what string, err error) {
	before := r.seq
	a.by = r
	r.seq, err = r.bind(a.c)
	switch f, isFault := errors.AsType[*fault](err); {
	case isFault && f.status < http.StatusInternalServerError:
		return "the amendments do not fit: " + f.message, nil
	case err != nil:
		return "", err
	case len(r.seq.Steps) != len(before.Steps):
		return "the amendments make another request", nil
	}
	i := 0
	for _, w := range r.seq.Steps {
		if !w.Judged() || i == len(steps) || w.Place != steps[i].w.Place { // rules have not seen it
			continue
		}
		ch, err := w.Ready(a)
		if w.Released() != nil && (err != nil || ch == nil) {
			return "", r.moved(a.c) // others have unlinked the row meanwhile
		}
		if err != nil || ch == nil {
			return "the amendments contradict a link", nil //nolint:nilerr // it is the fault of the rules
		}
		s := steps[i]
		if !s.alike(ch, r.amended[w.Place]) {
			return "", r.moved(a.c)
		}
		with := *ch
		with.Key, s.change = s.change.Key, &with
		i++
	}
	return "", nil
}

// values reads the value of an amendment, and says what is wrong with it.
func (a *asking) values(m Amendment) (values []write.Assignment, what string) {
	if m.Change < 0 || m.Change >= len(a.steps) {
		return nil, "there is no such change"
	}
	ch := a.steps[m.Change].change
	path := pathOf(ch.Set, m.Property)
	switch {
	case path == nil:
		return nil, "there is no such property"
	case ch.Kind == write.Delete:
		return nil, "a delete has nothing to amend"
	case !json.Valid(m.Value):
		return nil, "the value is not JSON"
	}
	text := []byte(m.Value)
	if path[len(path)-1].Type.Kind != edm.Complex {
		text = slices.Concat([]byte(`{"value":`), text, []byte("}"))
	}
	body, err := a.writing.body.Property(text, path)
	if bad, ok := errors.AsType[*payload.BodyError](err); ok {
		return nil, bad.WithoutValue() // which may be a secret
	}
	if err != nil {
		return nil, err.Error()
	}
	for _, v := range body.Values {
		access := ch.Set.Access(v.Path...)
		switch {
		case ch.Set.Type.IsKey(v.Path[0]):
			return nil, "no key can be amended"
		case access == edm.Computed, access == edm.Immutable && ch.Kind != write.Create:
			return nil, "it may not be written"
		case a.steps[m.Change].w.Links(v.Path):
			return nil, "a link of the request gives it its value"
		case v.Value.Null && !v.Path[len(v.Path)-1].Nullable:
			return nil, "it cannot be null"
		}
	}
	return body.Values, ""
}

// pathOf finds the property at a path such as "address/city" among those that rules see; nil where there is none.
func pathOf(set *edm.EntitySet, name string) []*edm.Property {
	in := slices.Concat(set.Type.Properties, set.Type.Hidden)
	var path []*edm.Property
	for part := range strings.SplitSeq(name, "/") {
		i := slices.IndexFunc(in, func(p *edm.Property) bool { return p.Name == part })
		if i < 0 {
			return nil
		}
		path, in = append(path, in[i]), nil
		if last := path[len(path)-1]; last.Type.Kind == edm.Complex {
			in = last.Type.Complex.Properties
		}
	}
	written := func(g edm.Given) bool { return slices.Equal(g.Path, path) }
	if slices.Contains(set.Type.Hidden, path[0]) && !slices.ContainsFunc(set.Write.Set, written) {
		return nil
	}
	return path
}
