// Package node holds the SDK for plugins in Node, a single file.
//
// What lives elsewhere: `vestibule plugin new` writes it beside a new plugin; the
// suite that it passes is pluginsdk/internal/sdktest.
package node

import _ "embed" // for SDK

// SDK is the text of vestibule.js.
//
//go:embed vestibule.js
var SDK string
