package pluginproc

import (
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// mistakes are the findings for what a plugin found in its config block.
func mistakes(plugin string, err *pluginsdk.ConfigError) []error {
	out := make([]error, len(err.Problems))
	for i, p := range err.Problems {
		what := fmt.Sprintf("plugin %q: config", plugin)
		if p.Path != "" {
			what += "." + p.Path
		}
		steps := strings.FieldsFunc(p.Path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) // of rules[1].target
		out[i] = finding.Finding{Path: append([]string{"plugin", plugin, "config"}, steps...), What: what, Remedy: p.Message}
	}
	return out
}
