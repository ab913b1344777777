package pluginproc

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A Spec is the plugin block of config.hcl, resolved.
type Spec struct {
	// Name is the block's label; it prefixes the plugin's session values.
	Name string
	// Command is the program, as an absolute path, and its arguments.
	Command []string
	// Dir is the working directory of the process; empty means the host's.
	Dir string
	// Roles are some of [pluginsdk.Roles]. The plugin must declare each of them.
	Roles []string
	// SHA256 is the hexadecimal checksum of Command[0]; empty means unchecked.
	SHA256 string
	// Checksums holds the hexadecimal SHA-256 of further files by absolute
	// path, such as the script that an interpreter runs.
	Checksums map[string]string
	// UserRead and UserWrite name the user columns that the plugin may see and
	// change. Credentials cannot be granted.
	UserRead, UserWrite []string
	// Mails names the mails that the plugin may send to the user whom it is asked about.
	Mails []string
	// PublicURL is the origin that people see, which the plugin learns; empty for none.
	PublicURL string
	// Headers names the request headers that the plugin may see, in any case.
	// Cookies and authorization headers cannot be granted.
	Headers []string
	// Env is added to PATH, HOME, LANG, TZ and TMPDIR of the host.
	Env map[string]string
	// Timeout bounds one call, a retry included. Zero means 3 s.
	Timeout time.Duration
	// Config is the config block as a JSON object; nil means none.
	Config json.RawMessage
}

// program is what a process of the plugin runs.
func (s Spec) program() proc.Program {
	return proc.Program{
		Name: s.Name, Command: s.Command, Dir: s.Dir, SHA256: s.SHA256, Checksums: s.Checksums, Env: s.Env,
	}
}

// setup is what the plugin is told about itself.
func (s Spec) setup() pluginsdk.Setup {
	return pluginsdk.Setup{
		Name: s.Name, Roles: s.Roles, UserRead: s.UserRead, UserWrite: s.UserWrite, Headers: s.Headers, Config: s.Config,
		Mails: s.Mails, PublicURL: s.PublicURL,
	}
}

// same tells whether two specs, with their defaults filled in, lead to the same
// process.
func (s Spec) same(other Spec) bool { return reflect.DeepEqual(s, other) }
