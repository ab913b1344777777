package schema

func serverBlock() Block {
	return Block{
		Name: "server", Doc: "Where and how the host listens.",
		Keys: []Key{
			{Name: "address", Def: `"127.0.0.1:8080"`, Check: checkAddress, Doc: "host:port to listen on; port 0 takes a free one"},
			{
				Name: "public_url", Null: true, Def: "null", Check: checkOrigin, Sample: `"https://app.example.com"`,
				Doc: "the origin that people see, from which all absolute URLs are built; required unless the address is loopback; cookies have Secure where it is https, and `check` warns where it is not",
			},
			{Name: "trusted_proxies", Kind: Texts, Def: "[]", Check: checkCIDR, Sample: `["10.0.0.0/8"]`, Doc: "CIDRs whose X-Forwarded-For, X-Request-Id and traceparent are believed"},
			{Name: "public_dir", Null: true, Def: `"public"`, Path: true, Doc: "the host's own files, served at /"},
			{
				Name: "admin_address", Null: true, Def: "null", Check: checkAdminAddress, Sample: `"127.0.0.1:9090"`,
				Doc: "host:port of /metrics, /debug/pprof and what `vestibule plugin list` asks; a loopback or private one, which refuses any Host but its own with 421",
			},
			{
				Name: "run_dir", Null: true, Def: "null", Check: checkFilled, Path: true, Sample: `"/run/vestibule"`,
				Doc: "where the private folder for sockets and copies of plugin programs is made, a path of at most 45 bytes; null: `$RUNTIME_DIRECTORY`, as systemd sets it, else the folder for temporary files",
			},
			{
				Name: "drain", Kind: Span, Def: `"15s"`, Check: checkWait,
				Doc: "how long the host goes on serving after SIGTERM, while /readyz says 503 and each answer ends its connection; longer than the balancer takes to notice",
			},
		},
		Blocks: []Block{
			{
				Name: "tls", Live: true, Doc: "Certificate and key, both or none; read again at every reload. TLS itself is switched on and off by a restart.",
				Keys: []Key{
					{Name: "cert", Null: true, Def: "null", Path: true, Sample: `"tls/server.crt"`, Doc: "PEM file with the certificate chain"},
					{Name: "key", Null: true, Def: "null", Path: true, Sample: `"tls/server.key"`, Doc: "PEM file with the private key"},
				},
			},
			{
				Name: "log", Doc: "What is logged, to standard error.",
				Keys: []Key{
					{Name: "level", Live: true, Def: `"info"`, OneOf: []string{"trace", "debug", "info", "warn", "error", "off"}, Doc: "the least level that is logged; changes at a reload"},
					{Name: "format", Def: `"text"`, OneOf: []string{"text", "json"}, Doc: "lines for people or for machines"},
				},
			},
		},
	}
}

func appBlock() Block {
	return Block{
		Name: "app", Doc: "What people know the application by.",
		Keys: []Key{{
			Name: "name", Null: true, Def: "null", Check: checkFilled, Sample: `"Acme Orders"`,
			Doc: "the name on the screens and in mails; null: the display name in mail.from, else the host name of server.public_url",
		}},
	}
}

func limitsBlock() Block {
	return Block{
		Name: "limits", Doc: "What one client may have at once: requests of those who are signed in count by user, others by address, of IPv6 the /64. Beyond it a client waits, and then gets 429.",
		Keys: []Key{
			{Name: "requests_per_client", Kind: Number, Def: "64", Check: checkPositive, Doc: "requests that the host itself answers; proxied ones do not count"},
			{Name: "upgrades_per_client", Kind: Number, Def: "256", Check: checkPositive, Doc: "WebSockets through proxies"},
		},
	}
}

func databaseBlock() Block {
	return Block{
		Name: "database", Doc: "The database that holds users, sessions, counters and the outbox. Many hosts may share one.",
		Keys: []Key{
			{Name: "driver", Def: `"sqlite"`, OneOf: Drivers(), Doc: "the engine; mysql is tested with MariaDB"},
			{Name: "dsn", Def: `"vestibule.db"`, Secret: true, Check: checkFilled, Doc: "a file for sqlite, a URL for postgres, user:password@tcp(host:port)/name for mysql"},
			{Name: "max_connections", Kind: Number, Def: "20", Check: checkPositive, Doc: "connections of sign-in at once; readers for sqlite, beside one that writes"},
			{Name: "wait", Kind: Span, Def: `"10s"`, Check: checkPositive, Doc: "how long a request waits for its turn, and for a connection of the database, a lock or a failover; then 429 or 503"},
			{Name: "start_wait", Kind: Span, Def: `"60s"`, Check: checkWait, Doc: "how long `serve` waits at its start for a database that is away"},
		},
	}
}

// Drivers are the engines that a database may have.
func Drivers() []string { return []string{"sqlite", "postgres", "mysql"} }

func sessionBlock() Block {
	return Block{
		Name: "session", Doc: "How long people stay signed in.",
		Keys: []Key{
			{Name: "idle", Kind: Span, Def: `"2h"`, Check: checkLifetime, Doc: "a session ends after this time without a request"},
			{Name: "absolute", Kind: Span, Def: `"24h"`, Check: checkLifetime, Doc: "and after this time in any case"},
			{Name: "remember", Kind: Span, Def: `"720h"`, Check: checkLifetime, Doc: "a device that is kept signed in is forgotten after this time without a visit, and a year after its sign-in in any case"},
		},
	}
}

func authBlock() Block {
	return Block{
		Name: "auth", Doc: "The rules of sign-in.",
		Keys: []Key{
			{Name: "login_field", Def: `"email"`, Check: checkLoginField, Doc: "the column of users that people sign in with"},
			{
				Name: "active", Null: true, Def: "null", Check: checkFilled, Sample: `"deleted_at eq null and is_active"`,
				Doc: "who may sign in, as a condition in $filter syntax over the columns of users; null and 0 are no. A change in the table holds within 5 s for everything that the person has. null lets everybody in who is not disabled",
			},
			{Name: "recent", Kind: Span, Def: `"10m"`, Check: checkLifetime, Doc: "how fresh a sign-in must be before what somebody signs in with is changed, such as by a new machine token"},
			{
				Name: "redirect_hosts", Kind: Texts, Def: "[]", Check: checkRedirectHost, Sample: `["https://crm.example.com"]`,
				Doc: "other origins that a redirect intent may name: https, or http with a warning unless on loopback, and no path; a bare host means https",
			},
		},
		Blocks: []Block{
			{
				Name: "throttle", Doc: "Failed attempts to sign in.",
				Keys: []Key{
					{Name: "attempts", Kind: Number, Def: "5", Check: checkPositive, Doc: "for a login name and client address, in the window; the next one gets 429"},
					{Name: "client_attempts", Kind: Number, Def: "100", Check: checkPositive, Doc: "of one client address over all names, in the window"},
					{Name: "window", Kind: Span, Def: `"60s"`, Check: checkWindow, Doc: "how long attempts count"},
				},
			},
			{
				Name: "reset", Doc: "Password reset by mail.",
				Keys: []Key{
					{Name: "lifetime", Kind: Span, Def: `"60m"`, Check: checkLifetime, Doc: "how long a link works"},
					{Name: "resend", Kind: Span, Def: `"60s"`, Check: checkPositive, Doc: "least time between two mails to one address: within it a further request gets the same 200 and no mail; doubles after each mail, to 1h at most, until a day without one"},
					{Name: "attempts", Kind: Number, Def: "5", Check: checkPositive, Doc: "forgot requests, and resets with a token that is not valid, by address and by client, in the throttle window"},
				},
			},
			{
				Name: "password", Doc: "Rules for new passwords.",
				Keys: []Key{
					{Name: "min_length", Kind: Number, Def: "12", Check: checkPositive, Doc: "characters"},
					{Name: "hash", Def: `"argon2id"`, OneOf: []string{"argon2id", "bcrypt", "keep"}, Doc: "format of new hashes, and of others from the next sign-in on; for an application that checks passwords itself: bcrypt ($2y$, cost 12; at most 72 bytes), or keep (the format that the user has, argon2id without one)"},
				},
			},
			{
				Name: "tokens", Doc: "Machine tokens, which stand for a person at /odata/ or at one route.",
				Keys: []Key{
					{Name: "self_service", Kind: Flag, Def: "false", Doc: "people may make tokens for /odata/ of their own, at /auth/tokens; otherwise only `vestibule token add` does"},
					{Name: "max_lifetime", Kind: Span, Def: `"8760h"`, Check: checkLifetime, Doc: "the most that a token may last; one that does not say lasts 90 days"},
				},
			},
		},
	}
}

func mailBlock() Block {
	return Block{
		Name: "mail", Doc: "How mail leaves the outbox.",
		Keys: []Key{
			{Name: "transport", Def: `"file"`, OneOf: []string{"file", "log", "smtp"}, Doc: "file: .eml files in dir; log: recipient and subject only; smtp"},
			{Name: "dir", Def: `"mail"`, Path: true, Check: checkFilled, Doc: "directory of transport file"},
			{Name: "from", Def: `"Vestibule <no-reply@localhost>"`, Check: checkSender, Doc: "the sender"},
			{Name: "templates", Null: true, Def: "null", Path: true, Sample: `"templates"`, Doc: "directory that replaces the built-in templates file by file"},
		},
		Blocks: []Block{{
			Name: "smtp", Doc: "The server of transport smtp.",
			Keys: []Key{
				{Name: "host", Def: `"localhost"`, Check: checkFilled, Doc: "name or address"},
				{Name: "port", Kind: Number, Def: "587", Check: checkPort, Doc: "port"},
				{Name: "username", Null: true, Def: "null", Sample: `"vestibule"`, Doc: "null signs in nowhere"},
				{Name: "password", Null: true, Secret: true, Def: `env("SMTP_PASSWORD", null)`, Doc: "keep it out of the file"},
				{Name: "tls", Def: `"starttls"`, OneOf: []string{"starttls", "implicit", "none"}, Doc: "how the connection is protected"},
			},
		}},
	}
}
