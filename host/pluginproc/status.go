package pluginproc

import "time"

// A State is what a plugin is doing. There are five, and this is how a plugin goes from one
// to another:
//
//	stopped --- a host starts, or a reload adds it -----> ready, or the host does not start
//	ready ----- it died, or fails two health checks ----> down
//	ready ----- three calls in a row ran out of time ---> ready, with another process, or
//	                                                      late, if two people made them
//	down ------ the next start is due ------------------> starting
//	starting -- Describe and Configure were answered ---> ready
//	starting -- anything else, or out of time ----------> down, for twice as long
//	late ------ a call is answered, or probation ends --> ready
//	any ------- its spec is gone, or the host stops ----> stopped
//
// A reload with another spec starts its process first, which answers all further calls;
// the slot of the old one is stopped once its calls are done.
type State string

// The states of a plugin.
const (
	StateStarting State = "starting" // a process is not ready yet
	StateReady    State = "ready"    // Describe and Configure were answered
	StateLate     State = "late"     // ready, and has to show that calls of several people do not run out of time any more
	StateDown     State = "down"     // the process is gone, a restart is due
	StateStopped  State = "stopped"  // not started, or stopped for good
)

// States are all of them.
func States() []string {
	return []string{string(StateStarting), string(StateReady), string(StateLate), string(StateDown), string(StateStopped)}
}

// A Status tells how one plugin fares.
type Status struct {
	// Name is the plugin block's label; Version is that of its answer to
	// Describe, empty until it was ready once.
	Name, Version string
	// Command is the program and its arguments.
	Command []string
	// Roles are those of config.hcl.
	Roles []string
	// State is what the plugin is doing.
	State State
	// PID is the process, 0 when there is none.
	PID int
	// Restarts counts the processes started in place of one that died or froze.
	Restarts int
	// LastError is why the last process ended or could not be started, in one
	// line; empty when nothing happened.
	LastError string
	// Uptime is how long the process has been ready.
	Uptime time.Duration
	// SHA256 is the hexadecimal checksum of the program that runs.
	SHA256 string
	// Memory is the resident memory of the process in bytes, 0 if there is none or the
	// system does not tell.
	Memory int64
}
