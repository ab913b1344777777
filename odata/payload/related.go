package payload

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
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
		t, err := s.token()
		if err == nil && t.kind != text {
			err = s.relatedFault(&of, "needs an address")
		}
		of.IDs = append(of.IDs, string(t.text))
		return err
	})
	s.out.Related = append(s.out.Related, of)
	return err
}

// each visits the value of a navigation property, or its elements, with the place that each of them has.
func (s *bodyScan) each(of *Related, what string, visit func(at string) error) error {
	s.blank()
	switch c := s.peek(); {
	case !of.Nav.Collection && c == 'n':
		t, err := s.token()
		of.Null = t.kind == nothing
		return err
	case !of.Nav.Collection && c == '[':
		return s.relatedFault(of, "needs "+what)
	case !of.Nav.Collection:
		return s.counted(func() error { return visit(of.Path + "/") })
	case c != '[':
		return s.relatedFault(of, "needs an array")
	}
	s.at++
	if s.blank(); s.peek() == ']' {
		s.at++
		return nil
	}
	for i := 0; ; i++ {
		if err := s.counted(func() error { return visit(of.Path + "/" + strconv.Itoa(i) + "/") }); err != nil {
			return err
		}
		s.blank()
		switch s.peek() {
		case ',':
			s.at++
		case ']':
			s.at++
			return nil
		default:
			return s.fault(s.at, "a comma or the end of the array is missing")
		}
	}
}

// counted reads an entity or an address, unless there are too many of them.
func (s *bodyScan) counted(read func() error) error {
	if s.entities++; s.entities > MaxEntities {
		return &BodyError{Pos: s.at, Message: fmt.Sprintf("the body has more than %d entities and addresses", MaxEntities), TooMany: true}
	}
	return read()
}

// nested reads an entity inside of another one.
func (s *bodyScan) nested(t *edm.EntityType, at string) (*Body, error) {
	if s.depth++; s.depth > maxBodyDepth {
		return nil, s.fault(s.at, "the body nests too deep")
	}
	around, entity := s.out, &Body{Path: at}
	s.out = entity
	err := s.object(structure{name: t.Name, properties: t.Properties, entity: t}, nil)
	s.out = around
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
		return "", err
	}
	err = s.members(func(name string, pos int) error {
		base, term, annotated := strings.Cut(name, "@")
		switch {
		case !annotated:
			return s.fault(pos, fmt.Sprintf("a reference has an address in @odata.id, and not %.80q", name))
		case base != "" || strings.TrimPrefix(term, "odata.") != "id":
			return s.skip(0)
		}
		t, err := s.token()
		if err == nil && t.kind != text {
			err = s.fault(pos, "an address is a text")
		}
		s.out.ID = string(t.text)
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && s.out.ID == "" {
		err = s.fault(0, "the address in @odata.id is missing")
	}
	return s.out.ID, err
}
