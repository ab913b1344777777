package odata

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// ask asks rules about the proposals. A refusal is the error.
func (a *asking) ask() (Verdict, error) {
	size := 0
	for _, p := range a.proposals {
		size += len(p.Set) + len(p.Key) + len(p.Old) + len(p.New)
	}
	if size > MaxProposed {
		return Verdict{}, &fault{
			status: http.StatusRequestEntityTooLarge, code: "request_too_large", pos: -1, limit: fixedLimit,
			message: fmt.Sprintf("the rows that rules have to judge are longer than %d bytes, which is a fixed limit", MaxProposed),
		}
	}
	verdict, err := a.opts.Validate(a.q.ctx, a.q.caller, a.proposals)
	if busy, ok := errors.AsType[*Busy](err); ok {
		return verdict, busy.fault(fmt.Sprintf("too many changes are judged by rules at once: %s is %d; try again later", busy.Limit, busy.Allowed), err)
	}
	if err != nil {
		return verdict, unjudged(err)
	}
	f := &fault{status: http.StatusUnprocessableEntity, code: codeRefused, pos: -1, message: "a rule of the application refuses the change"}
	for _, o := range verdict.Refused {
		if o.Change < 0 || o.Change >= len(a.steps) {
			return verdict, a.broken(o.Change, o.Property, "there is no such change")
		}
		if o.Property != "" && pathOf(a.steps[o.Change].Change.Set, o.Property) == nil {
			return verdict, a.broken(o.Change, o.Property, "there is no such property")
		}
		at := o.Property
		if a.hidden(o.Change, at) {
			at = ""
		}
		f.details = append(f.details, detail{a.place(o.Change, at), codeRefused, o.Message})
	}
	if f.details != nil {
		if len(f.details) == 1 {
			f.message = f.details[0].message
		}
		return verdict, f
	}
	return verdict, nil
}

// codeRefused is the code of 422 for a change that rules refuse.
const codeRefused = "refused"

// hidden reports whether rules see a property that does not exist for clients.
func (a *asking) hidden(change int, property string) bool {
	set := a.steps[change].Change.Set
	path := pathOf(set, property)
	return path != nil && slices.Contains(set.Type.Hidden, path[0])
}

// place names a property of a change by its place in the body.
func (a *asking) place(change int, property string) string {
	w := a.steps[change]
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

// broken is the fault of a verdict that does not keep to the contract. The log names rules, change and property.
func (a *asking) broken(change int, property, what string) *fault {
	if change < 0 || change >= len(a.steps) {
		return unjudged(fmt.Errorf("the verdict about change %d, property %q: %s", change, property, what))
	}
	p := a.proposals[change]
	return unjudged(fmt.Errorf("validator %q broke the contract: change %d, the %s of %s(%s), property %q: %s",
		a.steps[change].Change.Set.Write.Validator, change, p.Kind, p.Set, p.Key, property, what))
}

// amend binds the request again with the values that rules have given, and returns its changes. Each value must be one that a client
// could have sent.
func (a *asking) amend(c *changes, before *bind.Sequence, list []Amendment) (*bind.Sequence, error) {
	a.amended = map[string][]write.Assignment{}
	for _, m := range list {
		values, what := a.values(m)
		if what != "" {
			return nil, a.broken(m.Change, m.Property, what)
		}
		place := a.steps[m.Change].Place
		for _, v := range values {
			a.amended[place] = append(slices.DeleteFunc(a.amended[place], func(b write.Assignment) bool { return slices.Equal(b.Path, v.Path) }), v)
		}
	}
	seq, err := a.bind(c)
	last := list[len(list)-1]
	switch f, isFault := errors.AsType[*fault](err); {
	case isFault && f.status < http.StatusInternalServerError:
		return nil, a.broken(last.Change, last.Property, "the amendments do not fit: "+f.message)
	case err != nil:
		return nil, err
	case len(seq.Steps) != len(before.Steps):
		return nil, a.broken(last.Change, last.Property, "the amendments make another request")
	}
	i := 0
	for _, w := range seq.Steps {
		if !w.Judged() {
			continue
		}
		ch, err := w.Ready(a)
		if err != nil || ch == nil {
			return nil, a.broken(last.Change, last.Property, "the amendments contradict a link")
		}
		if !a.seen[i].alike(ch, a.amended[w.Place]) {
			return nil, c.moved()
		}
		with := *ch
		with.Key = a.seen[i].change.Key
		a.seen[i].change = &with
		i++
	}
	return seq, nil
}

// values reads the value of an amendment, and says what is wrong with it.
func (a *asking) values(m Amendment) (values []write.Assignment, what string) {
	if m.Change < 0 || m.Change >= len(a.steps) {
		return nil, "there is no such change"
	}
	ch := a.steps[m.Change].Change
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
		case a.steps[m.Change].Links(v.Path):
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
