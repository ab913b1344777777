// Orgsetup is a plugin that asks a person for the organisation before letting
// them in. As a dispenser it answers org_setup until the user's partner_id is
// set; as a handler it looks the organisation up and sets partner_id.
//
// In config.hcl:
//
//	plugin "orgs" {
//	  command    = ["bin/orgsetup"]
//	  roles      = ["dispenser", "org_setup"]
//	  user_read  = ["partner_id"]
//	  user_write = ["partner_id"]
//	  config {
//	    directory = "partners.json"   # or directory_url, or neither
//	  }
//	}
//
// Without a directory the number is derived from the organisation's name, so
// that everybody of one organisation gets the same one.
//
// What lives elsewhere: the form's own rules are the host's, in host/auth.
// Start reading at setup.Handle in main.go.
package main
