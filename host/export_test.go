package host

// ClientOf is what the fuzz target of the client address walk calls.
var ClientOf = clientOf
