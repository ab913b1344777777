package route

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// ErrNotFound is returned for what is not served; nothing was written then.
var ErrNotFound = errors.New("no such file")

// ServeDir answers with the file below files that the request's path names after
// prefix, a directory by its index.html and never as a listing. Names that begin
// with a dot are not served.
func ServeDir(files fs.FS, prefix string, w http.ResponseWriter, r *http.Request) error {
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok && r.URL.Path+"/" == prefix {
		http.Redirect(w, r, prefix, http.StatusMovedPermanently)
		return nil
	}
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	if !fs.ValidPath(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return ErrNotFound
	}
	f, err := files.Open(name)
	if err != nil {
		return ErrNotFound
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		if _, err := fs.Stat(files, path.Join(name, "index.html")); err != nil {
			return ErrNotFound
		}
		http.Redirect(w, r, r.URL.EscapedPath()+"/", http.StatusMovedPermanently)
		return nil
	}
	return ServeFile(w, r, f)
}

// ServeFile answers with an opened file, and closes it.
func ServeFile(w http.ResponseWriter, r *http.Request, f fs.File) error {
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err != nil {
		return err
	}
	content, ok := f.(io.ReadSeeker)
	if !ok || info.IsDir() {
		return ErrNotFound
	}
	http.ServeContent(w, r, info.Name(), info.ModTime(), content)
	return nil
}
