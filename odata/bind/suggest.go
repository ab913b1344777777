package bind

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// didYouMean returns the end of a message about an unknown name: the nearest of the names that the metadata shows. It is
// empty if none is near. Hidden columns are in none of the lists, so a suggestion cannot name one.
func didYouMean(name string, visible ...[]string) string {
	if utf8.RuneCountInString(name) > edm.MaxIdentifier {
		return ""
	}
	near := words.Nearest(name, slices.Concat(visible...))
	if near == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(near) + "?"
}

func propertyNames(list []*edm.Property) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
	}
	return names
}

func navigationNames(t *edm.EntityType) []string {
	names := make([]string, len(t.Navigation))
	for i, n := range t.Navigation {
		names[i] = n.Name
	}
	return names
}

// resourceNames are the sets and singletons of the model.
func (b *binding) resourceNames() []string {
	var names []string
	for _, s := range b.binder.model.All() {
		names = append(names, s.Name)
	}
	return names
}

// noProperty is the fault of a path that begins with an unknown name.
func (s *scope) noProperty(pos int, name string, t *edm.EntityType) error {
	near := didYouMean(name, propertyNames(t.Properties), navigationNames(t), slices.Sorted(maps.Keys(s.computed)))
	return plan.Errorf(plan.Malformed, pos, "there is no property %q%s", name, near)
}
