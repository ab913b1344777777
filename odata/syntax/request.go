package syntax

// Parse reads a request target below the service root, still percent-encoded:
// "Products(1)/Category?$select=Name". The empty target is the service document.
// A leading "/" is not part of it. The error is an *Error whose Pos counts from
// the start of target.
func Parse(target string, o Options) (*Request, error) {
	return nil, &Error{Code: codeNotImplemented, Msg: "the parser is not there yet"}
}

// ParseQuery reads query options as they stand behind "?", for the body of a
// request to /$query (OData-URL 4.17).
func ParseQuery(query string, o Options) (*Query, error) {
	return nil, &Error{Code: codeNotImplemented, Msg: "the parser is not there yet"}
}

// ParseFilter reads an expression in $filter syntax that is not percent-encoded,
// such as a row policy in a configuration file.
func ParseFilter(expr string, o Options) (Expr, error) {
	return nil, &Error{Code: codeNotImplemented, Msg: "the parser is not there yet"}
}

// ParseLiteral reads a literal that is not percent-encoded, such as a key in a
// path segment of its own.
func ParseLiteral(text string) (*Literal, error) {
	return nil, &Error{Code: codeNotImplemented, Msg: "the parser is not there yet"}
}
