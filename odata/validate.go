package odata

import "encoding/json"

// MaxProposed is how many bytes the Set, Key, Old and New of all proposals of one call of Options.Validate have at most.
// A request with more is refused before rules are asked.
const MaxProposed = 3 << 20

// Proposal is one change as rules see it, before anything of it is written.
type Proposal struct {
	// Set is the name of the entity set. Kind is "create", "update" or "delete".
	Set, Kind string
	// Key is the key of the entity as in its address, without parentheses, such as "5" or "order=1,line=2". The keys of one
	// request or group that are not known yet are "$1", "$2" and so on; New has the same text where a change refers to such a row.
	Key string
	// Old is the entity as it is, nil for a create, New the entity as it would be, nil for a delete: JSON objects as in a body
	// of OData without annotations and links, with the visible properties and those that the service sets (edm.Write.Set).
	// Numbers are JSON numbers, Int64 and Decimal included, with all their digits. New has each of these properties: one that
	// the database will fill is null. If an earlier proposal is about the same entity, Old is the New of that one.
	Old, New json.RawMessage
}

// Verdict is the answer of rules to all proposals of a call. The zero value accepts them as they are. If anything is refused,
// nothing is written and the amendments do not count.
type Verdict struct {
	Refused []Objection
	Amended []Amendment
}

// Objection is why a change must not be made.
type Objection struct {
	// Change is the index among the proposals.
	Change int
	// Property is the path of the property at fault, such as "price" or "address/city"; empty for the entity as a whole.
	Property string
	// Message is one line for the person who makes the change.
	Message string
}

// Amendment gives a property of a create or an update another value.
type Amendment struct {
	// Change is the index among the proposals.
	Change int
	// Property is the path of a property in New.
	Property string
	// Value is JSON as in the body of a request. Rules in languages without exact decimals may give Int64 and Decimal as text.
	Value json.RawMessage
}
