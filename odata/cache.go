package odata

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Bounds of the cache: how many plans, of targets up to which length, and how
// many bytes of answers.
const (
	maxPlans       = 1024
	maxTarget      = 2 << 10
	maxAnswerBytes = 16 << 20
	maxKept        = 256 << 10 // of one answer
)

// cache keeps plans by what they depend on, and the last answers of those that
// are asked for again. When it is full it starts over.
type cache struct {
	mu    sync.Mutex
	plans map[planKey]*planned
	// likenesses are plans by what they have in common with those of other targets.
	likenesses map[planKey]*planned
	bytes      int
}

// planKey is all that a plan depends on, when it depends on no more of the
// caller than whether there is one.
type planKey struct {
	target            string
	prefer            int64
	v401              bool
	signedIn, settled bool
}

// planned is a plan with the $format of its request.
type planned struct {
	plan   *plan.Plan
	format string
	// layout is shared with all plans that are like this one.
	layout  *payload.Layout
	asked   bool // more than once
	answers map[answerKey]*kept
	// empty tells that there was no row the last time.
	empty atomic.Bool
}

// answerKey is what an answer depends on besides its plan and the data.
type answerKey struct {
	// url is the target as the next link repeats it, without the query.
	url    string
	format format
	// omitNulls and annotations are the preferences that the answer shows.
	omitNulls   bool
	annotations string
}

// kept is an answer of one block, with the headers that are its own.
type kept struct {
	version, contentType, applied, etag string
	body                                []byte
	// link is the header Link of a table, empty for none.
	link string
}

func (c *cache) plan(k planKey) *planned {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.plans[k]
	if p != nil {
		p.asked = true
	}
	return p
}

func (c *cache) addPlan(k planKey, p *planned) {
	if len(k.target) > maxTarget {
		return
	}
	k.target = strings.Clone(k.target)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil || len(c.plans) >= maxPlans {
		c.plans, c.bytes = map[planKey]*planned{}, 0
	}
	c.plans[k] = p
}

// answer gives what was answered for a version of the data.
func (c *cache) answer(p *planned, k answerKey, version string) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := p.answers[k]; a != nil && a.version == version {
		return a
	}
	return nil
}

// wants tells whether answers to p are worth keeping: they are asked for again.
func (c *cache) wants(p *planned) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.asked
}

func (c *cache) addAnswer(p *planned, k answerKey, a *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += len(a.body); c.bytes > maxAnswerBytes {
		c.plans, c.bytes = nil, len(a.body)
	}
	if p.answers == nil {
		p.answers = map[answerKey]*kept{}
	}
	if old := p.answers[k]; old != nil {
		c.bytes -= len(old.body)
	}
	p.answers[k] = a
}

// sharable tells whether a plan is the same for every caller with the same
// guards, and at any time.
func sharable(p *plan.Plan) bool { return p.Top != nil && !p.Volatile && !p.PerCaller }
