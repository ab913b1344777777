package pluginproc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// checkSpecs returns the specs with defaults filled in, or all their mistakes. owned
// are the roles that no plugin may have, with who has them.
func checkSpecs(specs []Spec, owned map[string]string) ([]Spec, error) {
	out := make([]Spec, len(specs))
	names, owners := map[string]bool{}, reserved.RoleOwners{}
	for role, owner := range owned {
		owners[role] = owner
	}
	var errs []error
	for i, s := range specs {
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("plugin %q: %s", s.Name, fmt.Sprintf(format, args...)))
		}
		if names[s.Name] {
			bad("there are two plugins of this name: rename one")
		}
		names[s.Name] = true
		for _, role := range s.Roles {
			if first, ok := owners.Take(role, fmt.Sprintf("the plugin %q", s.Name)); !ok {
				bad("the role %q already belongs to %s: take it from one of them", role, first)
			}
		}
		out[i] = s.withDefaults()
		out[i].check(bad)
	}
	return out, errors.Join(errs...)
}

func (s Spec) withDefaults() Spec {
	if s.Timeout == 0 {
		s.Timeout = 3 * time.Second
	}
	if text := string(bytes.TrimSpace(s.Config)); text == "" || text == "null" {
		s.Config = json.RawMessage("{}")
	}
	s.SHA256 = strings.ToLower(s.SHA256)
	s.Headers = slices.Clone(s.Headers)
	for i, name := range s.Headers {
		s.Headers[i] = strings.ToLower(name)
	}
	return s
}

func (s Spec) check(bad func(format string, args ...any)) {
	if !reserved.PluginName(s.Name) {
		bad("this is no name for a plugin: %s", reserved.PluginNameRule)
	}
	if len(s.Command) == 0 || !filepath.IsAbs(s.Command[0]) {
		bad("command must begin with the path of a program")
	}
	if len(s.Roles) == 0 {
		bad("it has no roles: set roles to some of %q", pluginsdk.Roles())
	}
	for _, role := range s.Roles {
		if !slices.Contains(pluginsdk.Roles(), role) {
			bad("the role %q is unknown: use some of %q", role, pluginsdk.Roles())
		}
	}
	if s.SHA256 != "" && !isSum(s.SHA256) {
		bad("sha256 is not 64 hexadecimal digits: use the output of \"vestibule plugin sum\"")
	}
	for path, sum := range s.Checksums {
		if !isSum(sum) {
			bad("the checksum of %s is not 64 hexadecimal digits: use the output of \"vestibule plugin sum\"", path)
		}
	}
	if s.Timeout < 0 {
		bad("timeout is negative")
	}
	s.checkGrants(bad)
	var config map[string]any
	if !bytes.HasPrefix(bytes.TrimSpace(s.Config), []byte("{")) || json.Unmarshal(s.Config, &config) != nil {
		bad("config is no JSON object")
	}
}

// checkGrants refuses what must never reach a plugin, or come from one.
func (s Spec) checkGrants(bad func(format string, args ...any)) {
	if slices.Contains(slices.Concat(s.UserRead, s.UserWrite), "*") {
		bad(`"*" is no column: name each column that is granted`)
	}
	for _, column := range s.UserRead {
		if reserved.Credential(column) {
			bad("user_read names %q: credentials cannot be granted", column)
		}
	}
	for _, column := range s.UserWrite {
		if !reserved.Writable(column, "") {
			bad("user_write names %q: it cannot be granted", column)
		}
	}
	for _, name := range s.Mails {
		if !reserved.MailName(name) {
			bad("mails names %q: %s", name, reserved.MailNameRule)
		}
	}
	for _, name := range s.Headers {
		if reserved.Header(name) {
			bad("headers names %q: cookies and authorization cannot be granted", name)
		}
	}
	for key := range s.Env {
		if reserved.Env(key) || key == "" || strings.ContainsAny(key, "=\x00") {
			bad("env names %q: names beginning with PLUGIN_ or VESTIBULE_ are the host's", key)
		}
	}
}

func isSum(s string) bool {
	ok, _ := regexp.MatchString(`^[0-9A-Fa-f]{64}$`, s)
	return ok
}
