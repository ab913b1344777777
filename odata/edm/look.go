package edm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Look is how tables and forms show the values of a property. Paths lead from the type that the property belongs to,
// through complex properties and navigation to one, as in "category/name". The zero value leaves all to clients, but
// for the label, which Property.Label derives.
type Look struct {
	// Label and Texts of the model: see Model.Text.
	Label string
	// Text is the path of a text that stands for the value, such as a name for a number. Empty for none.
	Text string
	// Currency and Unit tell what the number is of: the path of a property that holds it, or a constant.
	Currency, Unit Measure
	// ValueList tells where the values that are possible come from; nil for nowhere.
	ValueList *ValueList
	// Hidden properties are sent, but are of no interest to people.
	Hidden bool
	// Format is one of Formats; empty for none.
	Format string
}

// Measure is a currency or a unit: a path, or a constant. The zero value is none.
type Measure struct{ Path, Constant string }

// ValueList are the rows of a set, one of which a property names.
type ValueList struct {
	Set *EntitySet
	// Key is the property of Set that has the value; Text the path of what people see of the row, empty for none.
	Key  *Property
	Text string
}

// TypeLook is how tables and forms show entities of a type. Paths are those of Look.
type TypeLook struct {
	// Title names one entity, Plural several: see Model.Text. Empty for none.
	Title, Plural string
	// List are the columns of a table, Fields what a form shows, Search what one filters by.
	List, Fields, Search []string
	// SemanticKey are the properties by which people know an entity.
	SemanticKey []*Property
}

// Formats are the words for Look.Format, with the kind of property that each goes with; Invalid for any.
func Formats() map[string]Kind {
	return map[string]Kind{
		"multiline": String, "url": String, "image_url": String, "upper": String, "digits": String, "masked": Invalid,
		"year": String, "quarter": String, "month": String, "week": String, "year_month": String,
		"currency": Invalid, "unit": Invalid, "timezone": Invalid, "language": Invalid,
	}
}

// Label is the label of a property in the configuration, or one that its name says: "Released on" for released_on.
func (p *Property) Label() string {
	if p.Look.Label != "" {
		return p.Look.Label
	}
	return Readable(p.Name)
}

// Readable makes words of a name: "Released on" of released_on, "Unit price" of UnitPrice, "Category ID" of category_id.
func Readable(name string) string {
	var list []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || unicode.IsSpace(r) }) {
		list = append(list, humps(part)...)
	}
	for i, w := range list {
		short := len(w) > 1 && w == strings.ToUpper(w) // an abbreviation, such as VAT
		switch {
		case strings.EqualFold(w, "id"):
			list[i] = "ID"
		case !short:
			list[i] = strings.ToLower(w)
		}
	}
	if len(list) == 0 {
		return name
	}
	first, size := utf8.DecodeRuneInString(list[0])
	list[0] = string(unicode.ToUpper(first)) + list[0][size:]
	return strings.Join(list, " ")
}

// humps cuts a name where a small letter or a digit is followed by a capital one, and before the last of several
// capitals that a small one follows: HTMLText is HTML and Text.
func humps(s string) []string {
	runes := []rune(s)
	var out []string
	start := 0
	for i := 1; i < len(runes); i++ {
		next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || next) {
			out = append(out, string(runes[start:i]))
			start = i
		}
	}
	return append(out, string(runes[start:]))
}

// Along follows a path from a type, through complex properties and navigation to one. ok is false where it leads to no
// property; name is then the part that is not known.
func (t *EntityType) Along(path string) (p *Property, name string, ok bool) {
	properties, at := t.Properties, t
	for rest := path; ; {
		name, more, goesOn := strings.Cut(rest, "/")
		p = find(properties, name)
		switch {
		case p == nil && at != nil && at.Nav(name) != nil && !at.Nav(name).Collection && goesOn:
			at = at.Nav(name).Target.Type
			properties = at.Properties
		case p == nil:
			return nil, name, false
		case !goesOn:
			return p, "", true
		case p.Type.Kind != Complex:
			return nil, more, false
		default:
			properties, at = p.Type.Complex.Properties, nil
		}
		rest = more
	}
}

// Texts are the texts of a model in several languages, by key. They are read-only.
type Texts struct {
	// Languages are BCP 47 tags; the first, which may be empty, is the one to fall back on.
	Languages []string
	// Bundles are in the order of Languages.
	Bundles []map[string]string
}

// Text gives what a text of the configuration says in a language: itself, where it is no key of the model's texts.
func (m *Model) Text(language, text string) string {
	if m.Texts == nil || text == "" {
		return text
	}
	i := slices.Index(m.Texts.Languages, language)
	for _, at := range []int{i, 0} {
		if at < 0 || at >= len(m.Texts.Bundles) {
			continue
		}
		if said, ok := m.Texts.Bundles[at][text]; ok {
			return said
		}
	}
	return text
}
