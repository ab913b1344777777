// Package repeat decides what may be repeated after a database has failed: the one
// place that knows, for the sign-in (host/store) and for queries (odata/sqlsource).
//
// What is done about it lives elsewhere: how long and how often something is
// repeated is up to who runs it, and connections that hang are closed by
// host/store/internal/nodes. Start reading at [Of].
package repeat
