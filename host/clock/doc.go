// Package clock reads the times that hosts have stored, one of whose clocks may have run
// ahead. A time that lies further ahead than it can is counted as if it had been stored
// now, so that nobody is kept waiting, or let in, for as long as that clock was wrong.
//
// What is not here: the rows that hold such times (host/store) and what follows from them
// (host/auth, host/session). Start reading at clock.go.
package clock
