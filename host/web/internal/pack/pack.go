package pack

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"runtime"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
)

// What is compressed, in bytes: less is not worth it, and more would fill the memory.
const (
	packLeast = 1 << 10
	packMost  = 16 << 20
	// packKept is how much a [Packer] keeps of what it has compressed.
	packKept = 64 << 20
)

// A Packer compresses the application's files for browsers that accept Brotli or gzip, and
// keeps the last of them, up to 64 MiB. Only files go through it: an answer that has both a
// secret and what a stranger can put into it tells the one by its compressed length
// (BREACH), so neither pages of the host nor JSON nor answers of applications are
// compressed. It is safe for concurrent use.
type Packer struct {
	slots chan struct{} // one token per file that is being read

	mu    sync.Mutex
	byKey map[packed]*list.Element
	order *list.List // of *result, the last used in front
	kept  int
}

// packed names a file as it was at one moment, and the coding that it is compressed with, "" for none. A deployment may
// keep size and time of a file that it replaces: its state tells.
type packed struct {
	name, coding   string
	must           bool // compressed even where that does not pay, for who takes nothing else
	modified, size int64
	state          state
}

// state is what the file system counts by itself: the number of the file, and when anything of it was changed, in
// nanoseconds. Both are 0 where it does not tell.
type state struct {
	number  uint64
	changed int64
}

// result is what is known of a file: the sum of its content, and what it is compressed, nil where that does not pay.
type result struct {
	key  packed
	sum  string
	data []byte
}

// New returns a packer that keeps nothing yet.
func New() *Packer {
	return &Packer{slots: make(chan struct{}, runtime.GOMAXPROCS(0)), byKey: map[packed]*list.Element{}, order: list.New()}
}

// Serve answers with a file, compressed where that pays. Name tells it apart from all other files.
func (p *Packer) Serve(w http.ResponseWriter, r *http.Request, name string, info fs.FileInfo, content io.ReadSeeker) {
	r = header.WithKnownRange(r)
	http.ServeContent(w, r, info.Name(), info.ModTime(), p.prepare(w, r, name, info, content))
}

// prepare sets the headers of a file and returns what to send of it: the file itself, or what it is compressed. The ETag is
// made of the content, so that all hosts have the same; that of a file over 16 MiB of what the file system tells. There is
// none while the file changes, or while every processor reads other files.
func (p *Packer) prepare(w http.ResponseWriter, r *http.Request, name string, info fs.FileInfo, content io.ReadSeeker) io.ReadSeeker {
	if info.ModTime().IsZero() { // as in an embedded folder: nothing tells two states apart
		return content
	}
	h, key := w.Header(), packed{name: name, modified: info.ModTime().UnixNano(), size: info.Size(), state: stateOf(info)}
	if key.size > packMost {
		h.Set("Etag", fmt.Sprintf(`"%x-%x-%x-%x"`, key.modified, key.size, key.state.number, key.state.changed))
		return content
	}
	kind := packable(info.Name())
	if kind != "" {
		h.Add("Vary", "Accept-Encoding")
		key.coding, key.must = wanted(r, key.size)
	}
	known := p.read(key, content)
	if known == nil {
		return content
	}
	h.Set("Etag", `"`+known.sum+`"`)
	if known.data == nil {
		return content
	}
	h.Set("Etag", `"`+known.sum+"-"+key.coding+`"`)
	h.Set("Content-Encoding", key.coding)
	h.Set("Content-Type", kind)
	return bytes.NewReader(known.data)
}

// wanted returns the coding to compress a file of a size with, "" for none, and whether
// the client takes no other form. A range is one of the file itself, whose tag differs.
func wanted(r *http.Request, size int64) (coding string, must bool) {
	if r.Header.Get("Range") != "" {
		return "", false
	}
	coding, plain := header.Coding(r.Header["Accept-Encoding"], "br", "gzip")
	if size < packLeast && plain {
		return "", false
	}
	return coding, !plain
}

// read finds the sum of a file, and compresses it; nil where the file changes meanwhile, and where every
// processor is at it for others. The file is at its start then.
func (p *Packer) read(key packed, content io.ReadSeeker) *result {
	if known, ok := p.find(key); ok {
		return known
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(content, packMost+1))
	if _, back := content.Seek(0, io.SeekStart); err != nil || back != nil || int64(len(raw)) != key.size {
		return nil
	}
	sum := sha256.Sum256(raw)
	one := &result{key: key, sum: hex.EncodeToString(sum[:16])}
	if data := compress(key.coding, raw); key.must || len(data) < len(raw)*9/10 {
		one.data = data
	}
	p.keep(one)
	return one
}

// brotliQuality takes about twice the time of gzip and saves a tenth of its bytes; 11 would
// take eighty times as long for another tenth.
const brotliQuality = 6

// compress returns what a file becomes in a coding; nil for none.
func compress(coding string, raw []byte) []byte {
	var b bytes.Buffer
	var out io.WriteCloser
	switch coding {
	case "br":
		out = brotli.NewWriterLevel(&b, brotliQuality)
	case "gzip":
		out = gzip.NewWriter(&b)
	default:
		return nil
	}
	_, err := out.Write(raw)
	if end := out.Close(); err != nil || end != nil {
		return nil
	}
	return bytes.Clone(b.Bytes())
}

func (p *Packer) find(key packed) (*result, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.byKey[key]
	if !ok {
		return nil, false
	}
	p.order.MoveToFront(at)
	return at.Value.(*result), true
}

// keep remembers a file, and forgets those that were not asked for the longest.
func (p *Packer) keep(one *result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.byKey[one.key]; ok {
		return
	}
	p.byKey[one.key] = p.order.PushFront(one)
	p.kept += one.weight()
	for p.kept > packKept {
		last := p.order.Back()
		p.kept -= p.order.Remove(last).(*result).weight()
		delete(p.byKey, last.Value.(*result).key)
	}
}

// weight counts what a file takes in memory, roughly.
func (p *result) weight() int { return len(p.data) + len(p.key.name) + 256 }

// packable returns the type of files that become smaller, "" for all others. The table
// of package mime differs from one machine to the next.
func packable(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".xml":
		return "text/xml; charset=utf-8"
	case ".txt", ".md", ".properties":
		return "text/plain; charset=utf-8"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".wasm":
		return "application/wasm"
	}
	return ""
}
