// Package static serves files in the form that a client wants most: as they are, from a
// .br or .gz beside them, or compressed with gzip on the way.
//
// What lives elsewhere: host/web decides which file of the application answers a request,
// and host/frontend which one of the front-end app.
package static
