package scalar

// The layouts in which SQLite columns hold times and the like. A column has one when every sampled value has it;
// otherwise comparisons take the slow, always right way.
const (
	// LayoutSpace is "2006-01-02 15:04:05".
	LayoutSpace = "space"
	// LayoutT is "2006-01-02T15:04:05".
	LayoutT = "t"
	// LayoutZ is "2006-01-02T15:04:05Z".
	LayoutZ = "z"
	// LayoutUnix is seconds since 1970 as an integer.
	LayoutUnix = "unix"
	// LayoutText is plain text in the canonical form of its type: dates, times of day, upper or lower case GUIDs.
	LayoutText = "text"
	// LayoutBlob is 16 bytes for a GUID.
	LayoutBlob = "blob"
	// LayoutMixed is anything else.
	LayoutMixed = "mixed"
)
