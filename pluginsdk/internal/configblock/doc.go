// Package configblock fills a struct of a plugin author's from the config block
// of config.hcl and finds the mistakes in it. Package pluginsdk gives its types
// and functions to authors.
//
// Start reading at [Decode].
package configblock
