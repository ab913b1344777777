package memory

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// Config lists what is served. The zero value serves nothing.
type Config struct {
	// Namespace of the types, identifiers with dots between; "Vestibule" when empty.
	Namespace string
	// Guard of the service, and of the sets that have none of their own. The zero value demands a signed-in caller;
	// edm.GuardNone admits everybody, guests too.
	Guard edm.Guard
	Sets  []Set
	// Singletons are sets of one row, without a key in their URL.
	Singletons []Set
	Enums      []Enum
}

// Set is an entity set, or a singleton, with its rows.
//
// The fields of the rows' struct type are the properties. A tag `odata:"name,option,..."` names a property and adds
// options; without a name it is that of the json tag, and without one the name of the field. A field tagged
// `odata:"-"`, or `json:"-"` alone, is left out. The options are
//
//	key              part of the key; without any, the property "id" in any case is the key
//	search           $search looks here
//	hide             exists for row policies and navigation only, never for clients
//	type=NAME        an Enum of the Config; for text any type that texts are cast to, such as Decimal, Guid, Date,
//	                 Duration or Int32; Date and TimeOfDay for time.Time; or the name of a complex type
//	precision=N      of a Decimal: its significant digits
//	scale=N          of a Decimal: its digits behind the point
//	aggregate=NAME   a custom aggregate of $apply: sum, min, max, average, countdistinct, or unit for the one value that
//	                 all rows have, else null
//	currency=NAME    the property with the currency of the number, which is then aggregated by its bare name as unit
//	unit=NAME        the property with the unit of the number, likewise
//
// and for sets that can be written
//
//	auto             an integer that a new row gets from the set, one more than ever before
//	default=TEXT     what a new row has that is given nothing, as $value shows it
//	unique           no two rows have the same value; null is no value
//	length=N         characters of a text, or bytes of a Binary
//
// The types are bool, the integers (uint64 becomes a Decimal), float32 and float64, string, []byte (Binary), [16]byte
// (Guid), time.Time (DateTimeOffset), time.Duration, and apd.Decimal. A pointer, or a struct like sql.NullString whose
// second field is Valid, may be null. Another struct is a complex property; an embedded one lends its fields.
//
// A value that its type cannot hold, such as the text "soon" for a Date, is null where the property may be null, and
// otherwise ends an answer that would show it, with an error that names set, key and property.
//
// Unexported fields are left out. Slices, maps, interfaces, functions and pointers to pointers have no type here: New
// refuses them, and a set with a Navigation takes the place of a slice. Two fields of one name are an error, also where
// Go would take the outer one. A pointer to a struct, embedded or not, is a complex property; where it is nil, all the
// members are null. Text that is not UTF-8 is served with U+FFFD in place of what is wrong.
type Set struct {
	Name string
	// Rows is a slice of structs, or of pointers to structs, none of them nil. New copies every value. No two rows have
	// one key. A nil slice is a set without rows.
	Rows any
	// Type is the name of the entity type; Name when empty.
	Type string
	// Guard is "session", "settled" or "none"; that of the Config when empty.
	Guard string
	// Filter is a row policy in $filter syntax; hidden properties and @user_COLUMN may stand in it.
	Filter string
	// NoApply turns $apply off for the set.
	NoApply     bool
	Description string
	Navigations []Navigation
	// Write holds what may be written; nil for nothing.
	Write *Write
}

// Write says which rows of a set may be written. Properties are named by their paths, such as "home/city", hidden ones too.
type Write struct {
	Create, Update, Delete bool
	// Filter is a condition in $filter syntax on the rows that may be changed, before and after, besides that of the set.
	Filter string
	// Set are the values that a new row gets, whatever a client sends, Touch those that it gets with every change: constants
	// as $value shows them, "@user_COLUMN" for a column of the user, and "@now".
	Set, Touch map[string]string
	// Fixed are given at creation and never changed.
	Fixed []string
	// Version is an integer that counts the changes of a row; empty for none.
	Version string
	// Validator names the rules that are asked before each change (odata.Options.Validate); empty for none.
	Validator string
}

// Navigation is a navigation property: a way from the rows of its set to those of another.
type Navigation struct {
	Name string
	// To is the name of the set that it leads to.
	To string
	// Many makes it a collection.
	Many bool
	// On maps properties of this set to the properties of the target that must be equal. Null equals nothing.
	On map[string]string
	// Foreign makes On a foreign key of this set: a row names rows of To that are there, and a row of To that is named cannot be
	// deleted. Null names nothing. With Via, no row at either end of a link can be deleted.
	Foreign bool
	// Via is a slice of structs between the two sets, whose property FromKey holds the key of the own set and ToKey
	// that of the target. On is empty then, and Many is true. New copies every value.
	Via            any
	FromKey, ToKey string
	// Partner is the name of the Navigation of To that goes back to this set; empty for none. Two partners with Via share one
	// table in between: their Via must hold the same links.
	Partner string
}

// Enum is an enumeration type over an integer field.
type Enum struct {
	Name string
	// Flags allows several members in one value.
	Flags   bool
	Members map[string]int64
}
