// Package telemetry is what operators and balancers watch: counts for Prometheus,
// the answers of /healthz and /readyz, and the listener of the admin address.
//
// What lives elsewhere: what is looked at for /readyz is said in package host, and
// the log is written where things happen.
package telemetry
