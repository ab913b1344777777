package syntax

// Pos implements Expr.
func (e *Literal) Pos() int { return e.At }

// Pos implements Expr.
func (e *Path) Pos() int { return e.At }

// Pos implements Expr.
func (e *Binary) Pos() int { return e.At }

// Pos implements Expr.
func (e *Unary) Pos() int { return e.At }

// Pos implements Expr.
func (e *Call) Pos() int { return e.At }

// Pos implements Expr.
func (e *Cast) Pos() int { return e.At }

// Pos implements Expr.
func (e *IsOf) Pos() int { return e.At }

// Pos implements Expr.
func (e *Case) Pos() int { return e.At }

// Pos implements Expr.
func (e *List) Pos() int { return e.At }

// Pos implements Expr.
func (e *Object) Pos() int { return e.At }

// String implements Expr.
func (e *Literal) String() string { return e.Text }

// String implements Expr.
func (e *Path) String() string { return e.Root }

// String implements Expr.
func (e *Binary) String() string { return e.Op }

// String implements Expr.
func (e *Unary) String() string { return e.Op }

// String implements Expr.
func (e *Call) String() string { return e.Func }

// String implements Expr.
func (e *Cast) String() string { return e.Type }

// String implements Expr.
func (e *IsOf) String() string { return e.Type }

// String implements Expr.
func (e *Case) String() string { return "case" }

// String implements Expr.
func (e *List) String() string { return "[]" }

// String implements Expr.
func (e *Object) String() string { return "{}" }
