// Package pack compresses the application's files for browsers, and keeps what it has
// compressed. It is for files alone: see [Packer].
//
// What lives elsewhere: host/web decides which file answers a request, and package
// frontend serves the sign-in's own files, which are compressed when they are built.
package pack
