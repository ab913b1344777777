// Package seekcache keeps, per query and version of the data, the total number of rows and the order keys at which some
// pages begin. With them a deep $skip seeks by key instead of reading all rows before it.
//
// Package engine names the versions of the data; package sqltext writes the statements that seek. Start reading at
// Cache.
package seekcache
