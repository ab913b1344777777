package schema

import "github.com/vestibule-dev/vestibule/v2/pluginsdk"

func guards() []string { return []string{"settled", "session", "none"} }

func routeBlock() Block {
	return Block{
		Name: "route", Label: "name", LabelCheck: checkRouteName,
		Doc: "A named page of the application: exactly one of file, dir, proxy and redirect. The names home and dashboard are where " +
			"logout and login lead; terms, privacy and cookies become links on the sign-in screen.",
		Sample: `route "home" {
  path     = "/"
  redirect = "/login"                 # or file = "site/home.html", dir, proxy
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/odata/"                # or proxy = "http://127.0.0.1:3000"
  guard    = "settled"                # the default: signed in, and done with every step
}
`,
		Keys: []Key{
			{Name: "path", Required: true, Check: checkRoutePath, Doc: "rooted path; dir and proxy also answer below it"},
			{Name: "file", Null: true, Path: true, Check: checkFilled, Doc: "a file to serve"},
			{Name: "dir", Null: true, Path: true, Check: checkFilled, Doc: "a directory to serve"},
			{Name: "proxy", Null: true, Check: checkProxy, Doc: "http:// or https:// URL to pass requests to, with X-Vestibule-User, -Email and -Name"},
			{Name: "redirect", Null: true, Check: checkRedirect, Doc: "URL or path to send the browser to"},
			{Name: "guard", OneOf: guards(), Doc: "who may pass: session is signed in, settled also demands that the intent loop has ended, none is everybody. Where it is absent, home, terms, privacy and cookies have none and all other routes have settled; a proxy or dir at /, or under one of those four names, must have it"},
			{Name: "strip_prefix", Kind: Flag, Def: "false", Doc: "proxy only: the application does not see path, but /; it learns the prefix from X-Forwarded-Prefix, and gets it back in Location and the paths of cookies"},
			{
				Name: "headers", Kind: Table, Def: "{}", Check: checkIdentityColumn, Sample: `{ "Remote-User" = "email" }`,
				Doc: "proxy only: further headers that tell the application who is signed in, with id, name, email or another column of users; the names of all routes are taken out of every request to every application, in every spelling",
			},
			{Name: "assertion", Kind: Flag, Def: "false", Doc: "proxy only: X-Vestibule-Assertion tells the application who is signed in by a signed token (JWT, ES256; the keys are at /auth/jwks.json), with the columns that headers names; see docs/forward-auth.md"},
			{Name: "tokens", Kind: Flag, Def: "false", Doc: "proxy only: machine tokens that were made with `vestibule token add --route` for this route open it, too"},
		},
	}
}

func uiBlock() Block {
	return Block{
		Name: "ui", Live: true, Doc: "The front-end app.",
		Keys: []Key{
			{Name: "sources", Def: `".ui5-sources.hcl"`, Path: true, Check: checkFilled, Doc: "file that replaces the app by a directory of yours, where it exists"},
		},
	}
}

// SourcesFile is the schema of .ui5-sources.hcl.
func SourcesFile() Block {
	return Block{Blocks: []Block{{
		Name: "source", Label: "module", LabelCheck: checkModule, Doc: "Replaces a front-end module.",
		Keys: []Key{
			{Name: "dir", Required: true, Path: true, Check: checkFilled, Doc: "compiled app with index.html and a manifest.json"},
		},
	}}}
}

func pluginBlock() Block {
	return Block{
		Name: "plugin", Label: "name", LabelCheck: checkPluginName, Live: true,
		Doc: "A plugin process. One plugin has each role; any number may be listeners.",
		Sample: `# plugin "orgs" {
#   command    = ["bin/orgsetup"]
#   roles      = ["dispenser", "org_setup"]
#   user_read  = ["partner_id"]
#   user_write = ["partner_id"]
# }
`,
		Keys: []Key{
			{Name: "command", Kind: Texts, Required: true, Check: checkFilled, Doc: "program and arguments; a bare name is looked up in PATH"},
			{Name: "roles", Kind: Texts, Required: true, OneOf: pluginsdk.Roles(), Doc: "what the plugin answers"},
			{Name: "sha256", Null: true, Def: "null", Check: checkSHA256, Doc: "checked over the bytes that then run; `vestibule plugin sum` prints it"},
			{Name: "checksums", Kind: Table, Def: "{}", Check: checkSHA256, Doc: "sha256 of further files by path, such as a script argument"},
			{Name: "user_read", Kind: Texts, Def: "[]", Check: checkUserColumn, Doc: "columns of users that the plugin may see"},
			{Name: "user_write", Kind: Texts, Def: "[]", Check: checkUserColumn, Doc: "and change"},
			{Name: "headers", Kind: Texts, Def: "[]", Check: checkHeader, Sample: `["accept-language"]`, Doc: "request headers that the plugin may see"},
			{Name: "env", Kind: Table, Def: "{}", Check: checkEnvValue, Doc: "environment of the plugin beside PATH, HOME, LANG, TZ and TMPDIR"},
			{Name: "timeout", Kind: Span, Def: `"3s"`, Check: checkPositive, Doc: "of one call"},
		},
		Blocks: []Block{{Name: "config", Free: true, Doc: "Handed to the plugin, which checks it by its own schema."}},
	}
}
