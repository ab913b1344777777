package ui

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var embedded embed.FS

// FS returns the compiled app: index.html, manifest.json, the hashed assets
// with a .br and a .gz beside each, and the i18n bundles that they were built
// from. It is read-only and safe for concurrent use.
func FS() fs.FS {
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		return embedded // not reached: Sub fails only on an invalid path
	}
	return dist
}
