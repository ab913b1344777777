package identity

import "encoding/json"

// A Link is an identity that nobody has, and that the next sign-in of a browser links, once. It is in a sealed cookie
// until that sign-in, and in the session until the person is settled: a password alone links nothing where a second factor
// is asked for.
type Link struct {
	// ID is random. It is spent when a session takes the link.
	ID []byte `json:"id"`
	// Name is that of the provider, and Subject that of the person there.
	Name    string `json:"name"`
	Subject string `json:"subject"`
	// Account is how the person knows the account: the verified address, or else the name; empty for neither.
	Account string `json:"account,omitempty"`
	// Columns are what the plugin sets, encoded by package auth; nil for nothing.
	Columns json.RawMessage `json:"columns,omitempty"`
	// Ends is when no sign-in takes the link any more, in seconds since 1970.
	Ends int64 `json:"ends"`
}

// A ShownLink is a pending link as the sign-in page names it.
type ShownLink struct {
	Name    string `json:"name"`
	Label   string `json:"label"`
	Account string `json:"account"`
}
