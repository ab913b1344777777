package payload

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/jsontext"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Body holds an entity in the body of a request to write.
type Body struct {
	// Values are the properties, in the order of the body. No path is there twice, and none ends at a complex property.
	Values []write.Assignment
	// Tag is the entity tag in the body, quotes included; empty for none.
	Tag string
	// ID is the address in the control information id; empty for none.
	ID string
	// Path is the place of the entity in the body, such as "Items/0/"; empty for the outermost one.
	Path string
	// Related are the navigation properties that the body has entities or references for.
	Related []Related
}

// Related is a navigation property in a body. One may be there twice: with entities, and with references.
type Related struct {
	Nav *edm.Navigation
	// Pos is the byte offset of the name, Path the path of the property from the outermost entity on, such as "Items/0/Product".
	Pos  int
	Path string
	// Bound reports that the property has addresses, by the annotation bind, and Delta that it has changes of a collection, which
	// were not read. Else it has entities.
	Bound, Delta bool
	// Null reports that it has null: no entity, of a property to one.
	Null     bool
	Entities []*Body
	IDs      []string
}

// MaxEntities is how many entities and addresses a body may have at most.
const MaxEntities = 1000

// BodyError is a fault of a body. Its message is for the client.
type BodyError struct {
	// Path is the property at fault, such as "home/city"; empty for none.
	Path string
	// Pos is the byte offset in the body; -1 for a plain value.
	Pos     int
	Message string
	// TooMany reports that the body has more than MaxEntities.
	TooMany bool
}

// Error is the message with its place.
func (e *BodyError) Error() string {
	if e.Pos < 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (at byte %d of the body)", e.Message, e.Pos)
}

// WithoutValue returns the message without the value that it may quote, for logs.
func (e *BodyError) WithoutValue() string {
	what, _, _ := strings.Cut(e.Message, quotes)
	return what
}

// maxBodyDepth bounds how deep the objects and arrays of a body nest.
const maxBodyDepth = 32

// BodyReader reads bodies against a model (OData-JSON 4.0 and 4.01). Control information may have the prefix "odata." or
// not. Annotations without a meaning for writing are skipped.
type BodyReader struct {
	// Namespace is that of the model.
	Namespace string
}

// bodyScan is a body while it is read.
type bodyScan struct {
	jsontext.Scanner
	namespace string
	out       *Body
	// entities counts those that were read, and addresses; depth is how deep the entity is that is read.
	entities, depth int
	// capacity is that of the values of an entity at first. They are parts of block.
	capacity int
	block    []write.Assignment
}

// Entity reads the object of an entity. The fault is a *BodyError.
func (r BodyReader) Entity(body []byte, t *edm.EntityType) (*Body, error) {
	s, err := r.scan(body)
	if err == nil {
		s.capacity = capacityOf(t)
		err = s.object(structure{name: t.Name, properties: t.Properties, entity: t}, nil)
	}
	return s.read(err)
}

// capacityOf is how many values an entity is likely to have at most, those that are not in the body included.
func capacityOf(t *edm.EntityType) int { return min(len(t.Properties), 16) }

// read returns the body that was read to its end.
func (s *bodyScan) read(err error) (*Body, error) {
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, bodyError(err)
	}
	return s.out, nil
}

// bodyError returns the fault of a text as a *BodyError.
func bodyError(err error) error {
	if f, ok := errors.AsType[*jsontext.Fault](err); ok {
		return &BodyError{Pos: f.Pos, Message: f.Message}
	}
	return err
}

func (s *bodyScan) fault(pos int, what string) error { return &BodyError{Pos: pos, Message: what} }

// Property reads the body for one property, at the end of a path: an object with the member value, or the object of a complex
// value. The fault is a *BodyError.
func (r BodyReader) Property(body []byte, path []*edm.Property) (*Body, error) {
	s, err := r.scan(body)
	switch p := path[len(path)-1]; {
	case err != nil:
	case p.Type.Kind == edm.Complex:
		err = s.object(structure{name: p.Type.Complex.Name, properties: p.Type.Complex.Properties}, path)
	default:
		err = s.wrapped(path)
	}
	return s.read(err)
}

func (r BodyReader) scan(body []byte) (*bodyScan, error) {
	s := &bodyScan{Scanner: jsontext.Scanner{Text: body}, namespace: r.Namespace, out: &Body{}}
	return s, s.Valid()
}

// Value reads the plain value of a property ($value). The fault is a *BodyError.
func (r BodyReader) Value(body []byte, path []*edm.Property) (*Body, error) {
	p := path[len(path)-1]
	s := &bodyScan{Scanner: jsontext.Scanner{Text: body}, out: &Body{}}
	if p.Type.Kind == edm.Binary {
		v := plan.Value{Bytes: body}
		if what := scalar.Misfit(v.Bytes, &p.Type); what != "" {
			return nil, s.wrong(path, -1, what)
		}
		s.out.Values = []write.Assignment{{Path: path, Value: v}}
		return s.out, nil
	}
	if err := s.Valid(); err != nil {
		return nil, bodyError(err)
	}
	v, what := plainValue(body, &p.Type)
	if what != "" {
		return nil, s.wrong(path, -1, what)
	}
	s.out.Values = []write.Assignment{{Path: path, Value: v}}
	return s.out, nil
}

// structure is the type of an object.
type structure struct {
	name       string
	properties []*edm.Property
	entity     *edm.EntityType // nil for a complex type
}

// object reads the members of an object behind a path.
func (s *bodyScan) object(t structure, path []*edm.Property) error {
	if len(path) > maxBodyDepth {
		return s.fault(s.At, "the body nests too deep")
	}
	return s.members(func(member []byte, pos int) error {
		i := slices.IndexFunc(t.properties, func(p *edm.Property) bool { return p.Name == string(member) })
		if i >= 0 && len(path) == 0 {
			return s.property(t.properties[i : i+1 : i+1])
		} else if i >= 0 {
			return s.property(append(slices.Clone(path), t.properties[i]))
		}
		name := string(member)
		base, term, annotated := strings.Cut(name, "@")
		switch {
		case annotated && base == "":
			return s.control(t, strings.TrimPrefix(term, "odata."), pos)
		case annotated:
			return s.annotation(t, base, strings.TrimPrefix(term, "odata."), pos)
		}
		if t.entity != nil {
			if nav := t.entity.Nav(name); nav != nil {
				return s.related(nav, pos)
			}
		}
		return &BodyError{Path: s.out.Path + named(path, name), Pos: pos, Message: fmt.Sprintf("%s has no property %.80q", t.name, name)}
	})
}

// control reads control information of an object, and skips other annotations (OData-JSON 4.6).
func (s *bodyScan) control(t structure, term string, pos int) error {
	switch term {
	case "type":
		v, err := s.Token()
		if err != nil {
			return err
		}
		name := string(v.Text)
		if i := strings.LastIndexByte(name, '#'); i >= 0 {
			name = name[i+1:]
		}
		if v.Kind != jsontext.String || name != s.namespace+"."+t.name {
			return s.fault(pos, "the type of the object is "+s.namespace+"."+t.name)
		}
		return nil
	case "etag":
		v, err := s.Token()
		if err != nil {
			return err
		}
		if v.Kind != jsontext.String {
			return s.fault(pos, "an entity tag is a text")
		}
		if t.entity != nil {
			s.out.Tag = string(v.Text)
		}
		return nil
	case "id":
		v, err := s.Token()
		switch {
		case err != nil:
			return err
		case v.Kind == jsontext.Opening:
			return s.fault(pos, "an address is a text")
		case v.Kind == jsontext.String && t.entity != nil:
			s.out.ID = string(v.Text)
		}
		return nil
	case "removed", "delta":
		return s.fault(pos, "@"+term+" does not apply to this request")
	}
	return s.skip()
}

// annotation reads an annotation of a member, of which only those for navigation properties have a meaning for writing.
func (s *bodyScan) annotation(t structure, base, term string, pos int) error {
	isProperty := slices.ContainsFunc(t.properties, func(p *edm.Property) bool { return p.Name == base })
	var nav *edm.Navigation
	if t.entity != nil {
		nav = t.entity.Nav(base)
	}
	switch {
	case !isProperty && nav == nil:
		return s.fault(pos, fmt.Sprintf("%s has no property %.80q", t.name, base))
	case nav != nil && term == "bind":
		return s.bound(nav, pos)
	case nav != nil && term == "delta":
		s.out.Related = append(s.out.Related, Related{Nav: nav, Pos: pos, Path: s.out.Path + nav.Name, Delta: true})
	}
	return s.skip()
}

// property reads the value of a property.
func (s *bodyScan) property(path []*edm.Property) error {
	p := path[len(path)-1]
	if p.Type.Kind == edm.Stream {
		return s.skip()
	}
	next := s.Peek()
	pos := s.At
	if p.Type.Kind == edm.Complex {
		if next != '{' {
			return s.wrong(path, pos, "needs an object")
		}
		return s.object(structure{name: p.Type.Complex.Name, properties: p.Type.Complex.Properties}, path)
	}
	t, err := s.Token()
	if err != nil {
		return err
	}
	v, what := jsonValue(t, &p.Type)
	if what != "" {
		return s.wrong(path, pos, what)
	}
	if s.out.Values == nil {
		s.out.Values = s.room()
	}
	s.out.Values = append(s.out.Values, write.Assignment{Path: path, Value: v})
	return nil
}

// room returns a place for the values of an entity. Blocks are for as many entities as there were so far.
func (s *bodyScan) room() []write.Assignment {
	n := s.capacity
	if len(s.block) < n {
		s.block = make([]write.Assignment, n*min(s.entities+1, 64))
	}
	out := s.block[:0:n]
	s.block = s.block[n:]
	return out
}

// wrapped reads an object whose member value is that of a property (OData-JSON 11).
func (s *bodyScan) wrapped(path []*edm.Property) error {
	err := s.members(func(name []byte, pos int) error {
		switch {
		case string(name) == "value":
			return s.property(path)
		case bytes.IndexByte(name, '@') >= 0:
			return s.skip()
		}
		return s.fault(pos, fmt.Sprintf("the value of a property is in the member value, not in %.80q", name))
	})
	if err == nil && s.out.Values == nil {
		return s.fault(s.At, "the member value is missing")
	}
	return err
}

// wrong is the fault of a value.
func (s *bodyScan) wrong(path []*edm.Property, pos int, what string) error {
	name := s.out.Path + named(path[:len(path)-1], path[len(path)-1].Name)
	return &BodyError{Path: name, Pos: pos, Message: name + " " + what}
}

func named(path []*edm.Property, name string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString(p.Name + "/")
	}
	return b.String() + name
}

// members visits the members of an object; visit must read the value.
func (s *bodyScan) members(visit func(name []byte, pos int) error) error {
	return s.Object(shortName, visit)
}

// shortName is the shorter of the two spellings that control information has (OData-JSON 4.6).
func shortName(name []byte) []byte {
	if !bytes.Contains(name, []byte("@odata.")) {
		return name
	}
	return bytes.Replace(name, []byte("@odata."), []byte("@"), 1)
}

// skip passes over a value.
func (s *bodyScan) skip() error { return s.Skip(maxBodyDepth + 1) }
