package syntax

// Options set the dialect and the limits of a parse. The zero value is OData 4.0
// with the default limits.
type Options struct {
	// V401 allows what only OData 4.01 has: system query options without "$" and,
	// like operators and function names, in any case (OData-URL 5.1). In 4.0 such
	// an option is a custom one. Everything else of 4.01 is understood in both.
	V401 bool
	// Functions tells, for a name in lower case, how a canonical function is spelt
	// and how many arguments it takes at least and at most; canonical is empty for
	// other names, which are paths. Nil knows no function but cast, isof and case.
	Functions func(name string) (canonical string, least, most int)
	// NearestFunction gives, for a name that is no function, the one that was
	// probably meant, or "". Nil gives none.
	NearestFunction func(name string) string
	// MaxLength is the longest input in bytes; 0 stands for 65,536.
	MaxLength int
	// MaxDepth limits how deep parentheses, arguments, lambdas and nested options
	// may be inside one another; 0 stands for 50.
	MaxDepth int
	// MaxNodes limits the nodes of one request, over its path and all its options:
	// literals, path segments, operators, calls, lists, search words. 0 stands for
	// 1,000.
	MaxNodes int
}

// Request is a parsed request target. It shares memory with its input and must
// not be changed; any number of goroutines may read it.
type Request struct {
	// RawPath and RawQuery are the target as sent, without the "?" between them.
	RawPath, RawQuery string
	// Segments is the resource path; empty for the service document.
	Segments []Segment
	// Query holds the query options.
	Query
}

// Segment is one step of a resource path or of a path in an expression.
//
// Name tells what it is: with "$" in front a system resource ($metadata, $batch,
// $entity, $all, $crossjoin, $count, $ref, $value, $query, $each, $filter; in
// expressions $count and $filter only), with "@" in front an annotation
// (@Core.Messages, with "#qualifier" if there was one), with a dot inside a
// qualified name (type cast, function, action), else a simple name. The empty
// name stands for a segment that can only be a key or an ordinal (OData-URL
// 4.3.6, 4.10).
type Segment struct {
	// Pos is the byte offset of the segment in the target.
	Pos int
	// Name is the decoded name; see above.
	Name string
	// Text is the whole segment, decoded, parentheses included, for use as a key
	// (OData-URL 4.3.6). Only resource paths have it.
	Text string
	// Args is the parenthesised group after the name: a key predicate, function
	// arguments, or the entity sets of $crossjoin (as Arg.Name). nil without
	// parentheses.
	Args *ArgList
	// Key is the second group, as in ByColor(color='red')(2) or $filter(...)(2): a
	// key.
	Key *ArgList
	// Lambda is set for any(...), all(...) and $filter(...).
	Lambda *Lambda
	// Options are $filter and $search inside $count(...), in expressions only.
	Options *Query
	// Err is set when Name is empty: why the segment is nothing but a key. Return
	// it unless the segment is used as one. *Error.
	Err error
}

// ArgList is a parenthesised list of arguments or key values.
type ArgList struct {
	// Pos is the byte offset of the opening parenthesis.
	Pos  int
	Args []Arg
}

// Arg is one argument or key value.
type Arg struct {
	Pos int
	// Name is empty for a key given by its value alone; there is one Arg then.
	Name string
	// Value is a *Literal or a parameter alias (*Path with Root "@name"); inside
	// expressions function arguments can be any expression.
	Value Expr
}

// Lambda is the inside of any(...), all(...) and $filter(...).
type Lambda struct {
	// Var is the range variable; empty for any() and $filter(...).
	Var string
	// Pred is the predicate; nil for any().
	Pred Expr
}

// Query holds the query options of a request, or those in the parentheses of an
// item of $expand or $select, in which case only the permitted ones are set.
type Query struct {
	// Options are all options in the order sent, custom ones too.
	Options []Option
	// Apply is empty without $apply; only the top level has it (OData Data
	// Aggregation 3).
	Apply []Step
	// Filter is nil without $filter (OData-URL 5.1.2).
	Filter Expr
	// OrderBy is empty without $orderby (OData-URL 5.1.5).
	OrderBy []OrderItem
	// Top and Skip are nil when absent, else from 0 to the largest int64
	// (OData-URL 5.1.6).
	Top, Skip *int64
	// Count is nil when absent (OData-URL 5.1.7).
	Count *bool
	// Select is empty without $select (OData-URL 5.1.4).
	Select []SelectItem
	// Expand is empty without $expand (OData-URL 5.1.3).
	Expand []ExpandItem
	// Levels is 0 when absent, LevelsMax for "max"; inside $expand only
	// (OData-URL 5.1.3).
	Levels int64
	// Search is nil without $search (OData-URL 5.1.8).
	Search *Search
	// Compute is empty without $compute (OData-URL 5.1.10).
	Compute []ComputeItem
	// Aliases are the values of parameter aliases (OData-URL 5.3).
	Aliases []Alias
	// Index is nil when absent; negative counts from the end (OData-URL 5.1.11).
	Index *int64
	// Format, SkipToken, SchemaVersion and ID are decoded; "" when absent, as none
	// of them may be empty (OData-URL 5.1.9, 5.1.12, 4.3.4; Protocol 11.2.6.7).
	Format, SkipToken, SchemaVersion, ID string
}

// LevelsMax is Query.Levels for $levels=max.
const LevelsMax = -1

// Option is one name=value pair as it was sent.
type Option struct {
	// Name is the canonical name of a system query option ("$top", also for "TOP"
	// under 4.01), "@name" for an alias, else the decoded name of a custom option.
	Name string
	// Value is decoded.
	Value string
	// Raw is the pair byte for byte.
	Raw string
	// Pos is the byte offset of Raw, ValuePos that of the value, in the target.
	Pos, ValuePos int
}

// Alias is the value given to a parameter alias.
type Alias struct {
	Pos int
	// Name includes the "@".
	Name  string
	Value Expr
}

// OrderItem is one item of $orderby.
type OrderItem struct {
	Expr Expr
	Desc bool
}

// ComputeItem is one item of $compute.
type ComputeItem struct {
	Expr Expr
	// As is the name given, at byte offset AsPos.
	As    string
	AsPos int
}

// Ident is a name in a path of $select or $expand: simple, qualified (a dot
// inside), or an annotation ("@" in front).
type Ident struct {
	Pos  int
	Name string
}

// SelectItem is one item of $select (OData-URL 5.1.4).
type SelectItem struct {
	Pos int
	// Path is empty for "*"; for "Model.*" it holds "Model".
	Path []Ident
	// Star marks "*" and "Model.*" (all operations of the schema Model).
	Star bool
	// Params are the parameter names in Model.Function(a,b).
	Params []string
	// Options are the nested options, nil without parentheses.
	Options *Query

	one [1]Ident // room for the usual path of one name
}

// ExpandItem is one item of $expand (OData-URL 5.1.3).
type ExpandItem struct {
	Pos int
	// Path is the way to the navigation property with casts, complex properties
	// and the navigation property; before "*" only the way.
	Path []Ident
	// Star, Ref and Count mark a final "*", "/$ref" and "/$count". Value marks the
	// item "$value", the media stream; its Path is empty.
	Star, Ref, Count, Value bool
	// Options are the nested options, nil without parentheses.
	Options *Query
}

// Search is a node of a $search expression (OData-URL 5.1.8).
type Search struct {
	Pos int
	// Op is "AND" or "OR" with Args, "NOT" with one, or "" for a word or phrase in
	// Text. "AND" with less than two Args stands for an incomplete expression;
	// without any it matches everything.
	Op   string
	Args []*Search
	Text string
	// Phrase marks a double-quoted Text.
	Phrase bool
}
