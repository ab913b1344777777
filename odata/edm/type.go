package edm

import (
	"math"
	"strconv"
	"strings"
)

// Kind tells the kinds of types apart. The primitive kinds are in the order of OData-CSDL 3.3.
type Kind uint8

// The kinds. Null is the type of the literal null alone.
const (
	Invalid Kind = iota
	Null
	Boolean
	Byte
	SByte
	Int16
	Int32
	Int64
	Decimal
	Single
	Double
	String
	Guid
	Date
	DateTimeOffset
	TimeOfDay
	Duration
	Binary
	Stream
	Enum
	Complex
	Entity
)

// String gives the name without its namespace, such as "Int64"; Enum, Complex and Entity have no name of their own.
func (k Kind) String() string {
	names := [...]string{
		"Invalid", "Null", "Boolean", "Byte", "SByte", "Int16", "Int32", "Int64", "Decimal", "Single", "Double", "String",
		"Guid", "Date", "DateTimeOffset", "TimeOfDay", "Duration", "Binary", "Stream", "Enum", "Complex", "Entity",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return names[Invalid]
}

// Integer tells whether k is one of the integer kinds.
func (k Kind) Integer() bool { return k >= Byte && k <= Int64 }

// Bounds returns the least and the greatest value of an integer kind, and those of Int64 for any other.
func (k Kind) Bounds() (least, greatest int64) {
	switch k {
	case Byte:
		return 0, math.MaxUint8
	case SByte:
		return math.MinInt8, math.MaxInt8
	case Int16:
		return math.MinInt16, math.MaxInt16
	case Int32:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// Numeric tells whether arithmetic works on k.
func (k Kind) Numeric() bool { return k >= Byte && k <= Double }

// Floating reports whether values are binary floating-point numbers: Single and Double.
func (k Kind) Floating() bool { return k == Single || k == Double }

// Rank orders the numeric kinds for promotion: integers, Decimal, Single, Double; 0 for others. OData-URL 5.1.1.18
func (k Kind) Rank() int {
	switch {
	case k.Integer():
		return 1
	case k == Decimal:
		return 2
	case k == Single:
		return 3
	case k == Double:
		return 4
	}
	return 0
}

// PrimitiveKind finds a primitive kind by its name without "Edm.", such as "Decimal". Invalid when there is none.
func PrimitiveKind(name string) Kind {
	for k := Boolean; k <= Stream; k++ {
		if k.String() == name {
			return k
		}
	}
	return Invalid
}

// VariableScale as Type.Scale is CSDL's "variable": as many digits as the value has. OData-CSDL 7.2.4
const VariableScale = -1

// Type is the type of a property or of an expression. The zero value is invalid. Types are small; copy them.
type Type struct {
	Kind Kind
	// Collection makes it a collection of the rest.
	Collection bool
	// MaxLength limits strings (characters) and binaries (bytes); 0 is no limit.
	MaxLength int
	// Precision is the number of significant digits of a decimal (0: unlimited), or the digits of fractional seconds.
	Precision int
	// Scale is the number of digits right of a decimal's point, or VariableScale.
	Scale int
	// Enum, Complex and Entity are the type of a Kind of that name; nil otherwise.
	Enum    *EnumType
	Complex *ComplexType
	Entity  *EntityType
}

// Of is the type of a primitive kind without facets.
func Of(k Kind) Type {
	t := Type{Kind: k}
	if k == Decimal {
		t.Scale = VariableScale
	}
	return t
}

// String names the type in a message.
func (t Type) String() string {
	switch t.Kind {
	case Null:
		return "null"
	case Enum:
		return t.Enum.Name
	case Complex:
		return t.Complex.Name
	case Entity:
		return t.Entity.Name
	}
	return "Edm." + t.Kind.String()
}

// Same tells whether two types are the same, facets and collections aside.
func (t Type) Same(o Type) bool {
	return t.Kind == o.Kind && t.Enum == o.Enum && t.Complex == o.Complex && t.Entity == o.Entity
}

// QualifiedName is the name as it stands in CSDL and in context URLs: "Edm.Int64", "Shop.Product",
// "Collection(Edm.String)".
func (t Type) QualifiedName(namespace string) string {
	name := "Edm." + t.Kind.String()
	switch t.Kind {
	case Enum:
		name = namespace + "." + t.Enum.Name
	case Complex:
		name = namespace + "." + t.Complex.Name
	case Entity:
		name = namespace + "." + t.Entity.Name
	}
	if t.Collection {
		return "Collection(" + name + ")"
	}
	return name
}

// EnumType is an enumeration. OData-CSDL 10
type EnumType struct {
	Name string
	// Flags allows several members in one value.
	Flags bool
	// Underlying is an integer kind; Int32 when zero.
	Underlying  Kind
	Members     []EnumMember
	Description string
}

// Parse reads "Name", "A,B" for flags, or a number; false for anything else.
func (t *EnumType) Parse(text string) (int64, bool) {
	parts := strings.Split(text, ",")
	if len(parts) > 1 && !t.Flags {
		return 0, false
	}
	var sum int64
	for _, part := range parts {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		known := err == nil
		for _, m := range t.Members {
			if m.Name == strings.TrimSpace(part) {
				n, known = m.Value, true
			}
		}
		if !known {
			return 0, false
		}
		sum |= n
	}
	return sum, true
}

// EnumMember is one name for one value.
type EnumMember struct {
	Name  string
	Value int64
	// Label is what people see for the name: see Model.Text. Empty for the words that Readable makes of it.
	Label string
}

// ComplexType is a keyless structure inside an entity. OData-CSDL 9
type ComplexType struct {
	Name        string
	Properties  []*Property
	Description string
}

// Property finds a property by name; nil when there is none.
func (c *ComplexType) Property(name string) *Property { return find(c.Properties, name) }

// Property is a structural property of an entity or complex type.
type Property struct {
	Name     string
	Type     Type
	Nullable bool
	// Description becomes Core.Description; empty for none.
	Description string
	// Aggregate makes the property a custom aggregate of $apply: one of Aggregates, by which it is aggregated where a client
	// names no method. Empty for none.
	Aggregate string
	// Immutable and Computed become the Core terms of these names.
	Immutable, Computed bool
	// Defaulted reports that the source has a value for the property where a creation leaves it out.
	Defaulted bool
	// Look is how tables and forms show the values.
	Look Look
}

func find(list []*Property, name string) *Property {
	for _, p := range list {
		if p.Name == name {
			return p
		}
	}
	return nil
}
