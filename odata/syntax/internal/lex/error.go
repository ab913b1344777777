package lex

// SyntaxError is syntax.Error before it leaves package syntax, which describes its
// fields.
type SyntaxError struct {
	Pos  int
	Code string
	Msg  string
	Near string
}

// Error returns the message without the place; package syntax adds that.
func (e *SyntaxError) Error() string { return e.Msg }

// The codes of errors.
const (
	CodeMalformed       = "malformed"
	CodeEncoding        = "encoding"
	CodeUnknownOption   = "unknown_option"
	CodeDuplicateOption = "duplicate_option"
	CodeUnknownFunction = "unknown_function"
	CodeLimit           = "limit"
	CodeNotImplemented  = "not_implemented"
)

// maxNear is how many bytes of the input are quoted at most behind a message, and maxQuoted those of a word inside
// it; no hint of the parser is that long.
const (
	maxNear   = 24
	maxQuoted = 100
)
