package telemetry

import (
	"net"
	"net/http"
)

// AdminOn returns an Admin that listens on a listener of the test's.
func AdminOn(l net.Listener) *Admin { return &Admin{&http.Server{}, l} }
