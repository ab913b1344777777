package frontend

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
)

// compiled is a folder of files that were compressed when they were built: a file may
// have a .br and a .gz beside it.
type compiled struct{ fs.FS }

// serve answers with a file, compressed when the browser accepts it. Kept is its
// Cache-Control. It returns [ErrNotFound], and writes nothing, for a file that is
// missing.
func (c compiled) serve(w http.ResponseWriter, r *http.Request, name, kept string) error {
	if !fs.ValidPath(name) {
		return ErrNotFound
	}
	r = header.WithKnownRange(r)
	file, coding := c.variant(r, name)
	data, err := fs.ReadFile(c, file)
	if err != nil {
		return ErrNotFound
	}
	info, err := fs.Stat(c, file)
	if err != nil {
		return ErrNotFound
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	sum := sha256.Sum256(data)
	h.Set("Etag", `"`+hex.EncodeToString(sum[:16])+`"`) // of what is sent: each coding has its own
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	h.Set("Cache-Control", kept)
	if kind := contentType(name); kind != "" {
		h.Set("Content-Type", kind)
	}
	http.ServeContent(w, r, name, info.ModTime(), bytes.NewReader(data))
	return nil
}

// variant returns the form of a file that the browser wants most, of those that exist, and
// its coding. A range is one of the file itself.
func (c compiled) variant(r *http.Request, name string) (file, coding string) {
	if r.Header.Get("Range") != "" {
		return name, ""
	}
	suffixes, offered := map[string]string{"br": ".br", "gzip": ".gz", "": ""}, []string{}
	for _, coding := range []string{"br", "gzip"} {
		if _, err := fs.Stat(c, name+suffixes[coding]); err == nil {
			offered = append(offered, coding)
		}
	}
	coding, _ = header.Coding(r.Header["Accept-Encoding"], offered...)
	return name + suffixes[coding], coding
}

// contentType knows the types of a front-end app; mime's table differs from one
// machine to the next.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json":
		return "application/json; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".properties":
		return "text/plain; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".html":
		return "text/html; charset=utf-8"
	}
	return ""
}
