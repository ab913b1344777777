package main

// commands returns all commands.
func commands() []command {
	return []command{
		initCommand(), serveCommand(), checkCommand(), migrateCommand(),
		{name: "user", args: "add|list|disable|enable|passwd|reset-link", short: "see to the people who may sign in", sub: userCommands()},
		{name: "session", args: "list|revoke", short: "see and end sessions", sub: sessionCommands()},
		{name: "token", args: "add|list|revoke", short: "make, see and end machine tokens", sub: tokenCommands()},
		{name: "passkey", args: "list|delete", short: "see and end passkeys", sub: passkeyCommands()},
		{name: "identity", args: "list|unlink", short: "see and unlink accounts elsewhere with which people sign in", sub: identityCommands()},
		{name: "throttle", args: "list|clear", short: "see and clear the counters of attempts", sub: throttleCommands()},
		{name: "plugin", args: "new|list|check|call|sum", short: "write, try and watch plugins", sub: pluginCommands()},
		{name: "odata", args: "metadata|explain", short: "look into the query endpoint", sub: odataCommands()},
		backupCommand(), completionCommand(), versionCommand(),
	}
}
