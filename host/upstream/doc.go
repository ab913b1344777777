// Package upstream passes requests on to an application that stands behind a
// proxy route, and tells it who is signed in.
//
// What lives elsewhere: who may pass is decided by the guards in package host.
package upstream
