// Package alerts tries the alerts of docs/monitoring/rules.yml: a real Prometheus watches a dozen hosts on loopback,
// each of which meets one fault, and one that meets none.
//
// It has no program of its own. `make -C internal alerts` runs its test in 14 minutes, and prints for each fault which alert fires,
// and when. Start reading at alerts_test.go, then faults_test.go.
package alerts
