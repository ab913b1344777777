// Package cluster lets three real hosts, behind HAProxy and Caddy, lose their database in every way that servers are
// lost: PostgreSQL under Patroni 4 with etcd, and MariaDB with Galera, three servers each.
//
// It has no program of its own. `make -C internal cluster` runs its test, which keeps a ledger of everything that the hosts
// acknowledged, prints a table, and fails where a figure of docs/operations/failures.md is missed. Start reading at
// cluster_test.go, then faults_test.go; ledger_test.go is what is asked and what must not be lost.
package cluster
