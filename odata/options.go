package odata

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/csdl"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Model is the model that a service exposes; package edm has its parts.
type Model = edm.Model

// Limits bound what one request may ask for: page sizes, $top, the depth of
// $expand, the size of expressions, the rows and bytes of the answer. The zero
// value has the documented defaults.
type Limits = plan.Limits

// Unlimited as one of Limits, or as Options.Timeout or SlowReader, is no limit.
const Unlimited = plan.Unlimited

// Caller is who asks, as far as guards and row policies need to know.
type Caller = plan.Caller

// Options are what a Service needs beside model and source. The zero value
// works: it serves at "/" to nobody in particular.
type Options struct {
	// Root is the path of the service as clients see it, such as "/odata/"; "/"
	// when empty.
	Root string
	// Base gives scheme and authority that absolute URLs start with, such as
	// "https://app.example.com". nil derives them from the request, which is
	// right only where the Host header can be trusted.
	Base func(*http.Request) string
	// Limits of one request, page sizes included.
	Limits Limits
	// KeyLinks makes next links carry $skiptoken, the sort values and the key of the row where the page ended, and not $skip.
	// Rows that come and go between two pages then neither repeat nor lose others.
	KeyLinks bool
	// Batch limits the parts and bytes of a $batch request.
	Batch batch.Limits
	// Timeout is how long the database may work for one HTTP request, all parts of
	// a batch together and the time that a client takes to read left out; 30 s when
	// zero.
	Timeout time.Duration
	// SlowReader is how many bytes a second a client must read, on average, while
	// its answer holds a connection of the database; else the answer is broken off.
	// 4 KiB when zero.
	SlowReader int64
	// Caller tells who asks; nil is nobody. It may set headers of the answer, such
	// as a cookie that it renews. An error is answered with 503, and a *Refused as it
	// says: a request whose caller cannot be told is never answered as nobody's.
	Caller func(http.ResponseWriter, *http.Request) (Caller, error)
	// Unsettled may answer a request that a guard refuses to a user whose intent loop
	// is open, such as by leading a browser to the open step; where it returns false,
	// and in batches, the answer is 403. nil answers nothing.
	Unsettled func(http.ResponseWriter, *http.Request) bool
	// Challenge sets headers of the answer 401, such as WWW-Authenticate; nil sets
	// none.
	Challenge func(http.Header, *http.Request)
	// Security is how callers come in, for the OpenAPI document; Caller and Challenge do the work.
	Security Security
	// Admit waits until the caller may use the database, for each part of a batch
	// anew; leave is called when its connection is given back. The error is a *Busy,
	// or that of ctx. nil admits everybody at once.
	Admit func(ctx context.Context, c Caller) (leave func(), err error)
	// Spool gives room for one block of an answer that its client has not taken yet,
	// see SpoolBlocks; leave gives it back. Where leave is nil the answer waits for
	// its client. nil is room for SpoolBlocks, whoever takes them.
	Spool func(c Caller) (leave func())
	// Plans is how many plans are kept; 1,024 when zero. AnswerBytes bounds the answers that are kept with them, with what
	// they are found by; 16 MiB when zero.
	Plans, AnswerBytes int
	// Refused is told of each request that went beyond a limit: of whom, the limit by
	// its configuration key, or "odata_fixed" for one that has none (see LimitNames),
	// and what was asked for. What Admit refuses is known to Admit. It is called while
	// the request waits, and by many requests at once. nil writes a warning to Logger
	// for each, which strangers can make many.
	Refused func(c Caller, limit string, why error)
	// Written gets the rows that a request or a group has changed, after the commit, with the context of the HTTP request; nil
	// for nobody.
	Written func(ctx context.Context, c Caller, rows []Written)
	// Validate asks the rules of a request or a group about the changes of sets that name a validator (edm.Write.Validator),
	// before its transaction and with the context of the HTTP request. There is at least one proposal, and all are of sets
	// with a validator. A change that is tried again is proposed again. An error means that there is no verdict: 503, or 429 for a *Busy, and
	// nothing is written; its text is for the log. The properties that a verdict names are those of the proposals. nil is
	// for services whose sets have no validators.
	Validate func(ctx context.Context, c Caller, changes []Proposal) (Verdict, error)
	// Observe is told how long the stages of each request that reads took, and each
	// part of a batch: "parse"; "plan"; "wait", until it may use the database; "database",
	// until the first row is there; and "write", until the answer was handed over, rows
	// being read meanwhile. A stage that fails is the last one, and an answer that was
	// given before has neither wait nor database. It is called by many requests at once.
	// nil is told nothing.
	Observe func(stage string, took time.Duration)
	// RequestID gives the id that faults are reported with; nil makes one up.
	RequestID func(*http.Request) string
	// Logger gets what clients must not see; nil drops it.
	Logger hclog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Security is how callers show who they are where a guard asks for it.
type Security = csdl.Security

func (o Options) withDefaults() Options {
	o.Root = "/" + strings.Trim(o.Root, "/") + "/"
	if o.Root == "//" {
		o.Root = "/"
	}
	if o.Base == nil {
		o.Base = baseOf
	}
	o.Limits = o.Limits.WithDefaults()
	switch {
	case o.Timeout == 0:
		o.Timeout = 30 * time.Second
	case o.Timeout < 0:
		o.Timeout = math.MaxInt64
	}
	if o.SlowReader == 0 {
		o.SlowReader = 4 << 10
	}
	if o.Caller == nil {
		o.Caller = func(http.ResponseWriter, *http.Request) (Caller, error) { return Caller{}, nil }
	}
	if o.Admit == nil {
		o.Admit = admitAll
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Spool == nil {
		o.Spool = spoolRoom()
	}
	o.Plans, o.AnswerBytes = cmp.Or(o.Plans, 1024), cmp.Or(o.AnswerBytes, 16<<20)
	if o.Refused == nil {
		log := o.Logger
		o.Refused = func(c Caller, limit string, why error) {
			log.Warn("refused", "client", c.Client, "limit", limit, "cause", why)
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// baseOf derives the public base from the request itself.
func baseOf(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
