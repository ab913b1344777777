// Package python holds the SDK for plugins in Python, a single file.
//
// What lives elsewhere: `vestibule plugin new` writes it beside a new plugin; the
// suite that it passes is pluginsdk/internal/sdktest.
package python

import _ "embed" // for SDK

// SDK is the text of vestibule.py.
//
//go:embed vestibule.py
var SDK string
