package plan

import "math"

// NoLimit is the row limit in the plan when $skip is given without $top: an offset without a limit is not accepted
// by some databases.
const NoLimit int64 = math.MaxInt64

// defaultPageSize is the page size when neither client nor configuration names one.
const defaultPageSize int64 = 200

// Limits bound what one request may ask for. The zero value is the default of configuration.
type Limits struct {
	// PageSize is the page size without a client preference; 200 when zero.
	PageSize int64
	// MaxPageSize clamps preference and default; zero is no ceiling.
	MaxPageSize int64
	// MaxTop is the largest $top that is accepted; zero is no limit.
	MaxTop int64
	// ExpandDepth is how deep $expand may nest; 4 when zero.
	ExpandDepth int
	// FilterNodes bounds the literals, paths, operators and calls of all expressions of a request together, row policies
	// left out; 1,000 when zero. Parameter aliases count each time that they are put in, a $compute expression counts
	// once, and each use of its name as one.
	FilterNodes int
	// ApplySteps bounds the transformations of $apply, those inside of others included; 20 when zero.
	ApplySteps int
	// ApplyGroups bounds the groups that one transformation of $apply makes; 1,000,000 when zero. It is held where a row
	// comes of those groups: not for a bare number of rows, and not on a page without rows.
	ApplyGroups int64
	// Rows bounds the rows of an answer, expanded ones included; 5,000,000 when zero.
	Rows int64
	// Bytes bounds an answer before it is compressed; 4 GiB when zero.
	Bytes int64
}

// Unlimited as ExpandDepth, FilterNodes, ApplySteps, ApplyGroups, Rows or Bytes is no limit.
const Unlimited = -1

// WithDefaults puts the defaults in place of zeros, and the largest number in place of no limit.
func (l Limits) WithDefaults() Limits {
	l.ExpandDepth = orDefault(l.ExpandDepth, 4, math.MaxInt)
	l.FilterNodes = orDefault(l.FilterNodes, 1000, math.MaxInt)
	l.ApplySteps = orDefault(l.ApplySteps, 20, math.MaxInt)
	l.ApplyGroups = orDefault(l.ApplyGroups, 1_000_000, math.MaxInt64)
	l.Rows = orDefault(l.Rows, 5_000_000, math.MaxInt64)
	l.Bytes = orDefault(l.Bytes, 4<<30, math.MaxInt64)
	return l
}

func orDefault[T int | int64](limit, standard, none T) T {
	switch {
	case limit == 0:
		return standard
	case limit < 0:
		return none
	}
	return limit
}

// Window is the part of a collection that a request asks for.
type Window struct {
	// Top is $top; nil when it is not given.
	Top *int64
	// Skip is $skip; nil when it is not given.
	Skip *int64
	// Prefer is the preferred maximal page size; zero or less when there is none.
	Prefer int64
}

// Page is the decision about one page of a collection.
type Page struct {
	// Size is the page size in effect; zero when $top is given, because then there is none.
	Size int64
	// Applied is the value of Preference-Applied: odata.maxpagesize=Applied; zero: the header is not sent.
	Applied int64
	// Skip is how many rows are passed over.
	Skip int64
	// Limit is the row limit of the plan: $top, or NoLimit with $skip alone, or else the page size.
	Limit int64
	// Read is how many rows a source has to ask for at most: the smaller of Limit and page size + 1.
	Read int64
	// Rows is how many rows the answer has at most.
	Rows int64
	// Next tells whether a next link may follow: it does when there is a row after the Rows-th one.
	Next bool
	// NextSkip is the $skip of that link.
	NextSkip int64
	// After are the values of Query.Order in the row that the page comes behind; nil for a page that only Skip decides on.
	After []Value
}

// Page applies the rules of server-driven and client-driven paging. The values must have been checked: none is
// negative, and $top is within MaxTop. OData-Protocol 11.2.6.3, 11.2.6.4, 11.2.6.7, 8.2.8.5
func (w Window) Page(l Limits) Page {
	var p Page
	if w.Skip != nil {
		p.Skip = *w.Skip
	}
	if w.Top != nil {
		p.Limit, p.Read, p.Rows = *w.Top, *w.Top, *w.Top
		return p
	}
	p.Size = l.PageSize
	if p.Size <= 0 {
		p.Size = defaultPageSize
	}
	if w.Prefer > 0 {
		p.Size = w.Prefer
	}
	if l.MaxPageSize > 0 && p.Size > l.MaxPageSize {
		p.Size = l.MaxPageSize
	}
	p.Applied, p.Rows, p.Limit = p.Size, p.Size, p.Size
	if w.Skip != nil {
		p.Limit = NoLimit
	}
	// The row after the page tells whether there is more; without it, a link could lead to an empty page.
	p.Read = add(p.Size, 1)
	p.NextSkip = add(p.Skip, p.Size)
	p.Next = p.NextSkip < NoLimit
	return p
}

// from is the page with another $skip. Both have one.
func (p Page) from(skip int64) Page {
	p.Skip = skip
	if p.Size > 0 {
		p.NextSkip = add(skip, p.Size)
		p.Next = p.NextSkip < NoLimit
	}
	return p
}

// add saturates instead of overflowing.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
