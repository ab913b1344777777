package reserved

import (
	"regexp"
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

// Env reports whether an environment variable of a plugin is the host's to set.
func Env(name string) bool {
	return strings.HasPrefix(name, "PLUGIN_") || strings.HasPrefix(name, "VESTIBULE_")
}
