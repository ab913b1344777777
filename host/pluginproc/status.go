package pluginproc

import "time"

// A State is what a plugin is doing.
type State string

// The states of a plugin.
const (
	StateStarting State = "starting" // its first process is not ready yet
	StateReady    State = "ready"    // Describe and Configure were answered
	StateLate     State = "late"     // calls ran out of time; the process that replaced it has to show that it answers
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
}
