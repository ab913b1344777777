package pluginsdk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"google.golang.org/grpc"
)

// RoleValidator is the role of a [Validator]. Any number of plugins may have it.
const RoleValidator = "validator"

// The limits of a verdict, the last two in bytes.
const (
	maxRefusals   = 1000
	maxAmendments = 10000
	maxMessage    = 1 << 10
	maxProperty   = 256
)

// The kinds of changes.
const (
	changeCreate = "create"
	changeUpdate = "update"
	changeDelete = "delete"
)

// A Validator judges the changes of data that people make through /odata/, before any of them
// is written. The host asks the plugin that the entity set names, once about all changes of a
// request or of a group. The plugin decides without acting: the host may ask again about
// the same changes, and write none of them. An error means that there is no verdict: the
// answer is 503, nothing is written, and the text reaches the operator's log alone. Validate
// may be called from several goroutines at once.
type Validator interface {
	// Validate judges changes that user makes. It returns a verdict of [Accept], [Refuse] or
	// [Amend]; the index of a change in a verdict is that in changes.
	Validate(ctx context.Context, user User, changes []Change) (Verdict, error)
}

// ValidatorFunc lets an ordinary function be a [Validator].
type ValidatorFunc func(ctx context.Context, user User, changes []Change) (Verdict, error)

// Validate calls f.
func (f ValidatorFunc) Validate(ctx context.Context, user User, changes []Change) (Verdict, error) {
	return f(ctx, user, changes)
}

// A Change is one change of an entity that somebody wants to make. It does not change and may
// be shared between goroutines.
type Change struct {
	// Set is the name of the entity set.
	Set string
	// Kind is "create", "update" or "delete".
	Kind string
	// Key is the key as in the address of the entity, such as "5" or "order=1,line=2". Keys of
	// this request that are not known yet are "$1", "$2" and so on, and so are the values in
	// New that refer to such an entity.
	Key string
	// Old is the entity as it is, empty for a create. New is the entity as it would be, empty
	// for a delete; a property that the database will fill is null. Both have the visible
	// properties and those that the host sets; one of a complex property is named by its path,
	// such as "address/city". [Values.Rat] reads all digits of a decimal. Dates, times and
	// GUIDs are texts as in OData.
	Old, New Values

	// What a host sends, which it need not decode.
	oldJSON, newJSON []byte
}

// WithJSON returns a copy of the change that a [Client] sends with the JSON objects old and new
// as they are, nil for none. Hosts call it; Old and New do not count then.
func (c Change) WithJSON(old, new []byte) Change {
	c.oldJSON, c.newJSON = old, new
	return c
}

// A Verdict is the answer of a [Validator] about all changes of a call. Make one with [Accept],
// [Refuse] or [Amend], and add to it with its methods. If it refuses anything, nothing is
// written and its amendments do not count. A Verdict is a value: methods return copies and it
// may be shared between goroutines.
type Verdict struct {
	last                 *decision
	refusals, amendments int
}

// A decision is one part of a verdict; the one before it may be that of several verdicts.
type decision struct {
	before   *decision
	change   int
	property string
	message  string // of a refusal
	value    json.RawMessage
	err      error // of a value that is none
}

func (d *decision) refuses() bool { return d.value == nil && d.err == nil }

// Accept lets all changes be made as they are. It is the zero Verdict.
func Accept() Verdict { return Verdict{} }

// Refuse lets none of the changes be made, because of one of them. The property is a path such
// as "price" or "address/city", empty for the entity as a whole. The message is one line of 1
// to 1,024 bytes for the person, in the language of [User.Locale].
func Refuse(change int, property, message string) Verdict {
	return Verdict{}.Refuse(change, property, message)
}

// Amend gives a property of a created or updated entity another value: nil, bool, any integer,
// float64, string, [json.Number], [*math/big.Rat], or a [time.Time], which becomes RFC 3339 in
// UTC. A column that config.hcl fixes or that the host sets cannot be amended, nor can a key be, and the
// row policy holds for the new value.
func Amend(change int, property string, value any) Verdict {
	return Verdict{}.Amend(change, property, value)
}

// Refuse returns a copy with one more refusal. The first 1,000 count.
func (v Verdict) Refuse(change int, property, message string) Verdict {
	if v.refusals < maxRefusals {
		v.last, v.refusals = &decision{before: v.last, change: change, property: property, message: message}, v.refusals+1
	}
	return v
}

// Amend returns a copy with one more amendment. Of several of one property the last counts.
// There may be 10,000.
func (v Verdict) Amend(change int, property string, value any) Verdict {
	encoded, err := jsonValue(value)
	v.last, v.amendments = &decision{before: v.last, change: change, property: property, value: encoded, err: err}, v.amendments+1
	return v
}

// IsRefused reports whether the verdict refuses the changes.
func (v Verdict) IsRefused() bool { return v.refusals > 0 }

// IsAmended reports whether the verdict lets the changes be made with other values.
func (v Verdict) IsAmended() bool { return v.amendments > 0 && v.refusals == 0 }

// Refusals calls f with each refusal, in order.
func (v Verdict) Refusals(f func(change int, property, message string)) {
	for _, d := range v.decisions() {
		if d.refuses() {
			f(d.change, d.property, d.message)
		}
	}
}

// Amendments calls f with each amendment, in order. The value is JSON.
func (v Verdict) Amendments(f func(change int, property string, value json.RawMessage)) {
	for _, d := range v.decisions() {
		if !d.refuses() {
			f(d.change, d.property, d.value)
		}
	}
}

func (v Verdict) decisions() []*decision {
	list := make([]*decision, 0, v.refusals+v.amendments)
	for d := v.last; d != nil; d = d.before {
		list = append(list, d)
	}
	slices.Reverse(list)
	return list
}

// validatorRole returns the role's entry in the table of roles.
func validatorRole() role {
	return role{
		name: RoleValidator, field: "Validator", takesChanges: true,
		has:     func(p Plugin) bool { return p.Validator != nil },
		run:     runValidator,
		connect: func(p *Plugin, c *Client) { p.Validator = c },
		samples: validatorSamples,
	}
}

// Validate asks the plugin for its verdict. A call larger than handshake.MaxChanges is not
// sent.
func (c *Client) Validate(ctx context.Context, user User, changes []Change) (Verdict, error) {
	return c.ValidateFor(ctx, "", user, changes)
}

// ValidateFor is Validate for the request of an id, which joins log lines.
func (c *Client) ValidateFor(ctx context.Context, id string, user User, changes []Change) (Verdict, error) {
	u, _, err := toSubject(user, nil)
	if err != nil {
		return Verdict{}, err
	}
	in := &pluginpb.ValidateRequest{Id: id, User: u}
	for _, change := range changes {
		sent, err := toDataChange(change)
		if err != nil {
			return Verdict{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		in.Changes = append(in.Changes, sent)
	}
	rpc := func(ctx context.Context, in *pluginpb.ValidateRequest, o ...grpc.CallOption) (*pluginpb.ValidateResponse, error) {
		return c.rpc().Validate(ctx, in, append(o, grpc.MaxCallSendMsgSize(handshake.MaxChanges))...)
	}
	return callPlugin(ctx, rpc, in, func(r *pluginpb.ValidateResponse) (Verdict, error) {
		v := fromVerdict(r)
		return v, checkVerdict(v, in.GetChanges())
	})
}

// Validate answers a host's call with the author's validator.
func (s *server) Validate(ctx context.Context, in *pluginpb.ValidateRequest) (*pluginpb.ValidateResponse, error) {
	validator := s.plugin.Validator
	if validator == nil {
		return nil, lacksRole(RoleValidator)
	}
	ctx = s.call(ctx, "validate", in.GetId(), "")
	changes := make([]Change, len(in.GetChanges()))
	for i, c := range in.GetChanges() {
		var err error
		if changes[i], err = fromDataChange(c); err != nil {
			return nil, failed(ctx, fmt.Errorf("change %d: %w", i, err))
		}
	}
	return answerCall(ctx, func(ctx context.Context) (Verdict, error) {
		v, err := validator.Validate(ctx, fromUser(in.GetUser()), changes)
		return v, cmp.Or(err, checkVerdict(v, in.GetChanges()))
	}, toVerdict)
}

// checkVerdict returns an error with [ErrContract], which names change and property, if no
// host takes the verdict about the changes.
func checkVerdict(v Verdict, changes []*pluginpb.Change) error {
	if v.refusals > maxRefusals || v.amendments > maxAmendments {
		return fmt.Errorf("%w: the verdict has %d refusals and %d amendments; %d and %d are allowed", ErrContract, v.refusals, v.amendments, maxRefusals, maxAmendments)
	}
	known := make([]map[string]Value, len(changes)) // the properties of those that are named
	for _, d := range v.decisions() {
		if d.change < 0 || d.change >= len(changes) {
			return fmt.Errorf("%w: the verdict is about the change %d; there are %d", ErrContract, d.change, len(changes))
		}
		c := changes[d.change]
		if known[d.change] == nil {
			known[d.change] = propertiesOf(c)
		}
		if wrong := d.wrong(c, known[d.change]); wrong != "" {
			return fmt.Errorf("%w: change %d, the %s of %s(%s), property %q: %s", ErrContract,
				d.change, words.Clean(c.GetKind(), 16), words.Clean(c.GetSet(), 128), words.Clean(c.GetKey(), 128), words.Cut(d.property, 64), wrong)
		}
	}
	return nil
}

// wrong returns what is wrong with a decision; it is empty for one that a host takes.
func (d *decision) wrong(c *pluginpb.Change, properties map[string]Value) string {
	_, known := properties[d.property]
	switch {
	case len(d.property) > maxProperty || !oneLine(d.property):
		return fmt.Sprintf("the path is not one line of at most %d bytes", maxProperty)
	case !known && (d.property != "" || !d.refuses()):
		return "there is no such property"
	case d.refuses() && d.message == "":
		return "the message is empty"
	case d.refuses() && (len(d.message) > maxMessage || !oneLine(d.message)):
		return fmt.Sprintf("the message is not one line of at most %d bytes", maxMessage)
	case d.refuses():
		return ""
	case d.err != nil:
		return d.err.Error()
	case c.GetKind() == changeDelete:
		return "a delete has no values to amend"
	case !utf8.Valid(d.value) || !isScalar(d.value):
		return "the value is no JSON text, number, true, false or null"
	}
	return ""
}

func toVerdict(v Verdict) (*pluginpb.ValidateResponse, error) {
	out := &pluginpb.ValidateResponse{}
	v.Refusals(func(change int, property, message string) {
		out.Refusals = append(out.Refusals, &pluginpb.Refusal{Change: int64(change), Property: property, Message: message})
	})
	v.Amendments(func(change int, property string, value json.RawMessage) {
		out.Amendments = append(out.Amendments, &pluginpb.Amendment{Change: int64(change), Property: property, Value: value})
	})
	return out, nil
}

// fromVerdict returns a verdict as it was sent, without a bound on its parts.
func fromVerdict(r *pluginpb.ValidateResponse) Verdict {
	var v Verdict
	for _, one := range r.GetRefusals() {
		v.last, v.refusals = &decision{before: v.last, change: int(one.GetChange()), property: one.GetProperty(), message: one.GetMessage()}, v.refusals+1
	}
	for _, one := range r.GetAmendments() {
		v.last = &decision{before: v.last, change: int(one.GetChange()), property: one.GetProperty(), value: append(json.RawMessage{}, one.GetValue()...)}
		v.amendments++
	}
	return v
}
