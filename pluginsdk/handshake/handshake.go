// Package handshake is what the two sides of a plugin's connection must agree on before
// they talk. Hosts need it, and those who start plugins themselves; an author's
// plugin does not, since pluginsdk.Serve knows it.
//
// What lives elsewhere: the messages are pluginsdk/proto. Start reading at [Config].
package handshake

import "github.com/hashicorp/go-plugin"

const (
	// Protocol is the version of the protocol that the handshake names.
	Protocol = 1
	// Plugin is the one entry of go-plugin's set of plugins.
	Plugin = "vestibule"
	// MaxAnswer is the size in bytes beyond which a host refuses an answer.
	MaxAnswer = 1 << 20
	// MaxRequest is the size in bytes beyond which a host does not send a call.
	// Plugins take 4 MiB, which is what gRPC allows where nobody says otherwise.
	MaxRequest = 2 << 20
	// MaxChanges is the size in bytes beyond which a host does not send changes of data to a
	// validator: all that a plugin takes.
	MaxChanges = 4 << 20
	// MaxHeaders is the size in bytes of the header list or trailers of an answer,
	// the text of an error included, beyond which a host gives up the call.
	MaxHeaders = 64 << 10
)

// The environment variable, and its value, by which a plugin sees that a host
// started it rather than a person.
const (
	Cookie      = "VESTIBULE_PLUGIN"
	CookieValue = "vestibule.plugin.v1"
)

// The environment variable, and its value, by which a host says that the standard
// input of a plugin is a pipe that ends when the host does, in whatever way. The
// plugin must end then too.
const (
	Lifeline      = "VESTIBULE_LIFELINE"
	LifelineStdin = "stdin"
)

// Config is the handshake as go-plugin wants it.
func Config() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: Protocol, MagicCookieKey: Cookie, MagicCookieValue: CookieValue}
}
