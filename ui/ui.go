package ui

import (
	"embed"
	"io/fs"
)

//go:embed all:dist all:ui5/dist all:steps/dist
var embedded embed.FS

// FS returns the compiled app: index.html, manifest.json, the hashed assets
// with a .br and a .gz beside each, and the i18n bundles that they were built
// from. It is read-only and safe for concurrent use.
func FS() fs.FS { return folder("dist") }

// UI5 returns the compiled library for UI5 applications: manifest.json, and the modules of the namespace
// vestibule with a .br and a .gz beside each. It is read-only and safe for concurrent use.
func UI5() fs.FS { return folder("ui5/dist") }

// Steps returns the module and the style sheet for steps on pages of applications: manifest.json, steps.js and steps.css,
// with a .br and a .gz beside each. It is read-only and safe for concurrent use.
func Steps() fs.FS { return folder("steps/dist") }

func folder(name string) fs.FS {
	dist, err := fs.Sub(embedded, name)
	if err != nil {
		return embedded // not reached: Sub fails only on an invalid path
	}
	return dist
}
