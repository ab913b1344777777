package pluginproc

import (
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A Problem is a mistake in a plugin's config block, found by the plugin.
type Problem struct {
	// Plugin is the block's label.
	Plugin string
	// Path leads to the mistake inside the config block: names joined by dots,
	// list elements by index, as in rules[1].target. Empty means the block.
	Path string
	// Message says what is wrong and what to do.
	Message string
}

// A ConfigError is the mistakes that plugins found in their config blocks.
// host/config prints each at its place in config.hcl.
type ConfigError struct {
	Problems []Problem
}

// problemsOf adds the label of the plugin to the mistakes that it found.
func problemsOf(plugin string, err *pluginsdk.ConfigError) []Problem {
	out := make([]Problem, len(err.Problems))
	for i, p := range err.Problems {
		out[i] = Problem{Plugin: plugin, Path: p.Path, Message: p.Message}
	}
	return out
}

// Error lists the problems in one line.
func (e *ConfigError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		where := "config"
		if p.Path != "" {
			where = "config." + p.Path
		}
		texts[i] = fmt.Sprintf("plugin %q: %s: %s", p.Plugin, where, p.Message)
	}
	return strings.Join(texts, "; ")
}
