// Package config turns config.hcl into [host.Options].
//
// [Load] reads every layer (defaults, config.hcl, conf.d/*.hcl, environment,
// flags), checks it against one table of keys, and gives a typed [Config]
// together with all [Findings], each with its position. [Config.Verify] goes on
// to what only the machine can tell: files, databases, plugins' binaries, the
// front-end app. [Config.Options] opens the engines and builds what the host
// runs on.
//
// The table of keys is internal/schema: one line for each key. The defaults, the
// checks, the file that `vestibule init` writes and the table in
// docs/configuration.md all come from it; only rules that span several keys are
// written out, in rules.go.
//
// What lives elsewhere: files, variables and flags are read by internal/layer;
// what the settings do is host and odata; the commands are host/cmd/vestibule.
// Start reading at [Load], then at [Config.Options].
package config
