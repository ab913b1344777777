package config

func guards() []string { return []string{"session", "settled", "none"} }

func routeBlock() block {
	return block{
		name: "route", label: "name", labelCheck: checkRouteName,
		doc: "A named page of the application: exactly one of file, dir, proxy and redirect. The names home and dashboard are where " +
			"logout and login lead; terms, privacy and cookies become links on the sign-in screen.",
		sample: `route "home" {
  path     = "/"
  redirect = "/login"                 # or file = "site/home.html", dir, proxy
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/odata/"                # or proxy = "http://127.0.0.1:3000"
  guard    = "session"
}
`,
		keys: []key{
			{name: "path", required: true, check: checkRoutePath, doc: "rooted path; dir and proxy also answer below it"},
			{name: "file", path: true, check: checkFilled, doc: "a file to serve"},
			{name: "dir", path: true, check: checkFilled, doc: "a directory to serve"},
			{name: "proxy", check: checkProxy, doc: "http:// or https:// URL to pass requests to, with X-Vestibule-User, -Email and -Name"},
			{name: "redirect", check: checkRedirect, doc: "URL or path to send the browser to"},
			{name: "guard", oneOf: guards(), doc: "who may pass: session (the default) is signed in, settled also demands that the intent loop has ended; home, terms, privacy and cookies default to none"},
		},
	}
}

func uiBlock() block {
	return block{
		name: "ui", doc: "The front-end app.",
		keys: []key{
			{name: "sources", def: `".ui5-sources.hcl"`, path: true, check: checkFilled, doc: "file that replaces the app by a directory of yours, where it exists"},
		},
	}
}

// sourcesFile is the schema of .ui5-sources.hcl.
func sourcesFile() block {
	return block{blocks: []block{{
		name: "source", label: "module", labelCheck: checkModule, doc: "Replaces a front-end module.",
		keys: []key{
			{name: "dir", required: true, path: true, check: checkFilled, doc: "compiled app with index.html and a manifest.json"},
		},
	}}}
}

func pluginBlock() block {
	return block{
		name: "plugin", label: "name", labelCheck: checkPluginName,
		doc: "A plugin process. At most one plugin has a role.",
		sample: `# plugin "orgs" {
#   command    = ["bin/orgsetup"]
#   roles      = ["dispenser", "org_setup"]
#   user_read  = ["partner_id"]
#   user_write = ["partner_id"]
# }
`,
		keys: []key{
			{name: "command", kind: texts, required: true, check: checkFilled, doc: "program and arguments; a bare name is looked up in PATH"},
			{name: "roles", kind: texts, required: true, oneOf: []string{"dispenser", "org_setup"}, doc: "what the plugin answers"},
			{name: "sha256", null: true, def: "null", check: checkSHA256, doc: "checked over the bytes that then run; `vestibule plugin sum` prints it"},
			{name: "checksums", kind: table, def: "{}", check: checkSHA256, doc: "sha256 of further files by path, such as a script argument"},
			{name: "user_read", kind: texts, def: "[]", check: checkUserColumn, doc: "columns of users that the plugin may see"},
			{name: "user_write", kind: texts, def: "[]", check: checkUserColumn, doc: "and change"},
			{name: "headers", kind: texts, def: "[]", check: checkHeader, sample: `["accept-language"]`, doc: "request headers that the plugin may see"},
			{name: "env", kind: table, def: "{}", check: checkEnvValue, doc: "environment of the plugin beside PATH, HOME, LANG, TZ and TMPDIR"},
			{name: "timeout", kind: span, def: `"3s"`, check: checkPositive, doc: "of one call"},
			{name: "on_failure", def: `"deny"`, oneOf: []string{"deny", "builtin"}, doc: "deny: 503; builtin (dispensers only): the default answers, logged and counted"},
		},
		blocks: []block{{name: "config", free: true, doc: "Handed to the plugin, which checks it by its own schema."}},
	}
}
