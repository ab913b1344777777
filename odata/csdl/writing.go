package csdl

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// writing gives what clients may write in a set, or in a singleton, which is nothing.
func writing(s *edm.EntitySet) []annotation {
	w := s.Write
	if w == nil {
		w = &edm.Write{}
	}
	insert, update := record{{"Insertable", w.Create}}, record{{"Updatable", w.Update}}
	remove := record{{"Deletable", w.Delete}}
	if s.Upserts() {
		update = append(update, field{"Upsertable", true})
	}
	if s.Write != nil {
		p, navs := pathsOf(s), linksOf(s)
		insert = append(insert, listed("NonInsertableProperties", p.computed)...)
		insert = append(insert, listed("NonInsertableNavigationProperties", navs.shallow)...)
		insert = append(insert, listed("RequiredProperties", p.required)...)
		update = append(update, field{"FilterSegmentSupported", false})
		update = append(update, listed("NonUpdatableProperties", append(p.immutable, p.computed...))...)
		update = append(update, listed("NonUpdatableNavigationProperties", navs.kept)...)
		remove = append(remove, field{"FilterSegmentSupported", false})
		remove = append(remove, listed("NonDeletableNavigationProperties", navs.bound)...)
	}
	var out []annotation
	if !s.Single() {
		out = append(out, annotation{"Capabilities.InsertRestrictions", insert})
	}
	out = append(out, annotation{"Capabilities.UpdateRestrictions", update}, annotation{"Capabilities.DeleteRestrictions", remove})
	out = append(out, below(s)...)
	if s.Write == nil {
		return out
	}
	if w.Create && len(s.Type.Navigation) > 0 {
		deep := slices.ContainsFunc(s.Type.Navigation, s.DeepInserts)
		out = append(out, annotation{"Capabilities.DeepInsertSupport", record{{"Supported", deep}, {"ContentIDSupported", false}}})
	}
	tag := []any{} // an empty list hides how the tag is made
	if v := w.Version; v != nil && s.Type.Property(v.Name) == v {
		tag = append(tag, propertyPath(v.Name))
	}
	return append(out, annotation{"Core.OptimisticConcurrency", tag})
}

// linkPaths are the navigation properties of a set that refuse something: entities inside of a new one, other links, and the
// removal of a link.
type linkPaths struct{ shallow, kept, bound []any }

func linksOf(s *edm.EntitySet) (out linkPaths) {
	for _, n := range s.Type.Navigation {
		name := navigationPath(n.Name)
		if !s.DeepInserts(n) {
			out.shallow = append(out.shallow, name)
		}
		relinks := s.Relinks(n)
		if !relinks {
			out.kept = append(out.kept, name)
		}
		null := func(path []*edm.Property) bool { return path[len(path)-1].Nullable }
		if !relinks || !n.Through && !slices.ContainsFunc(n.HeldPaths(), null) {
			out.bound = append(out.bound, name)
		}
	}
	return out
}

// below gives the collections below an entity in which nothing can be created, although it can in the set that they are of.
func below(s *edm.EntitySet) []annotation {
	var out []any
	for _, n := range s.Type.Navigation {
		if w := n.Target.Write; n.Collection && w != nil && w.Create && !s.CreatesBelow(n) {
			out = append(out, record{{"NavigationProperty", navigationPath(n.Name)}, {"InsertRestrictions", record{{"Insertable", false}}}})
		}
	}
	if out == nil {
		return nil
	}
	return []annotation{{"Capabilities.NavigationRestrictions", record{{"RestrictedProperties", out}}}}
}

// writePaths are the paths of the visible primitive properties of a set, by what clients may do with them. A property may be
// in two lists: a key that the client gives is immutable and required.
type writePaths struct{ computed, immutable, required []any }

func pathsOf(s *edm.EntitySet) (out writePaths) {
	var walk func(list []*edm.Property, above []*edm.Property, optional bool)
	walk = func(list []*edm.Property, above []*edm.Property, optional bool) {
		for _, p := range list {
			path := append(append([]*edm.Property{}, above...), p)
			if p.Type.Complex != nil && !p.Type.Collection {
				walk(p.Type.Complex.Properties, path, optional || p.Nullable)
				continue
			}
			name := pathName(path)
			access := s.Access(path...)
			switch access {
			case edm.Computed:
				out.computed = append(out.computed, name)
				continue
			case edm.Immutable:
				out.immutable = append(out.immutable, name)
			case edm.Free:
			}
			if !optional && !p.Nullable && !p.Defaulted {
				out.required = append(out.required, name)
			}
		}
	}
	walk(s.Type.Properties, nil, false)
	return out
}

func pathName(path []*edm.Property) propertyPath {
	names := make([]string, len(path))
	for i, p := range path {
		names[i] = p.Name
	}
	return propertyPath(strings.Join(names, "/"))
}

// listed gives a list of paths, and nothing where there are none.
func listed(name string, paths []any) record {
	if len(paths) == 0 {
		return nil
	}
	return record{{name, paths}}
}

// accesses gives what clients may do with the properties of entity types whose sets can be written. Where several sets have one
// type, a property is as free as in the set that leaves it most: Core.Computed and Core.Immutable can be said of types alone.
func accesses(m *edm.Model) map[*edm.Property]edm.Access {
	out := map[*edm.Property]edm.Access{}
	for _, s := range m.Sets {
		if s.Write == nil {
			continue
		}
		for _, p := range s.Type.Properties {
			access := s.Access(p)
			if access == edm.Immutable && s.Type.IsKey(p) { // the term is for other properties, since keys never change
				access = edm.Free
			}
			if before, known := out[p]; known {
				access = min(access, before)
			}
			out[p] = access
		}
	}
	return out
}
