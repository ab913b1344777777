package frontend

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"

	"github.com/vestibule-dev/vestibule/v2/odata/header"
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
	file, coding := c.variant(r.Header["Accept-Encoding"], name)
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

// variant returns the smallest form of a file that exists and that the browser
// accepts, and its coding.
func (c compiled) variant(accepted []string, name string) (file, coding string) {
	for _, v := range []struct{ coding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}} {
		if !header.AcceptsCoding(accepted, v.coding) {
			continue
		}
		if _, err := fs.Stat(c, name+v.suffix); err == nil {
			return name + v.suffix, v.coding
		}
	}
	return name, ""
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
