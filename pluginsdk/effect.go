package pluginsdk

// A Value is what a user column or a session value holds: nil, bool, int64,
// float64, string or []byte. Narrower numbers are widened, and a [time.Time] is sent as
// text of RFC 3339 in UTC. Other types break the contract.
type Value = any

// EffectKind tells what an [Effect] changes.
type EffectKind int

// The kinds of an effect.
const (
	// EffectConsumeIntended forgets the page that the person had asked for.
	EffectConsumeIntended EffectKind = iota + 1
	// EffectSetSession sets a session value of the plugin's own.
	EffectSetSession
	// EffectSetUser sets a column of the user that config.hcl grants.
	EffectSetUser
)

// An Effect is one change that a plugin asks the host to make. The host applies
// all effects of an answer, the session and the next intent in one transaction,
// or none of them.
type Effect struct {
	kind  EffectKind
	name  string
	value Value

	replaces bool
	old      Value
}

// ConsumeIntended removes the intended URL, the page that the person asked for
// before signing in; a dispenser that redirects there itself adds it.
func ConsumeIntended() Effect { return Effect{kind: EffectConsumeIntended} }

// SetSession keeps a value in the person's session, under a name that only this
// plugin sees. nil removes it. Session values end with the session. One has at most
// 16 KiB, and all of this plugin's together have 32 KiB, where each counts 10 bytes and
// its name besides: more breaks the contract.
func SetSession(name string, value Value) Effect {
	return Effect{kind: EffectSetSession, name: name, value: widen(value)}
}

// SetUser sets a column of the user's row. The column must stand in user_write
// of the plugin's block in config.hcl.
func SetUser(column string, value Value) Effect {
	return Effect{kind: EffectSetUser, name: column, value: widen(value)}
}

// Replacing returns a copy of an effect of [SetUser] that counts only while the
// column holds old, as the plugin has seen it. If it holds another value by the
// time of the commit, nothing of the answer is applied; a dispenser is then asked
// again with fresh columns, three times at most. So a code is used once, however
// many sessions and hosts try it at the same time.
func (e Effect) Replacing(old Value) Effect {
	e.replaces, e.old = true, old
	return e
}

// Replaced returns the value that the effect replaces, and whether it names one.
func (e Effect) Replaced() (old Value, named bool) { return e.old, e.replaces }

// Kind tells what the effect changes.
func (e Effect) Kind() EffectKind { return e.kind }

// Name returns the session value's or column's name; it is empty for
// [EffectConsumeIntended].
func (e Effect) Name() string { return e.name }

// Value returns the new value, integers as int64.
func (e Effect) Value() Value { return e.value }
