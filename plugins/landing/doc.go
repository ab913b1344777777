// Landing is a dispenser that chooses where people land after signing in, by
// rules over the columns of their user row. The first rule that fits decides:
//
//	plugin "landing" {
//	  command   = ["bin/landing"]
//	  roles     = ["dispenser"]
//	  user_read = ["plan", "partner_id", "age"]
//	  config {
//	    rules = [
//	      { when = { plan = ["pro", "team"] }, target = "/studio" },
//	      { when = { partner_id = { not = null } }, target = "/partners/{partner_id}" },
//	      { when = { age = { min = 6, max = 17 } }, target = "route:home" },
//	    ]
//	    otherwise = "/start"    # nothing: the dashboard
//	    intended  = "first"     # first, last, never: what a page asked for before is worth
//	  }
//	}
//
// A condition is a value, null, a list of values of which one must fit, or an
// object of not, min and max. All conditions of a rule must hold. A target is a
// path, a URL of an origin that the host allows, or route: and the name of a
// route; {column} stands for a value.
//
// Start reading at landing.Dispense.
package main
