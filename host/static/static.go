package static

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
)

// Smaller files than least are not worth compressing. Larger ones than most are neither
// compressed nor read for their entity tag.
const least, most = 1 << 10, 16 << 20

// Serve answers with the file of that name, compressed where that pays. Where kept is not
// empty it becomes the Cache-Control. Serve returns an error, and writes nothing, for a
// name that is no file.
//
// Only files go through it: the compressed length of an answer that holds both a secret
// and a stranger's text tells the secret (BREACH).
func Serve(w http.ResponseWriter, r *http.Request, files fs.FS, name, kept string) error {
	r = header.WithKnownRange(r)
	info, err := fs.Stat(files, name)
	if err != nil {
		return reason(err)
	}
	kind := contentType(name)
	packs := kind != "" && kind != "font/woff2"
	suffix, coding := "", ""
	if packs && r.Header.Get("Range") == "" { // a range is one of the file itself
		suffix, coding = variant(r, files, name, info)
	}
	file, err := files.Open(name + suffix)
	if err != nil {
		return reason(err)
	}
	defer file.Close() //nolint:errcheck // opened for reading
	if info, err = file.Stat(); err != nil {
		return err
	}
	content, ok := file.(io.ReadSeeker)
	if !ok || info.IsDir() {
		return fs.ErrNotExist
	}
	tag, err := tagOf(content, info)
	if err != nil {
		return err
	}
	if coding != "" && suffix == "" {
		tag += "-gzip"
	}
	h := w.Header()
	for name, value := range map[string]string{"Etag": `"` + tag + `"`, "Cache-Control": kept, "Content-Type": kind, "Content-Encoding": coding} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if packs {
		h.Add("Vary", "Accept-Encoding")
	}
	if coding == "" {
		http.ServeContent(w, r, name, info.ModTime(), content)
		return nil
	}
	c := &coded{ResponseWriter: w, pack: suffix == ""}
	http.ServeContent(c, r, name, info.ModTime(), content)
	c.end(info.Size())
	return nil
}

// reason returns an error without the name of the file: a request may have chosen it, and
// logs hold no path with the token of a reset link.
func reason(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}

// variant returns what follows the name in that of the file to send, and its coding. A
// coding without a suffix is to be made on the way. A form that is older than the file
// does not count.
func variant(r *http.Request, files fs.FS, name string, plain fs.FileInfo) (suffix, coding string) {
	beside := map[string]string{}
	for coding, suffix := range map[string]string{"br": ".br", "gzip": ".gz"} {
		if one, err := fs.Stat(files, name+suffix); err == nil && !one.IsDir() && !one.ModTime().Before(plain.ModTime()) {
			beside[coding] = suffix
		}
	}
	offered := []string{"br", "gzip"}
	if beside["br"] == "" {
		offered = offered[1:]
	}
	coding, identity := header.Coding(r.Header["Accept-Encoding"], offered...)
	if beside[coding] == "" && identity && (plain.Size() < least || plain.Size() > most) {
		return "", ""
	}
	return beside[coding], coding
}

// tagOf returns the text of a file's entity tag: of its content, so that all hosts have
// the same, or for a large file of its time and size. It leaves the file at its start.
func tagOf(content io.ReadSeeker, info fs.FileInfo) (string, error) {
	if info.Size() > most {
		return fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size()), nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, content); err != nil {
		return "", err
	}
	_, err := content.Seek(0, io.SeekStart)
	return hex.EncodeToString(hash.Sum(nil)[:16]), err
}

// coded sends a file in a coding, whose answer has no length.
type coded struct {
	http.ResponseWriter
	pack bool         // the file is compressed on the way
	to   *gzip.Writer // nil before the first byte: answers to HEAD, and 304, have none
	read int64
}

// Write implements io.Writer.
func (c *coded) Write(b []byte) (int, error) {
	to := io.Writer(c.ResponseWriter)
	if c.pack {
		if c.to == nil {
			c.to = gzip.NewWriter(c.ResponseWriter)
		}
		to = c.to
	}
	n, err := to.Write(b)
	c.read += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the connection.
func (c *coded) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// end ends the answer with a file of that size. It breaks the connection where the file
// became shorter meanwhile, since the answer would look complete.
func (c *coded) end(size int64) {
	if c.read > 0 && c.read < size || c.to != nil && c.to.Close() != nil {
		panic(http.ErrAbortHandler)
	}
}

// contentType returns the type of a file by its name, and "" for types that only package
// mime may know, whose table differs from one machine to the next. Of these files all but
// fonts become smaller when they are compressed.
func contentType(name string) string {
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
	case ".woff2":
		return "font/woff2"
	}
	return ""
}
