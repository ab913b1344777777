package payload

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/jsontext"
)

// related reads the entities of a navigation property: an object or null for a property to one, an array of objects
// for one to many.
func (s *bodyScan) related(nav *edm.Navigation, pos int) error {
	of := Related{Nav: nav, Pos: pos, Path: s.out.Path + nav.Name}
	err := s.each(&of, "an object", func(at string) error {
		entity, err := s.nested(nav.Target.Type, at)
		of.Entities = append(of.Entities, entity)
		return err
	})
	s.out.Related = append(s.out.Related, of)
	return err
}

// bound reads the addresses of a navigation property (OData-JSON 4.0, 8.5).
func (s *bodyScan) bound(nav *edm.Navigation, pos int) error {
	of := Related{Nav: nav, Pos: pos, Path: s.out.Path + nav.Name, Bound: true}
	err := s.each(&of, "an address", func(string) error {
		t, err := s.Token()
		if err == nil && t.Kind != jsontext.String {
			err = s.relatedFault(&of, "needs an address")
		}
		of.IDs = append(of.IDs, string(t.Text))
		return err
	})
	s.out.Related = append(s.out.Related, of)
	return err
}

// each visits the value of a navigation property, or its elements, with the place that each of them has.
func (s *bodyScan) each(of *Related, what string, visit func(at string) error) error {
	switch c := s.Peek(); {
	case !of.Nav.Collection && c == 'n':
		t, err := s.Token()
		of.Null = t.Kind == jsontext.Null
		return err
	case !of.Nav.Collection && c == '[':
		return s.relatedFault(of, "needs "+what)
	case !of.Nav.Collection:
		return s.counted(func() error { return visit(of.Path + "/") })
	case c != '[':
		return s.relatedFault(of, "needs an array")
	}
	return s.Array(func(i int) error {
		return s.counted(func() error { return visit(of.Path + "/" + strconv.Itoa(i) + "/") })
	})
}

// counted reads an entity or an address, unless there are too many of them.
func (s *bodyScan) counted(read func() error) error {
	if s.entities++; s.entities > MaxEntities {
		return &BodyError{Pos: s.At, Message: fmt.Sprintf("the body has more than %d entities and addresses", MaxEntities), TooMany: true}
	}
	return read()
}

// nested reads an entity inside of another one.
func (s *bodyScan) nested(t *edm.EntityType, at string) (*Body, error) {
	if s.depth++; s.depth > maxBodyDepth {
		return nil, s.fault(s.At, "the body nests too deep")
	}
	around, capacity, entity := s.out, s.capacity, &Body{Path: at}
	s.out, s.capacity = entity, capacityOf(t)
	err := s.object(structure{name: t.Name, properties: t.Properties, entity: t}, nil)
	s.out, s.capacity = around, capacity
	s.depth--
	return entity, err
}

func (s *bodyScan) relatedFault(of *Related, what string) error {
	return &BodyError{Path: of.Path, Pos: of.Pos, Message: of.Path + " " + what}
}

// Reference reads the body of a request to $ref, and returns the address in it (OData-JSON 4.0, 14). The fault is a *BodyError.
func (r BodyReader) Reference(body []byte) (string, error) {
	s, err := r.scan(body)
	if err != nil {
		return "", bodyError(err)
	}
	err = s.members(func(member []byte, pos int) error {
		name := string(member)
		base, term, annotated := strings.Cut(name, "@")
		switch {
		case !annotated:
			return s.fault(pos, fmt.Sprintf("a reference has an address in @odata.id, and not %.80q", name))
		case base != "" || strings.TrimPrefix(term, "odata.") != "id":
			return s.skip()
		}
		t, err := s.Token()
		if err == nil && t.Kind != jsontext.String {
			err = s.fault(pos, "an address is a text")
		}
		s.out.ID = string(t.Text)
		return err
	})
	if err == nil {
		err = s.End()
	}
	if err == nil && s.out.ID == "" {
		err = s.fault(0, "the address in @odata.id is missing")
	}
	return s.out.ID, bodyError(err)
}
