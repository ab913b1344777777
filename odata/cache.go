package odata

import (
	"container/list"
	"strings"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Bounds of what is kept: the length of the target of a plan, and the bytes of one answer.
const (
	maxTarget = 2 << 10
	maxKept   = 256 << 10
)

// cache keeps plans by target and by shape, and the last answers of those that
// are asked for again. It drops the plan that was not used for longest.
type cache struct {
	// most is how many plans are kept, mostBytes how many bytes of answers.
	most, mostBytes int

	mu    sync.Mutex
	plans map[planKey]*list.Element // of *planned
	used  list.List                 // the last used first
	bytes int
}

// planKey is all that a plan depends on, when it depends on no more of the
// caller than whether there is one.
type planKey struct {
	target            string
	shape             bool // target is a shape
	resource          bool // of a set that is written
	prefer            int64
	v401              bool
	signedIn, settled bool
}

// planned is a plan with the $format of its request, or else, for requests that write, a set or the checks of changes of one
// shape.
type planned struct {
	plan     *plan.Plan
	resource *bind.Resource
	checks   *bind.Checks
	format   string
	key      planKey // zero outside the cache
	asked    bool    // more than once
	answers  map[answerKey]*kept
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

// size returns the memory of an answer in bytes: body, texts, and what finds it.
func (a *kept) size(k answerKey) int {
	const entry = 400 // a place in the map, half full, with both structs
	return entry + len(a.body) + len(a.version) + len(a.contentType) + len(a.applied) + len(a.etag) + len(a.link) + len(k.url) + len(k.annotations)
}

// plan returns the plan of a key, or nil.
func (c *cache) plan(k planKey) *planned {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.plans[k]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	p := e.Value.(*planned)
	p.asked = true
	return p
}

// addPlan keeps a plan that is in no cache.
func (c *cache) addPlan(k planKey, p *planned) {
	if len(k.target) > maxTarget {
		return
	}
	k.target = strings.Clone(k.target)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil {
		c.plans = map[planKey]*list.Element{}
	}
	if old := c.plans[k]; old != nil { // of another request at the same time
		c.drop(old)
	}
	p.key = k
	c.plans[k] = c.used.PushFront(p)
	if len(c.plans) > c.most {
		c.drop(c.used.Back())
	}
}

// drop forgets a plan and its answers. The caller holds mu.
func (c *cache) drop(e *list.Element) {
	p := c.used.Remove(e).(*planned)
	delete(c.plans, p.key)
	for k, a := range p.answers {
		c.bytes -= a.size(k)
	}
	p.answers = nil
}

// answer returns what was answered for a version of the data, or nil.
func (c *cache) answer(p *planned, k answerKey, version string) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := p.answers[k]; a != nil && a.version == version {
		return a
	}
	return nil
}

// wants reports whether answers to p are worth keeping: they are asked for again.
func (c *cache) wants(p *planned) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.asked
}

// addAnswer keeps an answer with its plan, if that is still kept.
func (c *cache) addAnswer(p *planned, k answerKey, a *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.plans[p.key]; e == nil || e.Value != p {
		return
	}
	if p.answers == nil {
		p.answers = map[answerKey]*kept{}
	}
	if old := p.answers[k]; old != nil {
		c.bytes -= old.size(k)
	}
	p.answers[k] = a
	c.bytes += a.size(k)
	for c.bytes > c.mostBytes {
		c.drop(c.used.Back())
	}
}

// sharable reports whether a plan is the same for every caller with the same
// guards, and at any time.
func sharable(p *plan.Plan) bool { return p.Top != nil && !p.Volatile && !p.PerCaller }
