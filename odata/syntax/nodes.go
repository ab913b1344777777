package syntax

import "github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"

// Expr is a node of an expression: *Literal, *Path, *Binary, *Unary, *Call,
// *Cast, *IsOf, *Case, *List, *Object, *These or *IsDefined.
type Expr interface {
	// Pos is the byte offset of the node in the input of the parse, of an operator
	// for *Binary.
	Pos() int
}

// At is the place of a node, which every node of an expression embeds.
type At int

// Pos implements Expr.
func (a At) Pos() int { return int(a) }

// LiteralKind is the lexical form of a literal.
type LiteralKind uint8

// The kinds of literals (ABNF primitiveLiteral). A string may also stand for an
// enumeration member or a duration (4.01), which the model tells.
const (
	Null           = LiteralKind(lex.Null)
	Boolean        = LiteralKind(lex.Boolean)        // Text is "true" or "false"
	Integer        = LiteralKind(lex.Integer)        // an optional "-" and digits, within int64
	Decimal        = LiteralKind(lex.Decimal)        // digits with a fraction, beyond int64, or with the suffix m
	Double         = LiteralKind(lex.Double)         // with an exponent or the suffix d, or "INF", "-INF", "NaN"
	Single         = LiteralKind(lex.Single)         // with the suffix f
	String         = LiteralKind(lex.String)         // Text is the value, quotes undone
	GUID           = LiteralKind(lex.GUID)           // as sent
	Date           = LiteralKind(lex.Date)           // a valid day; the year may be negative or long
	DateTimeOffset = LiteralKind(lex.DateTimeOffset) // with "T" and "Z" or an offset; seconds optional
	TimeOfDay      = LiteralKind(lex.TimeOfDay)      // seconds optional
	Duration       = LiteralKind(lex.Duration)       // Text is the inside of duration'...', e.g. "PT1H"
	Bytes          = LiteralKind(lex.Bytes)          // Text is the base64url inside of binary'...'
	Enum           = LiteralKind(lex.Enum)           // Text is the inside, Type the qualified name
	Geography      = LiteralKind(lex.Geography)      // Text is the inside of geography'...'
	Geometry       = LiteralKind(lex.Geometry)       // Text is the inside of geometry'...'
)

// Literal is a constant. Numbers are kept as text, so that decimals stay exact;
// they can be as long as MaxLength allows and have any exponent. Their suffixes,
// which OData 4 no longer has and clients still send, are in Kind alone.
type Literal struct {
	At
	Kind LiteralKind
	Text string
	// Type is the qualified type name of an Enum, else empty.
	Type string
}

// Path leads to a value: members, casts, bound functions, $count, lambdas.
type Path struct {
	At
	// Root is where it starts: "" for the instance the option applies to, "$it",
	// "$this", "$root", "@name" for a parameter alias, or else the name of a range
	// variable of an enclosing any or all.
	Root string
	// Segments can be empty only when Root is not.
	Segments []Segment

	one [1]Segment // saves an allocation for the usual path of one segment
}

// Binary is an operator with two operands. Op is one of or, and, eq, ne, gt, ge,
// lt, le, has, in, add, sub, mul, div, divby, mod. The right side of "in" is a
// *List or an expression that gives a collection, that of "has" a *Literal or an
// alias.
type Binary struct {
	At
	Op   string
	X, Y Expr
}

// Unary is "not" or "-" with its operand.
type Unary struct {
	At
	Op string
	X  Expr
}

// Call is a canonical function (OData-URL 5.1.1.5 to 5.1.1.11) with the right
// number of arguments. Func is spelt as in the standard, whatever was sent.
type Call struct {
	At
	Func string
	Args []Expr
}

// Cast is cast(X,Type); X is nil for the current instance. Type is a qualified
// or simple name, or Collection(name).
type Cast struct {
	At
	X    Expr
	Type string
}

// IsOf is isof(X,Type), with fields as in Cast.
type IsOf struct {
	At
	X    Expr
	Type string
}

// Case is case(c1:v1,c2:v2,...) (OData-URL 5.1.1.12).
type Case struct {
	At
	When []When
}

// When is one pair of a Case.
type When struct{ Cond, Value Expr }

// List is (1,2,3) on the right side of "in", or a JSON array [1,2,3].
type List struct {
	At
	Array bool // in brackets
	Items []Expr
}

// Object is a JSON object {"name":value}.
type Object struct {
	At
	Members []Member
}

// Member is one member of an Object.
type Member struct {
	Pos   int
	Name  string
	Value Expr
}

// These is $these/aggregate(Item), a value of all rows that the expression is
// evaluated for, or $these/$count, which has no Item (OData Data Aggregation 3.6).
type These struct {
	At
	Item *AggregateItem
}

// IsDefined is isdefined(Path) (OData Data Aggregation 3.7).
type IsDefined struct {
	At
	Path *Path
}

// Walk calls visit for an expression and for everything below it: operands, arguments, keys, predicates of any and all,
// and the options behind $count. It goes from the outside in and from left to right.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	switch e := e.(type) {
	case *Path:
		for i := range e.Segments {
			walkSegment(&e.Segments[i], visit)
		}
	case *Binary:
		Walk(e.X, visit)
		Walk(e.Y, visit)
	case *Unary:
		Walk(e.X, visit)
	case *Call:
		walkAll(e.Args, visit)
	case *Cast:
		Walk(e.X, visit)
	case *IsOf:
		Walk(e.X, visit)
	case *Case:
		for _, w := range e.When {
			Walk(w.Cond, visit)
			Walk(w.Value, visit)
		}
	case *List:
		walkAll(e.Items, visit)
	case *These:
		if e.Item != nil {
			Walk(e.Item.Expr, visit)
		}
	case *IsDefined:
		Walk(e.Path, visit)
	case *Object:
		for _, m := range e.Members {
			Walk(m.Value, visit)
		}
	}
}

func walkAll(list []Expr, visit func(Expr)) {
	for _, e := range list {
		Walk(e, visit)
	}
}

func walkSegment(seg *Segment, visit func(Expr)) {
	for _, list := range []*ArgList{seg.Args, seg.Key} {
		if list == nil {
			continue
		}
		for _, a := range list.Args {
			Walk(a.Value, visit)
		}
	}
	if seg.Lambda != nil {
		Walk(seg.Lambda.Pred, visit)
	}
	if seg.Options == nil {
		return
	}
	Walk(seg.Options.Filter, visit)
	for _, item := range seg.Options.OrderBy {
		Walk(item.Expr, visit)
	}
	for _, item := range seg.Options.Compute {
		Walk(item.Expr, visit)
	}
	for _, a := range seg.Options.Aliases {
		Walk(a.Value, visit)
	}
}
