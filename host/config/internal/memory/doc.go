// Package memory finds how much memory the process may use, and divides the setting server.memory among what keeps
// something. Start reading at [Divide].
package memory
