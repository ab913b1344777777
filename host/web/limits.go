package web

import (
	"cmp"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
)

// LimitOptions are what one client may have at once: requests of those who are
// signed in count by user, others by address, of IPv6 the /64.
type LimitOptions struct {
	// RequestsPerClient bounds the requests that the host itself answers; proxied
	// ones do not count. 64 when zero.
	RequestsPerClient int
	// UpgradesPerClient bounds the WebSockets through proxies, 256 when zero.
	UpgradesPerClient int
	// Wait is how long a request waits for its turn, 10 s when zero.
	Wait time.Duration
	// Hashes bounds the passwords that are hashed at once, of all clients together; the number of processors when zero.
	Hashes int
	// SpoolBlocks bounds the blocks of answers of the query endpoint that wait for their clients, of all clients together;
	// odata.SpoolBlocks when zero. One client may have a quarter.
	SpoolBlocks int
}

func (o LimitOptions) withDefaults() LimitOptions {
	o.RequestsPerClient = cmp.Or(max(o.RequestsPerClient, 0), 64)
	o.UpgradesPerClient = cmp.Or(max(o.UpgradesPerClient, 0), 256)
	o.Wait = cmp.Or(max(o.Wait, 0), 10*time.Second)
	return o
}

// The configuration keys of the limits, by which refusals are logged and counted.
const (
	requestsKey    = "limits.requests_per_client"
	upgradesKey    = "limits.upgrades_per_client"
	concurrentKey  = "odata.limits.concurrent"
	connectionsKey = "odata.database.max_connections"
)

// The names of limits that have no key.
const (
	// hashingLimit is the number of processors, or what LimitOptions.Hashes says.
	hashingLimit = "password_hashing"
	// bodyLimit are the deadlines of bodies.
	bodyLimit = "body_deadline"
	// connectionsLimit is a part of the file descriptors.
	connectionsLimit = "connections"
	// validatorLimit is how many calls of one validator are under way.
	validatorLimit = "validator_calls"
)

// LimitKeys are the names of all limits of this package: configuration keys, and
// words without a dot where there is none.
func LimitKeys() []string {
	return []string{requestsKey, upgradesKey, concurrentKey, connectionsKey, hashingLimit, bodyLimit, connectionsLimit, validatorLimit}
}

// Busy is the refusal of a client.
type Busy = admission.Busy //nolint:errname // an answer: errors.As(err, &busy)

// Queue is where clients wait for their turn.
type Queue = admission.Queue

// Limits are the queues in which clients wait for what they share. They are safe
// for concurrent use.
type Limits struct {
	o                  LimitOptions
	refusals           *admission.Log
	requests, upgrades *admission.Queue
	queries            *admission.Queue // nil before Queries
}

// States returns a function that returns the states of the queues of requests, upgrades
// and queries, and that of hashing.
func (l *Limits) States(hashing func() admission.State) func() []admission.State {
	return func() []admission.State {
		list := []admission.State{l.requests.State("requests"), l.upgrades.State("upgrades"), hashing()}
		if l.queries != nil {
			list = append(list, l.queries.State("odata"))
		}
		return list
	}
}

// NewLimits returns limits. count is told the key of the limit of each refusal.
func NewLimits(o LimitOptions, log hclog.Logger, count func(limit string)) *Limits {
	l := &Limits{o: o.withDefaults(), refusals: admission.NewLog(log, count)}
	l.requests = l.perClient(l.o.RequestsPerClient, requestsKey)
	l.upgrades = l.perClient(l.o.UpgradesPerClient, upgradesKey)
	return l
}

// Refused reports the refusal of a client by a limit; why names what the client
// asked for.
func (l *Limits) Refused(client, limit string, why error) { l.refusals.Refused(client, limit, why) }

func (l *Limits) perClient(share int, key string) *admission.Queue {
	return admission.New(admission.Options{Share: share, ShareLimit: key, Wait: l.o.Wait, Refused: l.refusals.Busy})
}

// Share returns a queue of so many slots, of which one client may have share, for
// what is taken at once or not at all: it has no waiting list, and refusals are
// not counted.
func (l *Limits) Share(slots, share int) *admission.Queue {
	return admission.New(admission.Options{Slots: slots, Share: share})
}

// Hashing is how clients wait for a password to be hashed.
func (l *Limits) Hashing() admission.Options {
	return admission.Options{
		Slots: l.o.Hashes, Limit: hashingLimit, ShareLimit: hashingLimit,
		// What the host has admitted is not turned away for having come at once.
		Waiting: l.o.RequestsPerClient, Wait: l.o.Wait, Refused: l.refusals.Busy,
	}
}

// The calls of one validator that are under way at once, and those of one client. Plugins take 64 calls (see
// pluginproc.Options), of which the rest is for their other roles.
const (
	validatorCalls = 48
	validatorShare = 16
)

// Validator returns the queue in which clients wait for their changes to be judged by one plugin.
func (l *Limits) Validator() *Queue {
	return admission.New(admission.Options{
		Slots: validatorCalls, Limit: validatorLimit, Share: validatorShare, ShareLimit: validatorLimit,
		// What the host has admitted is not turned away for having come at once.
		Waiting: max(l.o.RequestsPerClient, 4*validatorShare),
		Wait:    l.o.Wait, Refused: l.refusals.Busy,
	})
}

// Queries returns the queue for a database of so many connections, of which one
// client may have concurrent ones. It is called once at most, before the states are.
func (l *Limits) Queries(connections, concurrent int) *admission.Queue {
	l.queries = admission.New(admission.Options{
		Slots: connections, Limit: connectionsKey, Share: concurrent, ShareLimit: concurrentKey,
		// What the host has admitted is not turned away for having come at once.
		Waiting: max(l.o.RequestsPerClient, 4*concurrent),
		Wait:    l.o.Wait, Refused: l.refusals.Busy,
	})
	return l.queries
}
