// Terms is a dispenser that asks people to accept the terms of use, once for each
// version of them. It holds the person at a page of the application, which posts to
// /auth/intents/redirect when the terms are accepted:
//
//	plugin "terms" {
//	  command    = ["bin/terms"]
//	  roles      = ["dispenser"]
//	  user_read  = ["terms_version"]
//	  user_write = ["terms_version"]
//	  config {
//	    version  = "2026-11"          # a new one asks everybody again
//	    page     = "/accept-terms"    # a route with guard = "session"
//	    prefixes = ["/terms"]         # what may be read before
//	  }
//	}
//
// The column is a text that holds the version that was accepted. The page posts the
// version that it showed as "accept": one that is not the current version, from a page
// that was left open, counts as nothing, and the person sees the new terms.
//
// Start reading at terms.Dispense in main.go.
package main
