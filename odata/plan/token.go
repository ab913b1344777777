package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// token is where a page ended, as $skiptoken carries it. It opens nothing: guards and row policies hold for the request that
// carries it, and it has no value that the client could not have asked for.
type token struct {
	// request identifies the request that the page belongs to.
	request [8]byte
	// passed is the number of rows up to there, those of $skip included.
	passed int64
	// values are those of Query.Order in the last row of the page.
	values []placed
}

// placed is a value of a token.
type placed struct {
	Value
	// long reports whether Bytes are a digest of the value, which is read from the row again.
	long bool
}

// tokenVersion is the first byte of a token. A change of the form or of the meaning of tokens needs another one.
const tokenVersion = 1

// maxToken bounds a token: servers in between take URLs of 8 KiB, and some no longer ones. maxPlaced bounds a value in it
// that is no part of a key.
const (
	maxToken  = 4 << 10
	maxPlaced = 256
)

// digestSize is how many bytes of a SHA-256 a digest has.
const digestSize = 16

// The tags of values.
const (
	tokenNull byte = iota
	tokenInt
	tokenFloat
	tokenBytes
	tokenDigest
)

// String writes the token with characters that a URL has as they are.
func (t token) String() string {
	b := append([]byte{tokenVersion}, t.request[:]...)
	b = binary.AppendUvarint(b, uint64(t.passed)) //nolint:gosec // it is never negative
	for i := range t.values {
		b = t.values[i].appendTo(b)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func (v *placed) appendTo(b []byte) []byte {
	switch {
	case v.Null:
		return append(b, tokenNull)
	case v.long:
		return append(append(b, tokenDigest), v.Bytes...)
	case v.Bytes != nil:
		b = binary.AppendUvarint(append(b, tokenBytes), uint64(len(v.Bytes)))
		return append(b, v.Bytes...)
	case v.Float != 0:
		return binary.BigEndian.AppendUint64(append(b, tokenFloat), math.Float64bits(v.Float))
	}
	return binary.AppendVarint(append(b, tokenInt), v.Int)
}

// parseToken reads what String wrote; false for anything else.
func parseToken(s string) (t token, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < 1+len(t.request) || b[0] != tokenVersion {
		return t, false
	}
	b = b[1+copy(t.request[:], b[1:]):]
	passed, n := binary.Uvarint(b)
	if n <= 0 || passed > math.MaxInt64 {
		return t, false
	}
	t.passed, b = int64(passed), b[n:]
	for len(b) > 0 {
		var v placed
		if v, b, ok = cutValue(b); !ok {
			return t, false
		}
		t.values = append(t.values, v)
	}
	return t, t.String() == s // one spelling
}

// cutValue takes a value off the front of b.
func cutValue(b []byte) (v placed, rest []byte, ok bool) {
	tag, b := b[0], b[1:]
	switch tag {
	case tokenNull:
		v.Null = true
		return v, b, true
	case tokenInt:
		n, size := binary.Varint(b)
		if size <= 0 {
			return v, nil, false
		}
		v.Int = n
		return v, b[size:], true
	case tokenFloat:
		if len(b) < 8 {
			return v, nil, false
		}
		v.Float = math.Float64frombits(binary.BigEndian.Uint64(b))
		return v, b[8:], true
	case tokenBytes:
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return v, nil, false
		}
		end := size + int(n) //nolint:gosec // it is within b
		v.Bytes = b[size:end:end]
		return v, b[end:], true
	case tokenDigest:
		if len(b) < digestSize {
			return v, nil, false
		}
		v.Bytes, v.long = b[:digestSize:digestSize], true
		return v, b[digestSize:], true
	}
	return v, nil, false
}

// Place copies the values that a row is ordered by over those in dst; row has one value for each of Columns.
func (n *Node) Place(dst, row []Value) []Value {
	dst = dst[:0]
	for _, at := range n.Cursor {
		v := row[at]
		v.Bytes = bytes.Clone(v.Bytes)
		dst = append(dst, v)
	}
	return dst
}

// NextOption returns the query option for the page behind a row of the node at a path. skip is the number of rows up to that
// row, place are the values that Place has copied of it; there are none without Cursor. The option is $skip, too, if the key is
// too long for a token, or if a part of it is null, as several rows may have it. Other long values have digests if the row can
// be found by its key.
func (n *Node) NextOption(path string, skip int64, place []Value) string {
	counted := "$skip=" + strconv.FormatInt(skip, 10)
	if len(place) == 0 {
		return counted
	}
	t := token{n.request(path), skip, make([]placed, len(place))}
	for i, v := range place {
		out, kind := &t.values[i], n.Columns[n.Cursor[i]].T.Kind
		switch {
		case v.Null && slices.Contains(n.Key, n.Cursor[i]):
			return counted
		case v.Null:
			out.Null = true
		case kind.Floating():
			out.Float = v.Float
		case !textual(kind):
			out.Int = v.Int
		case len(v.Bytes) > maxPlaced && n.mayBeLong(i):
			out.Bytes, out.long = digest(v.Bytes), true
		default:
			out.Bytes = append([]byte{}, v.Bytes...)
		}
	}
	if s := t.String(); len(s) <= maxToken {
		return "$skiptoken=" + s
	}
	return counted
}

// textual reports whether Value has the values of a type as bytes.
func textual(k edm.Kind) bool {
	return !k.Integer() && !k.Floating() && k != edm.Boolean && k != edm.Enum
}

// mayBeLong reports whether a value of Query.Order can be read again by the key of its row.
func (n *Node) mayBeLong(i int) bool { return n.Key != nil && !slices.Contains(n.Key, n.Cursor[i]) }

func digest(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:digestSize]
}

// request identifies, in tokens, a request for rows of the node: by its path below the service root, as it is sent, and the
// options that decide on the rows and their order.
func (n *Node) request(path string) (hash [8]byte) {
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	sum := sha256.Sum256([]byte(path + "?" + n.Decisive))
	copy(hash[:], sum[:])
	return hash
}

// Behind returns the plan of the page that a $skiptoken names. p is the plan of the same request without the token, which is
// at pos. canonical reports whether a value of the token can be one of its type, and gives it the form of Value. Where
// values are too long for a token, the result has a Row.
func (p *Plan) Behind(skipToken string, pos int, canonical func(*Value, edm.Kind) bool) (*Plan, error) {
	n := p.Top
	t, ok := parseToken(skipToken)
	if ok && (n.Cursor == nil || t.request != n.request(n.Path)) {
		return nil, Errorf(Malformed, pos, "this $skiptoken belongs to another request: follow @odata.nextLink as it was sent, or start again without $skiptoken")
	}
	long := false
	ok = ok && len(t.values) == len(n.Cursor)
	for i := 0; ok && i < len(t.values); i++ {
		v, kind := &t.values[i], n.Columns[n.Cursor[i]].T.Kind
		if long = long || v.long; v.long {
			ok = textual(kind) && n.mayBeLong(i)
		} else {
			ok = canonical(&v.Value, kind)
		}
	}
	if !ok {
		return nil, Errorf(Malformed, pos, "this $skiptoken is none of this service: follow @odata.nextLink as it was sent, or start again without $skiptoken")
	}
	out, top := *p, *n
	top.Page = top.Page.from(0)
	top.Page.Limit, top.Page.After = NoLimit, make([]Value, len(t.values))
	for i := range t.values {
		top.Page.After[i] = t.values[i].Value
	}
	top.Page.NextSkip = add(t.passed, top.Page.Size)
	out.Top, out.Row = &top, nil
	if long {
		out.Row, out.place = p.row(t.values), t.values
	}
	return &out, nil
}

// row is the plan of the row with the key in place. It has all of Columns, and of the collection's conditions those that are
// the service's.
func (p *Plan) row(place []placed) *Plan {
	n := *p.Top
	q := *n.Query
	for i, property := range n.Set.Type.Key {
		at := slices.Index(n.Cursor, n.Key[i])
		q.Key = Join("and", q.Key, Equal(q.Range.KeyRef(i), &Literal{T: property.Type, Value: place[at].Value}))
	}
	q.Filter, q.Search, q.Order = nil, nil, nil
	n.Query, n.Many, n.Count, n.Expand, n.Page = &q, false, false, nil, Page{Limit: 1, Read: 1, Rows: 1}
	return &Plan{Kind: Entity, Top: &n}
}

// Found returns the plan with the values of the row that Row has read; false if they are not those of the token any more.
func (p *Plan) Found(row []Value) (*Plan, bool) {
	out, top := *p, *p.Top
	top.Page.After = slices.Clone(top.Page.After)
	for i, v := range p.place {
		if !v.long {
			continue
		}
		now := row[top.Cursor[i]]
		if now.Null || !bytes.Equal(digest(now.Bytes), v.Bytes) {
			return nil, false
		}
		top.Page.After[i] = Value{Bytes: bytes.Clone(now.Bytes)}
	}
	out.Top, out.Row = &top, nil
	return &out, true
}
