// Oidc is a plugin that signs people in by OpenID Connect: with an account at Entra ID,
// Google, Keycloak, GitLab, or any provider with a discovery document.
//
// In config.hcl:
//
//	plugin "oidc" {
//	  command = ["bin/oidc"]
//	  roles   = ["identity_provider"]
//	  timeout = "10s"
//	  config {
//	    issuer        = "https://login.example.com"
//	    client_id     = "vestibule"
//	    client_secret = env("OIDC_CLIENT_SECRET")
//	    domains       = ["example.com"]        # or claims = { groups = ["staff"] }, or neither
//	  }
//	}
//	identity "company" {
//	  plugin = "oidc"
//	  label  = "Company account"
//	}
//
// The flow is the authorization code with PKCE, a nonce and, where discovery promises it,
// the callback's issuer (RFC 9207). Signatures are asymmetric, and their keys are the
// provider's. No redirect of a provider is followed, and no answer is longer than 1 MiB.
//
// What lives elsewhere: state, cookies, linking and users are the host's, in host/auth.
// Start reading at Finish in finish.go.
package main
