package config_test

import (
	"strings"
	"testing"
)

// A loopback address and nothing else: every fault below is the example's own.
func TestFaultsHavePositionsAndRemedies(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // beginnings of the findings, in order
	}{
		"unknown key": {"server {\n  adress = \"127.0.0.1:1\"\n}", []string{
			`config.hcl:2:3: unknown key "adress" in server: did you mean "address"?`,
		}},
		"unknown block": {"serverr {\n}", []string{`config.hcl:1:1: unknown block or key "serverr": did you mean "server"?`}},
		"unknown key of a labelled block": {"route \"home\" {\n  path = \"/\"\n  redirekt = \"/x\"\n}", []string{
			`config.hcl:1:7: route "home" leads nowhere: add one of file, dir, proxy and redirect`,
			`config.hcl:3:3: unknown key "redirekt" in route.home: did you mean "redirect"?`,
		}},
		"key in the wrong block": {"odata {\n  max = 5\n}", []string{`config.hcl:2:3: unknown key "max" in odata: it belongs into the block pagination`}},
		"block at the top":       {"entity_set \"P\" {\n}", []string{`config.hcl:1:1: unknown block or key "entity_set": it belongs into the block odata`}},
		"nothing near":           {"server {\n  zzzzzzzz = 1\n}", []string{`config.hcl:2:3: unknown key "zzzzzzzz" in server: take it out; what can stand here: address, public_url,`}},
		"wrong type: string": {"auth {\n  throttle {\n    attempts = \"five\"\n  }\n}", []string{
			`config.hcl:3:16: attempts is a string: give an integer`,
		}},
		"wrong type: text of a number": {"auth {\n  throttle {\n    attempts = \"5\"\n  }\n}", []string{`config.hcl:3:16: attempts is a string: give an integer`}},
		"wrong type: number":           {"server {\n  address = 8080\n}", []string{`config.hcl:2:13: address is a number: give a string`}},
		"wrong type: fraction":         {"mail {\n  smtp {\n    port = 25.5\n  }\n}", []string{`config.hcl:3:12: port is the number 25.5: give an integer`}},
		"wrong type: list":             {"server {\n  trusted_proxies = \"10.0.0.0/8\"\n}", []string{`config.hcl:2:21: trusted_proxies is a string: give a list of strings`}},
		"wrong type: element":          {"odata {\n  discover = [\"a\", 5]\n}", []string{`config.hcl:2:20: discover.1 is a number: give a string`}},
		"null that is none":            {"server {\n  address = null\n}", []string{`config.hcl:2:13: address must not be null: give a string, or leave the line out for the default "127.0.0.1:8080"`}},
		"attribute for a block":        {"server {\n  tls = {}\n}", []string{`config.hcl:2:3: "tls" is a block: write tls { … } without an equals sign`}},
		"block for an attribute":       {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n  env {\n  }\n}", []string{`config.hcl:4:3: "env" is no block: write env = …`}},
		"duplicate attribute":          {"server {\n  address = \"127.0.0.1:1\"\n  address = \"127.0.0.1:2\"\n}", []string{`config.hcl:3:3: attribute redefined: The argument "address" was already set at config.hcl:2,3-10`}},
		"duplicate block":              {"server {\n}\nserver {\n}", []string{`config.hcl:3:1: duplicate block server: merge it into the one at line 1`}},
		"duplicate label": {"odata {\n  entity_set \"P\" {\n    table = \"p\"\n  }\n  entity_set \"P\" {\n    table = \"p\"\n  }\n}", []string{
			`config.hcl:5:3: duplicate block entity_set "P": merge it into the one at line 2`,
		}},
		"label missing":     {"route {\n  path = \"/\"\n}", []string{`config.hcl:1:1: route has no name: write route "name" { … }`}},
		"label too many":    {"route \"a\" \"b\" {\n}", []string{`config.hcl:1:11: route has more than one label`}},
		"label for nothing": {"server \"a\" {\n}", []string{`config.hcl:1:8: server has no label: write server { … }`}},
		"required key":      {"route \"x\" {\n  redirect = \"/y\"\n}", []string{`config.hcl:1:7: route "x" has no path: add path = …`}},
		"duration":          {"session {\n  idle = \"2 hours\"\n}", []string{`config.hcl:2:10: idle: "2 hours" is no duration: write a number with a unit`}},
		"duration of zero":  {"session {\n  idle = \"0s\"\n}", []string{`config.hcl:2:10: idle: is 0s: use a duration greater than zero`}},
		"bare duration":     {"session {\n  idle = 7200\n}", []string{`config.hcl:2:10: idle is a number: give a duration such as "60s"`}},
		"CIDR":              {"server {\n  trusted_proxies = [\"10.0.0.0/8\", \"10.0.0.0/99\"]\n}", []string{`config.hcl:2:36: trusted_proxies.1: "10.0.0.0/99" is no CIDR: write a network`}},
		"address as CIDR":   {"server {\n  trusted_proxies = [\"::1\"]\n}", []string{`config.hcl:2:22: trusted_proxies.0: "::1" is an address, not a CIDR: write "::1/128"`}},
		"public URL":        {"server {\n  public_url = \"app.example.com\"\n}", []string{`config.hcl:2:16: public_url: "app.example.com" is no http or https URL`}},
		"public URL path":   {"server {\n  public_url = \"https://app.example.com/app\"\n}", []string{`config.hcl:2:16: public_url: "https://app.example.com/app" is more than an origin`}},
		"public URL required": {"server {\n  address = \"0.0.0.0:8080\"\n}", []string{
			`config.hcl:2:13: server.public_url is required, as 0.0.0.0:8080 is no loopback address: add public_url = "https://app.example.com" to server`,
		}},
		"port":               {"server {\n  address = \"127.0.0.1:99999\"\n}", []string{`config.hcl:2:13: address: "99999" is no port: use an integer from 0 to 65535`}},
		"SMTP port":          {"mail {\n  smtp {\n    port = 70000\n  }\n}", []string{`config.hcl:3:12: port: 70000 is no port`}},
		"enum":               {"database {\n  driver = \"postgresql\"\n}", []string{`config.hcl:2:12: driver: "postgresql" is not allowed: did you mean "postgres"? allowed: sqlite, postgres, mysql`}},
		"guard":              {"odata {\n  guard = \"public\"\n}", []string{`config.hcl:2:11: guard: "public" is not allowed: use one of settled, session, none`}},
		"unknown links":      {"odata {\n  pagination {\n    links = \"cursor\"\n  }\n}", []string{`config.hcl:3:13: links: "cursor" is not allowed: use one of skip, key`}},
		"negative":           {"odata {\n  pagination {\n    default = -1\n  }\n}", []string{`config.hcl:3:15: default: is -1: use an integer from 1 on`}},
		"memory":             {"server {\n  memory = \"64MiB\"\n}", []string{`config.hcl:2:12: memory = 64MiB is less than a host needs: give at least 96MiB, or take it out`}},
		"memory of no size":  {"server {\n  memory = \"half\"\n}", []string{`config.hcl:2:12: memory: "half" is no size: write an integer with a unit`}},
		"run_dir":            {"server {\n  run_dir = \"/run/a-directory-that-is-too-long-for-any-socket\"\n}", []string{`config.hcl:2:13: run_dir has 48 bytes, and the path of a socket has no room for more than 45`}},
		"admin address":      {"server {\n  admin_address = \"127.0.0.1:8080\"\n}", []string{`config.hcl:2:19: admin_address is the public address`}},
		"half of TLS":        {"server {\n  tls {\n    cert = \"a.pem\"\n  }\n}", []string{`config.hcl:3:12: server.tls.cert stands without key: add key = …`}},
		"half of a DSN":      {"odata {\n  database {\n    driver = \"mysql\"\n  }\n}", []string{`config.hcl:3:14: odata.database.driver stands without dsn: add dsn = …`}},
		"a DSN of no driver": {"odata {\n  database {\n    dsn = \"mysql://app@db/shop\"\n  }\n}", []string{`config.hcl:3:11: odata.database.dsn has the form of no driver: write a file of SQLite, postgres://user:password@host/name, or user:password@tcp(host:3306)/name, or add driver = …`}},
		"route of two":       {"route \"a\" {\n  path = \"/a\"\n  file = \"x\"\n  dir = \"y\"\n}", []string{`config.hcl:3:10: route "a" has dir and file: keep exactly one`}},
		"routes at once":     {"route \"a\" {\n  path = \"/a\"\n  redirect = \"/x\"\n}\nroute \"b\" {\n  path = \"/a\"\n  redirect = \"/x\"\n}", []string{`config.hcl:6:10: routes "a" and "b" have one path, /a`}},
		"route of ours":      {"route \"a\" {\n  path = \"/odata/x\"\n  redirect = \"/x\"\n}", []string{`config.hcl:2:10: path: "/odata/x" belongs to the host itself`}},
		"route not rooted": {
			"route \"a\" {\n  path = \"a\"\n  redirect = \"/x\"\n}",
			[]string{`config.hcl:2:10: path: "a" is not rooted: write "/a"`},
		},
		"route by a name of ours": {"route \"login\" {\n  path = \"/l\"\n  redirect = \"/x\"\n}", []string{`config.hcl:1:7: the route "login" is the host's own`}},
		"proxy":                   {"route \"a\" {\n  path = \"/a\"\n  proxy = \"localhost:3000\"\n}", []string{`config.hcl:3:11: proxy: is no http or https URL`}},
		"redirect":                {"route \"a\" {\n  path = \"/a\"\n  redirect = \"javascript:alert(1)\"\n}", []string{`config.hcl:3:14: redirect: "javascript:alert(1)" is no place to go to`}},
		"credential as column":    {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n  user_read = [\"name\", \"Password\"]\n  user_write = [\"remember_token\"]\n}", []string{`config.hcl:4:24: user_read.1: "Password" is a credential`, `config.hcl:5:17: user_write.0: "remember_token" is a credential`}},
		"credential as header":    {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n  headers = [\"Cookie\", \"Authorization\"]\n}", []string{`config.hcl:4:14: headers.0: "Cookie" holds credentials`, `config.hcl:4:24: headers.1: "Authorization" holds credentials`}},
		"role":                    {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"org-setup\"]\n}", []string{`config.hcl:3:12: roles.0: "org-setup" is not allowed: did you mean "org_setup"?`}},
		"role taken":              {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"org_setup\"]\n}\nplugin \"b\" {\n  command = [\"a\"]\n  roles = [\"listener\", \"org_setup\"]\n}", []string{`config.hcl:7:24: plugins "a" and "b" have one role, org_setup`}},
		"no role":                 {"plugin \"a\" {\n  command = [\"a\"]\n  roles = []\n}", []string{`config.hcl:3:11: plugin "a" has no role`}},
		"no command":              {"plugin \"a\" {\n  command = []\n  roles = [\"dispenser\"]\n}", []string{`config.hcl:2:13: plugin "a" has an empty command`}},
		"checksum":                {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"org_setup\"]\n  sha256 = \"abc\"\n}", []string{`config.hcl:4:12: sha256: "abc" is no sha256`}},
		"credential table":        {"odata {\n  entity_set \"U\" {\n    table = \"Users\"\n  }\n}", []string{`config.hcl:3:13: table: the table "Users" can never be exposed`}},
		"own table":               {"odata {\n  singleton \"U\" {\n    table = \"public.vestibule_sessions\"\n  }\n}", []string{`config.hcl:3:13: table: the table "public.vestibule_sessions" can never be exposed`}},
		"policy without a user":   {"odata {\n  entity_set \"P\" {\n    table = \"p\"\n    guard = \"none\"\n    filter = \"a eq @user_id\"\n  }\n}", []string{`config.hcl:5:14: the row policy asks who is signed in, and guard = "none" lets in who is not`}},
		"everybody as proxy":      {"server {\n  trusted_proxies = [\"0.0.0.0/0\"]\n}", []string{`config.hcl:2:22: trusted_proxies.0: "0.0.0.0/0" trusts strangers: name the networks`}},
		"half of everybody":       {"server {\n  trusted_proxies = [\"::/1\"]\n}", []string{`config.hcl:2:22: trusted_proxies.0: "::/1" trusts strangers`}},
		"idle of a nanosecond":    {"session {\n  idle = \"1ns\"\n}", []string{`config.hcl:2:10: idle: 1ns is out of reason: use a duration from 1m0s to `}},
		"endless session":         {"session {\n  absolute = \"2562047h\"\n}", []string{`config.hcl:2:14: absolute: 2562047h0m0s is out of reason`}},
		"endless window":          {"auth {\n  throttle {\n    window = \"2562047h\"\n  }\n}", []string{`config.hcl:3:14: window: 2562047h0m0s is out of reason: use a duration from 1s to 720h0m0s`}},
		"admin on all addresses":  {"server {\n  admin_address = \"0.0.0.0:9090\"\n}", []string{`config.hcl:2:19: admin_address: "0.0.0.0:9090" listens on every address: name a loopback or private address`}},
		"admin on every one":      {"server {\n  admin_address = \":9090\"\n}", []string{`config.hcl:2:19: admin_address: ":9090" listens on every address`}},
		"admin in public":         {"server {\n  admin_address = \"203.0.113.5:9090\"\n}", []string{`config.hcl:2:19: admin_address: "203.0.113.5:9090" is a public address`}},
		"open proxy at the root":  {"route \"all\" {\n  path = \"/\"\n  proxy = \"http://127.0.0.1:3\"\n}", []string{`config.hcl:3:11: route "all" is a proxy without a guard, and would be open with all that is below it: add guard = "settled", or guard = "none"`}},
		"open home":               {"route \"home\" {\n  path = \"/\"\n  proxy = \"http://127.0.0.1:3\"\n}", []string{`config.hcl:3:11: route "home" is a proxy without a guard`}},
		"open directory of terms": {"route \"terms\" {\n  path = \"/terms\"\n  dir = \".\"\n}", []string{`config.hcl:3:9: route "terms" is a dir without a guard`}},
		"header for a redirect":   {"route \"a\" {\n  path = \"/a\"\n  redirect = \"/b\"\n  headers = { \"Remote-User\" = \"email\" }\n}", []string{`config.hcl:4:13: route "a" has headers without a proxy`}},
		"prefix for a file":       {"route \"a\" {\n  path = \"/a\"\n  redirect = \"/b\"\n  strip_prefix = true\n}", []string{`config.hcl:4:18: route "a" has strip_prefix without a proxy`}},
		"assertion for a file":    {"route \"a\" {\n  path = \"/a\"\n  redirect = \"/b\"\n  assertion = true\n}", []string{`config.hcl:4:15: route "a" has assertion without a proxy: take it out`}},
		"assertion of verify":     {"route \"verify\" {\n  path = \"/a\"\n  proxy = \"http://127.0.0.1:3\"\n  assertion = true\n}", []string{`config.hcl:4:15: the assertions of route "verify" would pass for those of /auth/verify, whose audience is "verify": rename the route`}},
		"column like a claim":     {"route \"a\" {\n  path = \"/a\"\n  proxy = \"http://127.0.0.1:3\"\n  assertion = true\n  headers = { \"Remote-User\" = \"email\", \"Subject\" = \"Sub\" }\n}", []string{`config.hcl:5:52: route "a": an assertion says something else under the name of the column "Sub"`}},
		"tokens for a directory":  {"route \"a\" {\n  path = \"/a\"\n  dir = \".\"\n  tokens = true\n}", []string{`config.hcl:4:12: route "a" has tokens without a proxy: take it out`}},
		"tokens of verify":        {"route \"verify\" {\n  path = \"/a\"\n  proxy = \"http://127.0.0.1:3\"\n  tokens = true\n}", []string{`config.hcl:4:12: the tokens of route "verify" would open /auth/verify, too, which has that name: rename the route`}},
		"tokens of a second":      {"auth {\n  tokens {\n    max_lifetime = \"1s\"\n  }\n}", []string{`config.hcl:3:20: max_lifetime: 1s is out of reason: use a duration from 1m0s to `}},
		"endless tokens":          {"auth {\n  tokens {\n    max_lifetime = \"2562047h\"\n  }\n}", []string{`config.hcl:3:20: max_lifetime: 2562047h0m0s is out of reason`}},
		"public URL of http":      {"server {\n  public_url = \"http://app.example.com\"\n}", []string{`config.hcl:2:16: warning: public_url "http://app.example.com" is of http: passwords and cookies travel in the clear, and cookies lack Secure: write https`}},
		"public URL on loopback":  {"server {\n  public_url = \"http://localhost:8080\"\n}", nil},
		"redirect host, script":   {"auth {\n  redirect_hosts = [\"https://a.example\", \"javascript:\"]\n}", []string{`config.hcl:2:42: redirect_hosts.1: "javascript:" is no origin: write scheme and host, such as "https://crm.example.com"`}},
		"redirect host, path":     {"auth {\n  redirect_hosts = [\"https://a.example/x\"]\n}", []string{`config.hcl:2:21: redirect_hosts.0: "https://a.example/x" is no origin`}},
		"redirect host of http":   {"auth {\n  redirect_hosts = [\"http://[::1]:3000\", \"http://a.example\"]\n}", []string{`config.hcl:2:42: warning: "http://a.example" is of http`}},
		"one upstream, two guards": {
			routes("front", "/front", "http://APP.example:80", "none", "other", "/other", "http://app.example:81", "settled", "admin", "/front/admin", "http://app.example/base", "settled", "more", "/more", "http://app.example", "session"),
			[]string{`config.hcl:13:11: warning: routes "front" and "admin" lead to one application, http://app.example, behind two guards, none and settled: give both one guard`},
		},
		"one upstream, one guard": {routes("front", "/front", "http://app.example", "settled", "admin", "/front/admin", "http://app.example", ""), nil},
		"one upstream, by default": {
			routes("terms", "/terms", "http://app.example", "none", "app", "/app", "http://app.example", ""),
			[]string{`config.hcl:8:11: warning: routes "terms" and "app" lead to one application, http://app.example, behind two guards, none and settled`},
		},
		"paths that differ by case": {
			routes("a", "/App", "http://a.example", "none", "b", "/app/", "http://b.example", "settled"),
			[]string{`config.hcl:7:10: routes "a" and "b" differ by the case of letters alone, and have two guards: give both one guard, or paths that differ`},
		},
		"header of every browser": {headers("Accept-Language", "name"), []string{`config.hcl:4:35: warning: route "a": browsers send the header "Accept-Language" themselves`}},
		"header Host":             {headers("Host", "email"), []string{`config.hcl:4:24: route "a": the header "Host" names the site, which the host sets: choose a name`}},
		"header Cookie":           {headers("cookie", "email"), []string{`config.hcl:4:26: route "a": the header "cookie" holds credentials`}},
		"header Authorization":    {headers("Authorization", "email"), []string{`config.hcl:4:33: route "a": the header "Authorization" holds credentials`}},
		"header of a hop":         {headers("Connection", "email"), []string{`config.hcl:4:30: route "a": the header "Connection" belongs to one connection`}},
		"header of framing":       {headers("Content-Length", "email"), []string{`config.hcl:4:34: route "a": the header "Content-Length" frames the request`}},
		"header of forwarding":    {headers("X_Forwarded_For", "email"), []string{`config.hcl:4:35: route "a": the header "X_Forwarded_For" says where a request came from`}},
		"header of ours":          {headers("X-Vestibule-Partner", "id"), []string{`config.hcl:4:39: route "a": the header "X-Vestibule-Partner" is set by the host itself`}},
		"header with a blank":     {headers("Remote User", "email"), []string{`config.hcl:4:31: route "a": "Remote User" is no header name`}},
		"headers alike":           {headers("Remote-User", "email\", \"Remote_User\" = \"id"), []string{`config.hcl:4:56: route "a": an application may take the headers "Remote-User" and "Remote_User" for one`}},
		"header with a password":  {headers("Remote-User", "Password"), []string{`config.hcl:4:31: headers.Remote-User: "Password" is a credential: take it out`}},
		"policy under odata.guard": {
			"odata {\n  guard = \"none\"\n  entity_set \"P\" {\n    table = \"p\"\n    filter = \"a eq @user_id\"\n  }\n}",
			[]string{`config.hcl:5:14: the row policy asks who is signed in`},
		},
		"weaker set":                {"odata {\n  entity_set \"P\" {\n    table = \"p\"\n    guard = \"none\"\n    key = [\"a\"]\n    hide = [\"a\"]\n  }\n}", []string{`config.hcl:4:13: warning: guard = "none" opens nothing: odata.guard is "settled", and holds for every set: take it out, or write`, `config.hcl:5:12: the key column`}},
		"write nothing":             {writing("filter = \"a eq 1\""), []string{`config.hcl:4:5: the block allows nothing: write create = true`}},
		"write for everybody":       {writing("update = true"), []string{`config.hcl:4:5: warning: everybody who has signed in may change every row: write filter`}},
		"set and touched":           {writing("create = true\nset = { a = \"1\" }\ntouch = { a = \"2\" }"), []string{`config.hcl:6:13: the column "a" is in set and in touch`}},
		"fixed by the host":         {writing("create = true\nset = { a = \"1\" }\nfixed = [\"b\", \"a\"]"), []string{`config.hcl:7:15: the host writes the column "a"`}},
		"version that is touched":   {writing("create = true\ntouch = { v = \"@now\" }\nversion = \"v\""), []string{`config.hcl:7:11: the host moves the column "v"`}},
		"validator of no plugin":    {writing("create = true\nvalidator = \"rules\""), []string{`config.hcl:6:13: the validator is the plugin "rules", and there is no plugin: add plugin "rules"`}},
		"validator misspelt":        {writing("create = true\nvalidator = \"rule\"") + "\n" + pluginBlock("rules", "validator"), []string{`config.hcl:6:13: the validator is the plugin "rule", which does not exist: did you mean "rules"?`, `config.hcl:12:11: warning: plugin "rules" is a validator, and no set names it: write validator = "rules"`}},
		"validator without a role":  {writing("create = true\nvalidator = \"rules\"") + "\n" + pluginBlock("rules", "listener"), []string{`config.hcl:6:13: the validator is the plugin "rules", which is none: add "validator" to its roles`}},
		"validator of nothing":      {writing("validator = \"rules\"") + "\n" + pluginBlock("rules", "validator"), []string{`config.hcl:4:5: the block allows nothing`}},
		"write of a singleton":      {"odata {\n  singleton \"P\" {\n    table = \"p\"\n    write {\n      create = true\n    }\n  }\n}", []string{`config.hcl:4:5: `}},
		"hidden key":                {"odata {\n  entity_set \"P\" {\n    table = \"p\"\n    key = [\"a\"]\n    hide = [\"a\"]\n  }\n}", []string{`config.hcl:4:12: the key column "a" is hidden`}},
		"one name for two":          {"odata {\n  entity_set \"P\" {\n    table = \"p\"\n  }\n  singleton \"P\" {\n    table = \"p\"\n  }\n}", []string{`config.hcl:5:13: entity_set "P" and singleton "P" have one name`}},
		"navigation of both":        {"odata {\n  entity_set \"P\" {\n    table = \"p\"\n    navigation \"n\" {\n      to = \"P\"\n      on = { a = \"b\" }\n      via = \"t\"\n    }\n  }\n}", []string{`config.hcl:4:16: navigation "n" has both on and via`}},
		"enum member":               {"odata {\n  enum \"E\" {\n    members = { A = \"one\" }\n  }\n}", []string{`config.hcl:3:21: members.A is a string: give an integer`}},
		"route by a prefix of ours": {"route \"auth.docs\" {\n  path = \"/a\"\n  redirect = \"/x\"\n}", []string{`config.hcl:1:7: the route "auth.docs" is the host's own`}},
		"route by a probe of ours":  {"route \"healthz\" {\n  path = \"/a\"\n  redirect = \"/x\"\n}", []string{`config.hcl:1:7: the route "healthz" is the host's own`}},
		"login column to write":     {"auth {\n  login_field = \"user_name\"\n}\nplugin \"a\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n  user_write = [\"name\", \"User_Name\", \"EMAIL\", \"Id\"]\n}", []string{`config.hcl:7:25: plugin "a": the column "User_Name" identifies a person`, `config.hcl:7:38: plugin "a": the column "EMAIL" identifies`, `config.hcl:7:47: plugin "a": the column "Id" identifies`}},
		"environment of the host":   {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n  env = { PLUGIN_X = \"1\" }\n}", []string{`config.hcl:4:22: plugin "a": PLUGIN_X is the host's to set`}},
		"token as header":           {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n  headers = [\"X-XSRF-Token\"]\n}", []string{`config.hcl:4:14: headers.0: "X-XSRF-Token" holds credentials`}},
		"plugin name of 65":         {"plugin \"" + strings.Repeat("a", 65) + "\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n}", []string{`config.hcl:1:8: "` + strings.Repeat("a", 65) + `" is no name for a plugin`}},
		"plugin name of 64":         {"plugin \"" + strings.Repeat("a", 64) + "\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n}", nil},
		"sender of a sign":          {"mail {\n  from = \"Shop <😀@example.com>\"\n}", []string{`config.hcl:2:10: from: "Shop <😀@example.com>" is no mail address`}},
		"no way to sign in":         {"auth {\n  password {\n    sign_in = false\n  }\n  passkeys {\n    enabled = false\n  }\n}", []string{`config.hcl:3:15: sign_in = false leaves nobody a way to sign in: people have no passkeys either, and there is no identity: take it out, add identity "NAME" { … }, or set auth.passkeys.enabled`}},
		"passkeys without https":    {"server {\n  public_url = \"http://app.example.com\"\n}\nauth {\n  password {\n    sign_in = false\n  }\n}", []string{`config.hcl:2:16: warning: public_url "http://app.example.com" is of http`, `config.hcl:6:15: sign_in = false leaves nobody a way to sign in`}},
		"passkeys of an address":    {"server {\n  public_url = \"https://192.0.2.7\"\n}\nauth {\n  password {\n    sign_in = false\n  }\n}", []string{`config.hcl:6:15: sign_in = false leaves nobody a way to sign in`}},
		"passkeys alone":            {"auth {\n  password {\n    sign_in = false\n  }\n}", nil},
		"RP id of another site":     {"server {\n  public_url = \"https://app.example.com\"\n}\nauth {\n  passkeys {\n    rp_id = \"example.org\"\n  }\n}", []string{`config.hcl:6:13: browsers have no passkeys of "example.org" on app.example.com: name the host of server.public_url`}},
		"RP id of a part":           {"server {\n  public_url = \"https://app.example.com\"\n}\nauth {\n  passkeys {\n    rp_id = \"ple.com\"\n  }\n}", []string{`config.hcl:6:13: browsers have no passkeys of "ple.com"`}},
		"RP id on localhost":        {"auth {\n  passkeys {\n    rp_id = \"example.com\"\n  }\n}", []string{`config.hcl:3:13: browsers have no passkeys of "example.com" on localhost`}},
		"longer than bcrypt":        {"auth {\n  password {\n    hash = \"bcrypt\"\n    min_length = 73\n  }\n}", []string{`config.hcl:4:18: min_length = 73 is more than the 72 bytes that bcrypt reads: give at most 72`}},
		"login field":               {"auth {\n  login_field = \"password\"\n}", []string{`config.hcl:2:17: login_field: "password" is a credential`}},
		"sender":                    {"mail {\n  from = \"nobody\"\n}", []string{`config.hcl:2:10: from: "nobody" is no mail address`}},
		"variable":                  {"server {\n  address = var.x\n}", []string{`config.hcl:2:13: variables not allowed`}},
		"function":                  {"server {\n  address = getenv(\"X\")\n}", []string{`config.hcl:2:13: call to unknown function`}},
		"env without value":         {"server {\n  address = env(\"NOT_SET\")\n}", []string{`config.hcl:2:18: invalid function argument: Invalid value for "name" parameter: the environment variable NOT_SET is not set`}},
		"file that is none":         {"database {\n  dsn = file(\"nothing\")\n}", []string{`config.hcl:2:15: invalid function argument`}},
		"syntax":                    {"server {\n  address = \n}\nmail {\n  transport = \"pigeon\"\n}", []string{`config.hcl:2:13: invalid expression`, `config.hcl:5:15: transport: "pigeon" is not allowed`}},
		"one-line block":            {"server { address = \"127.0.0.1:1\", public_dir = \"x\" }", []string{`config.hcl:1:33: invalid single-argument block definition`}},
		"free block twice":          {"plugin \"a\" {\n  command = [\"a\"]\n  roles = [\"dispenser\"]\n  config {\n    rule {\n    }\n    rule {\n    }\n  }\n}", []string{`config.hcl:7:5: rule stands here twice: write a list: rule = [{ … }, { … }]`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"config.hcl": test.text})
			_, found := load(t, nil)
			if len(found) != len(test.want) {
				t.Fatalf("%d findings, want %d:\n%s", len(found), len(test.want), strings.Join(found, "\n"))
			}
			for i, want := range test.want {
				if !strings.HasPrefix(found[i], want) {
					t.Errorf("finding %d\n got %s\nwant %s…", i, found[i], want)
				}
			}
		})
	}
}

// Issue 2: a config with five different mistakes reports all five with positions.
func TestAllFaultsAtOnce(t *testing.T) {
	write(t, map[string]string{
		"config.hcl":        "server {\n  adress = \"x\"\n}\nsession {\n  idle = 5\n}\nroute \"a\" {\n  path = \"/a\"\n}\n",
		"conf.d/10-a.hcl":   "odata {\n  pagination {\n    max = \"many\"\n  }\n}\n",
		"conf.d/20-b.hcl":   "mail {\n  transport = \"smpt\"\n}\n",
		"conf.d/ignored.md": "not HCL",
	})
	_, found := load(t, []string{"VESTIBULE_AUTH__THROTTLE__ATTEMPTS=many", "PATH=/bin"}, "session.absolut=1h")
	want := []string{
		`conf.d/10-a.hcl:3:11: max is a string: give an integer`,
		`conf.d/20-b.hcl:2:15: transport: "smpt" is not allowed: did you mean "smtp"? allowed: file, log, smtp`,
		`config.hcl:2:3: unknown key "adress" in server: did you mean "address"?`,
		`config.hcl:5:10: idle is a number: give a duration such as "60s"`,
		`config.hcl:7:7: route "a" leads nowhere: add one of file, dir, proxy and redirect`,
		`--set session.absolut: unknown key "absolut" in session: did you mean "absolute"?`,
		`VESTIBULE_AUTH__THROTTLE__ATTEMPTS: attempts is a string: give an integer`,
	}
	if got := strings.Join(found, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg, found := load(t, nil)
	if cfg != nil || len(found) != 1 || found[0] != "config.hcl:1:1: there is no such file: write one with `vestibule init`, or name another with -c" {
		t.Errorf("got %v, %q", cfg, found)
	}
}

// headers is a route to an application with one header of a name and a column.
func headers(name, column string) string {
	return "route \"a\" {\n  path = \"/a\"\n  proxy = \"http://127.0.0.1:3\"\n  headers = { \"" + name + "\" = \"" + column + "\" }\n}"
}

// routes is a configuration of proxies: name, path, address and guard of each, and none of
// the last that are empty.
func routes(texts ...string) string {
	var b strings.Builder
	for i := 0; i < len(texts); i += 4 {
		b.WriteString("route \"" + texts[i] + "\" {\n  path = \"" + texts[i+1] + "\"\n  proxy = \"" + texts[i+2] + "\"\n")
		if texts[i+3] != "" {
			b.WriteString("  guard = \"" + texts[i+3] + "\"\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// writing is a set with these lines in its block write.
func writing(lines string) string {
	return "odata {\n  entity_set \"P\" {\n    table = \"p\"\n    write {\n" + lines + "\n    }\n  }\n}"
}
