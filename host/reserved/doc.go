// Package reserved holds what nobody may expose, read, set or take: credential
// columns, protected tables, secret headers, the host's own routes, plugin
// roles, and the rules for names and mail addresses that several packages share.
//
// Names of tables and columns are compared as databases compare them, without
// regard to case ([Fold]). Configuration, sign-in, plugins, store and mail ask
// this package, so that what one of them refuses the others refuse as well.
//
// What lives elsewhere: the wording of messages is with those who ask; which
// columns a plugin was granted is host/pluginproc. Start reading at columns.go.
package reserved
