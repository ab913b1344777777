package pluginsdk

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
)

// RoleListener is the role of a [Listener]. Any number of plugins may have it.
const RoleListener = "listener"

// An Event is something that has happened to a user.
type Event struct {
	// ID is the same for every listener and every try.
	ID string
	// Kind is "password_reset": the user has set a new password by the link in a mail.
	// Later hosts have more: return nil for those that you do not know.
	Kind string
	// User is the person as they are when this is told. Of one who is gone by then
	// only the ID is set.
	User User
	// At is when it happened, in UTC and milliseconds.
	At time.Time
}

// A Listener learns what has happened, after the commit: at least once, and in order for
// each user. It may answer effects of [SetUser] and [Mail], which the host applies in one
// transaction with the mark that the listener knows of the event. There is no session, so
// [SetSession] and [ConsumeIntended] break the contract.
//
// After an error Notify is called again, after pauses that double from a second to a
// quarter of an hour, for a day; meanwhile the later events of that user wait. It is also
// called again, with the user as they are then, if an effect replaces a value that the
// column no longer has. An answer that breaks the contract is dropped and logged. Notify may be
// called from several goroutines at once, for different users.
type Listener interface {
	Notify(ctx context.Context, e Event) ([]Effect, error)
}

// ListenerFunc lets an ordinary function be a [Listener].
type ListenerFunc func(ctx context.Context, e Event) ([]Effect, error)

// Notify calls f.
func (f ListenerFunc) Notify(ctx context.Context, e Event) ([]Effect, error) { return f(ctx, e) }

// listenerRole is what the rest of the SDK knows of the role.
func listenerRole() role {
	return role{
		name: RoleListener, field: "Listener", takesEvent: true,
		has: func(p Plugin) bool { return p.Listener != nil },
		run: func(ctx context.Context, p Plugin, c Call) (any, error) {
			e := c.Event
			e.User = c.User
			effects, err := p.Listener.Notify(ctx, e)
			return struct {
				Acknowledged bool             `json:"acknowledged"`
				Effects      []map[string]any `json:"effects"`
			}{true, effectsJSON(effects)}, err
		},
		connect: func(p *Plugin, c *Client) { p.Listener = c },
		samples: func() map[string]func(*Call) {
			return map[string]func(*Call){
				"an event of a kind that is not there yet": func(c *Call) { c.Event.Kind = "married" },
				"an event of long ago":                     func(c *Call) { c.Event.At = time.Unix(0, 0).UTC() },
				"an event of somebody who is gone":         func(c *Call) { c.User = User{ID: c.User.ID} },
			}
		},
	}
}

// Notify informs the plugin of an event, and returns the effects that it asks for. The
// error is nil once the plugin has acknowledged the event.
func (c *Client) Notify(ctx context.Context, e Event) ([]Effect, error) {
	u, _, err := toSubject(e.User, nil)
	if err != nil {
		return nil, err
	}
	in := &pluginpb.NotifyRequest{Id: e.ID, Kind: e.Kind, User: u, At: e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00")}
	return callPlugin(ctx, c.rpc().Notify, in, func(r *pluginpb.NotifyResponse) ([]Effect, error) { return fromEffects(r.GetEffects()) })
}

// Notify answers a host's call with the author's listener.
func (s *server) Notify(ctx context.Context, in *pluginpb.NotifyRequest) (*pluginpb.NotifyResponse, error) {
	l := s.plugin.Listener
	if l == nil {
		return nil, lacksRole(RoleListener)
	}
	ctx = s.call(ctx, "notify", in.GetId(), "")
	at, err := time.Parse(time.RFC3339Nano, in.GetAt())
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("the time of the event: %w", err))
	}
	return answerCall(ctx, func(ctx context.Context) ([]Effect, error) {
		effects, err := l.Notify(ctx, Event{ID: in.GetId(), Kind: in.GetKind(), User: fromUser(in.GetUser()), At: at.UTC()})
		return effects, cmp.Or(err, checkSessionless(effects), checkMails(effects))
	}, toNotified)
}

// checkSessionless returns an error with [ErrContract] if an effect needs a session.
func checkSessionless(effects []Effect) error {
	for _, e := range effects {
		if e.kind == effectSetSession || e.kind == effectConsumeIntended {
			return fmt.Errorf("%w: a listener has no session: only SetUser and Mail can be its effects", ErrContract)
		}
	}
	return nil
}

func toNotified(effects []Effect) (*pluginpb.NotifyResponse, error) {
	out, err := toEffects(effects)
	return &pluginpb.NotifyResponse{Effects: out}, err
}
