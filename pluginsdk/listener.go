package pluginsdk

import (
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

// A Listener is told what has happened, after the commit: at least once, and in order for
// each user. An error has the event told again, after pauses that double from a second to
// a quarter of an hour, for a day; meanwhile the later events of that user wait. Notify
// may be called from several goroutines at once, for different users.
type Listener interface {
	Notify(ctx context.Context, e Event) error
}

// ListenerFunc lets an ordinary function be a [Listener].
type ListenerFunc func(ctx context.Context, e Event) error

// Notify calls f.
func (f ListenerFunc) Notify(ctx context.Context, e Event) error { return f(ctx, e) }

// listenerRole is what the rest of the SDK knows of the role.
func listenerRole() role {
	return role{
		name: RoleListener, field: "Listener", takesEvent: true,
		has: func(p Plugin) bool { return p.Listener != nil },
		run: func(ctx context.Context, p Plugin, c Call) (any, error) {
			e := c.Event
			e.User = c.User
			return map[string]bool{"acknowledged": true}, p.Listener.Notify(ctx, e)
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

// Notify tells the plugin of an event. The error is nil once it has acknowledged it.
func (c *Client) Notify(ctx context.Context, e Event) error {
	u, _, err := toSubject(e.User, nil)
	if err != nil {
		return err
	}
	in := &pluginpb.NotifyRequest{Id: e.ID, Kind: e.Kind, User: u, At: e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00")}
	_, err = callPlugin(ctx, c.rpc.Notify, in, func(*pluginpb.NotifyResponse) (struct{}, error) { return struct{}{}, nil })
	return err
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
	return answerCall(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, l.Notify(ctx, Event{ID: in.GetId(), Kind: in.GetKind(), User: fromUser(in.GetUser()), At: at.UTC()})
	}, func(struct{}) (*pluginpb.NotifyResponse, error) { return &pluginpb.NotifyResponse{}, nil })
}
