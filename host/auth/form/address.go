package form

import "github.com/vestibule-dev/vestibule/v2/host/reserved"

// IsAddress reports whether mail can be sent to s; see [reserved.Address].
func IsAddress(s string) bool { return reserved.IsAddress(s) }
