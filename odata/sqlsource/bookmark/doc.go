// Package bookmark remembers about a query, for as long as the data stays the same, how many rows it has and the order
// keys at which some of its pages began, so that a deep $skip can seek instead of counting its way.
//
// What a version of the data is, package engine knows; how to seek, package sqltext. Start reading at Cache.
package bookmark
