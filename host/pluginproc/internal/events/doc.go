// Package events delivers events to listeners, which are plugins with that role: after the
// commit, at least once, and in order for each user and listener. host/outbox has the
// worker, and host/auth fires the events.
package events
