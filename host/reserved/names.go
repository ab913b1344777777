package reserved

import (
	"regexp"
	"slices"
	"strings"
)

// MaxLogin is how many bytes of a login name count, and are logged.
const MaxLogin = 255

// PluginNameRule is the rule of [PluginName] as the remedy of a message.
const PluginNameRule = "use letters, digits, - and _, beginning with a letter or digit, at most 64"

// PluginName reports whether a plugin may have this name.
func PluginName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`).MatchString(name)
}

// IdentityNameRule is the rule of [IdentityName] as the remedy of a message.
const IdentityNameRule = "use lower-case letters, digits, - and _, beginning with a letter or digit, at most 64, and not options"

// IdentityName reports whether an identity provider may have the name, which is part of addresses. POST
// /auth/account/confirm/options is another endpoint.
func IdentityName(name string) bool {
	return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`).MatchString(name) && name != "options"
}

// MailNameRule is the rule of [MailName] as the remedy of a message.
const MailNameRule = "write the name of a template of your own, without a folder and without .txt: lower-case letters, digits, - and _, beginning with a letter, at most 64"

// MailName reports whether a mail of a plugin may have the name: that of a file, and not
// that of a mail of the host itself.
func MailName(name string) bool {
	own := []string{"password_reset", "password_changed", "token_added", "passkey_added", "identity_added", "many_failures", "invitation"}
	return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`).MatchString(name) && !slices.Contains(own, name)
}

// Env reports whether an environment variable of a plugin is the host's to set.
func Env(name string) bool {
	return strings.HasPrefix(name, "PLUGIN_") || strings.HasPrefix(name, "VESTIBULE_")
}
