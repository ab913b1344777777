package config

func serverBlock() block {
	return block{
		name: "server", doc: "Where and how the host listens.",
		keys: []key{
			{name: "address", def: `"127.0.0.1:8080"`, check: checkAddress, doc: "host:port to listen on; port 0 takes a free one"},
			{
				name: "public_url", null: true, def: "null", check: checkOrigin, sample: `"https://app.example.com"`,
				doc: "the origin that people see, from which all absolute URLs are built; required unless the address is loopback",
			},
			{name: "trusted_proxies", kind: texts, def: "[]", check: checkCIDR, sample: `["10.0.0.0/8"]`, doc: "CIDRs whose X-Forwarded-For is believed"},
			{name: "public_dir", null: true, def: `"public"`, path: true, doc: "the host's own files, served at /"},
			{
				name: "admin_address", null: true, def: "null", check: checkAddress, sample: `"127.0.0.1:9090"`,
				doc: "host:port of /metrics and /debug/pprof; never on the public address",
			},
		},
		blocks: []block{
			{
				name: "tls", doc: "Certificate and key, both or none; read again at every reload.",
				keys: []key{
					{name: "cert", null: true, def: "null", path: true, sample: `"tls/server.crt"`, doc: "PEM file with the certificate chain"},
					{name: "key", null: true, def: "null", path: true, sample: `"tls/server.key"`, doc: "PEM file with the private key"},
				},
			},
			{
				name: "log", doc: "What is logged, to standard error.",
				keys: []key{
					{name: "level", def: `"info"`, oneOf: []string{"trace", "debug", "info", "warn", "error", "off"}, doc: "the least level that is logged; changes at a reload"},
					{name: "format", def: `"text"`, oneOf: []string{"text", "json"}, doc: "lines for people or for machines"},
				},
			},
		},
	}
}

func databaseBlock() block {
	return block{
		name: "database", doc: "The database that holds users, sessions, counters and the outbox. Many hosts may share one.",
		keys: []key{
			{name: "driver", def: `"sqlite"`, oneOf: drivers(), doc: "the engine; mysql is tested with MariaDB"},
			{name: "dsn", def: `"vestibule.db"`, secret: true, check: checkFilled, doc: "a file for sqlite, a URL for postgres, user:password@tcp(host:port)/name for mysql"},
		},
	}
}

func drivers() []string { return []string{"sqlite", "postgres", "mysql"} }

func sessionBlock() block {
	return block{
		name: "session", doc: "How long people stay signed in.",
		keys: []key{
			{name: "idle", kind: span, def: `"2h"`, check: checkPositive, doc: "a session ends after this time without a request"},
			{name: "absolute", kind: span, def: `"24h"`, check: checkPositive, doc: "and after this time in any case"},
			{name: "remember", kind: span, def: `"720h"`, check: checkPositive, doc: "a device that is kept signed in is forgotten after this time without a visit"},
		},
	}
}

func authBlock() block {
	return block{
		name: "auth", doc: "The rules of sign-in.",
		keys: []key{
			{name: "login_field", def: `"email"`, check: checkLoginField, doc: "the column of users that people sign in with"},
			{
				name: "redirect_hosts", kind: texts, def: "[]", check: checkRedirectHost, sample: `["https://crm.example.com"]`,
				doc: "other origins that a redirect intent may name",
			},
		},
		blocks: []block{
			{
				name: "throttle", doc: "Failed attempts for a login name and client address.",
				keys: []key{
					{name: "attempts", kind: number, def: "5", check: checkPositive, doc: "failed attempts in the window; the next one gets 429"},
					{name: "window", kind: span, def: `"60s"`, check: checkPositive, doc: "how long attempts count"},
				},
			},
			{
				name: "reset", doc: "Password reset by mail.",
				keys: []key{
					{name: "lifetime", kind: span, def: `"60m"`, check: checkPositive, doc: "how long a link works"},
					{name: "resend", kind: span, def: `"60s"`, check: checkPositive, doc: "within it a further request gets the same 200 and no mail"},
					{name: "attempts", kind: number, def: "5", check: checkPositive, doc: "forgot and reset requests, by address and by client, in the throttle window"},
				},
			},
			{
				name: "password", doc: "Rules for new passwords.",
				keys: []key{
					{name: "min_length", kind: number, def: "12", check: checkPositive, doc: "characters"},
				},
			},
		},
	}
}

func mailBlock() block {
	return block{
		name: "mail", doc: "How mail leaves the outbox.",
		keys: []key{
			{name: "transport", def: `"file"`, oneOf: []string{"file", "log", "smtp"}, doc: "file: .eml files in dir; log: recipient and subject only; smtp"},
			{name: "dir", def: `"mail"`, path: true, check: checkFilled, doc: "directory of transport file"},
			{name: "from", def: `"Vestibule <no-reply@localhost>"`, check: checkMailAddress, doc: "the sender"},
			{name: "templates", null: true, def: "null", path: true, sample: `"templates"`, doc: "directory that replaces the built-in templates file by file"},
		},
		blocks: []block{{
			name: "smtp", doc: "The server of transport smtp.",
			keys: []key{
				{name: "host", def: `"localhost"`, check: checkFilled, doc: "name or address"},
				{name: "port", kind: number, def: "587", check: checkPort, doc: "port"},
				{name: "username", null: true, def: "null", sample: `"vestibule"`, doc: "null signs in nowhere"},
				{name: "password", null: true, secret: true, def: `env("SMTP_PASSWORD", null)`, doc: "keep it out of the file"},
				{name: "tls", def: `"starttls"`, oneOf: []string{"starttls", "implicit", "none"}, doc: "how the connection is protected"},
			},
		}},
	}
}
