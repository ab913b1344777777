// Package telemetry counts what a host does, for Prometheus.
//
// What lives elsewhere: the address that shows the counts is opened in package
// host, and the log is written where things happen.
package telemetry
