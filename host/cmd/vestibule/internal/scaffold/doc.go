// Package scaffold writes new plugins, which build and are tested at once, outside
// of any clone: a module in Go, or a program beside the single-file SDK in Node and
// Python.
//
// What lives elsewhere: the SDK is pluginsdk, the files of Node and Python are
// pluginsdk/node and pluginsdk/python. Start reading at [Write].
package scaffold
