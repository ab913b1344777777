// Package admission keeps one client from taking what all need: requests under
// way, connections of the database, hashing. A [Queue] gives each client a share
// of its slots, lets it wait for a bounded time beyond that, and serves those who
// wait by the time that they have used. A [Log] reports who was refused.
//
// What lives elsewhere: who counts as one client is told by host/web, what is
// counted is said in package host, and how a refusal is answered in
// host/auth/fault and odata. Start reading at [Queue.Enter].
package admission
