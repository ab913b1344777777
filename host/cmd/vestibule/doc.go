// Command vestibule is the host as a program: it serves what config.hcl
// describes, checks that file, and lets operators manage people, sessions,
// counters and plugins.
//
// A command is a value of type command; commands.go lists them all. Commands
// only parse, call and print: what they do is package host, what they read is
// host/config. Exit codes: 0 for success, 1 for failure, 2 for wrong usage.
//
// Start reading at main.go, then commands.go.
package main
