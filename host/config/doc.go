// Package config turns config.hcl into [host.Options].
//
// [Load] reads every layer (defaults, config.hcl, conf.d/*.hcl, environment,
// flags), checks it against the keys of [Config], and gives a typed [Config]
// together with all [Findings], each with its position. [Config.Verify] goes on
// to what only the machine can tell: files, databases, plugins' binaries, the
// front-end app. [Config.Options] opens the engines and builds what the host
// runs on.
//
// A setting is one field of [Config] or of a struct inside it. From the field's type and
// tags internal/schema derives its default, its check, the file that `vestibule init`
// writes and the table in docs/configuration.md; only rules that span several keys are
// written out, in rules.go.
//
// What lives elsewhere: files, variables and flags are read by internal/layer;
// what the settings do is host and odata; the commands are host/cmd/vestibule.
// Start reading at [Load], then at [Config.Options].
package config
