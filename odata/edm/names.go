package edm

import (
	"cmp"
	"slices"
	"unicode"
)

// MaxIdentifier is how many characters a name may have. ABNF odataIdentifier
const MaxIdentifier = 128

// Identifier reports whether a name can be used in a URL and in CSDL. OData-CSDL 15.2
func Identifier(name string) bool {
	n := 0
	for i, r := range name {
		if !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.Is(unicode.Nd, r)) {
			return false
		}
		n++
	}
	return n > 0 && n <= MaxIdentifier
}

// NewEnum returns an enumeration type, its members in the order of their values. Labels may lack members.
func NewEnum(name string, flags bool, members map[string]int64, labels map[string]string) *EnumType {
	t := &EnumType{Name: name, Flags: flags, Underlying: Int64}
	for member, value := range members {
		t.Members = append(t.Members, EnumMember{Name: member, Value: value, Label: labels[member]})
	}
	slices.SortFunc(t.Members, func(a, b EnumMember) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return t
}
