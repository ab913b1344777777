package plan

// Value is one cell or one constant. Which field counts depends on the type:
//
//	Int    Boolean (0 or 1), Byte, SByte, Int16, Int32, Int64, Enum
//	Float  Single, Double; NaN and the infinities are possible
//	Bytes  String: UTF-8 text. Binary: the bytes themselves. Decimal: plain decimal notation such as "-12.50".
//	       Guid: 36 lower-case characters. Date, DateTimeOffset, TimeOfDay, Duration: as they stand in JSON
//
// Bytes of a row are valid until the next call of Rows.Next; copy what must live longer.
type Value struct {
	Null  bool
	Int   int64
	Float float64
	Bytes []byte
}

// Rows is what a source opens for a Plan: Open(ctx, *Plan) (Rows, error), which has read the first row (so that every
// fault until then can still be answered with a status) and fails with an *Error of kind NotFound when an entity that
// the path goes through does not exist. For RawCount it has no rows, only Count.
//
// Rows is a cursor over the rows of a Node. It is not safe for concurrent use. Close it always; it may be closed twice.
type Rows interface {
	// Next goes to the next row. It returns false after the last one of the page (Node.Page.Rows, whatever else
	// the database has) and after a fault; Err tells which.
	Next() bool
	// Row is the current row, one Value for each of Node.Columns, in a slice that the next call of Next overwrites.
	Row() []Value
	// Expand gives the rows of the i-th of Node.Expand for the current row. The cursor lives until the next call
	// of Next; its Close does nothing.
	Expand(i int) Rows
	// More tells, once Next has returned false without a fault, whether the collection goes on after the page.
	More() bool
	// Count is the total number of entities, ignoring the page, when Node.Count or CountOnly asks for it; it comes
	// from the same read transaction as the rows and is known as soon as the cursor exists.
	Count() int64
	// Version names the state of the data that the rows are read from: two cursors for one plan with the same
	// Version that is not empty give the same rows. Empty where the database cannot tell.
	Version() string
	// Err is the fault that ended the rows: an *Error where the client may know it.
	Err() error
	Close() error
}

// Member is what stands in front of a value in JSON, such as "Name": with its quotes, and the column of the value.
type Member struct {
	Name   string
	Column int
}

// JSONRows are Rows whose source can write values as JSON, which costs less than making a Value of each.
type JSONRows interface {
	Rows
	// AppendJSON appends members of the current row, each with a comma behind it, as a client without
	// IEEE754Compatible wants them. It is false, and dst as long as it was, where Row has to be asked, or Err tells a fault.
	AppendJSON(dst []byte, members []Member) (out []byte, ok bool)
}
