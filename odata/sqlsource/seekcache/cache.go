package seekcache

import (
	"cmp"
	"container/list"
	"sort"
	"sync"
)

// Cache is bounded by its size in bytes and drops the shape that was not used for the longest time. It is safe for
// concurrent use; a nil Cache is empty and stays so.
//
// A shape is the cache key: SQL text, arguments, and with them the values of the caller in row policies. What was added
// for one version of the data is never given for another.
type Cache struct {
	mu   sync.Mutex
	max  int
	size int
	// entries is by shape; used holds the same entries, the last used in front.
	entries map[string]*list.Element
	used    *list.List
}

// Mark is a place in the rows of a query: Key is the order key of the row before the one at Skip.
type Mark struct {
	Skip int64
	Key  []any
}

// entry is what is cached for a shape.
type entry struct {
	shape, version string
	size           int
	count          int64
	counted        bool
	marks          []Mark // by Skip
}

// New makes a Cache of at most maxBytes; 16 MiB when zero.
func New(maxBytes int) *Cache {
	return &Cache{max: cmp.Or(maxBytes, 16<<20), entries: map[string]*list.Element{}, used: list.New()}
}

// Estimated sizes of the parts of an entry, in bytes.
const (
	entrySize = 300
	markSize  = 64
	valueSize = 32
)

// Count gives the total number of rows of a shape; false when it is not known.
func (c *Cache) Count(shape, version string) (int64, bool) {
	if c == nil || version == "" {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.find(shape, version)
	if e == nil || !e.counted {
		return 0, false
	}
	return e.count, true
}

// Version is the version of the data that something was added for to a shape; empty for none. Whether the data is still
// of that version is the caller's to find out.
func (c *Cache) Version(shape string) string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.entries[shape]; el != nil {
		return el.Value.(*entry).version
	}
	return ""
}

// SetCount sets the total number of rows of a shape.
func (c *Cache) SetCount(shape, version string, n int64) {
	if c == nil || version == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.make(shape, version)
	e.count, e.counted = n, true
	c.shrink()
}

// Before gives the Mark with the largest Skip that is not larger than skip; false when there is none. The Mark is shared:
// its Key must not be changed.
func (c *Cache) Before(shape, version string, skip int64) (Mark, bool) {
	if c == nil || version == "" {
		return Mark{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.find(shape, version)
	if e == nil {
		return Mark{}, false
	}
	i := e.at(skip + 1)
	if i == 0 {
		return Mark{}, false
	}
	return e.marks[i-1], true
}

// Add adds a Mark and keeps its Key. A shape that has a quarter of the Cache gets no more.
func (c *Cache) Add(shape, version string, m Mark) {
	if c == nil || version == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.make(shape, version)
	i := e.at(m.Skip)
	size := m.size()
	if i < len(e.marks) && e.marks[i].Skip == m.Skip || e.size+size > c.max/4 {
		return
	}
	e.marks = append(e.marks, Mark{})
	copy(e.marks[i+1:], e.marks[i:])
	e.marks[i] = m
	e.size += size
	c.size += size
	c.shrink()
}

func (m Mark) size() int {
	n := markSize
	for _, v := range m.Key {
		n += valueSize
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}

// at is the index of the first Mark at skip or behind it.
func (e *entry) at(skip int64) int {
	return sort.Search(len(e.marks), func(i int) bool { return e.marks[i].Skip >= skip })
}

// find gives the entry of a shape when it is of this version.
func (c *Cache) find(shape, version string) *entry {
	el := c.entries[shape]
	if el == nil {
		return nil
	}
	e := el.Value.(*entry)
	if e.version != version {
		return nil
	}
	c.used.MoveToFront(el)
	return e
}

// make gives the entry of a shape, a new one when it was of another version.
func (c *Cache) make(shape, version string) *entry {
	if e := c.find(shape, version); e != nil {
		return e
	}
	if el := c.entries[shape]; el != nil {
		c.drop(el)
	}
	e := &entry{shape: shape, version: version, size: entrySize + 2*len(shape)}
	c.entries[shape] = c.used.PushFront(e)
	c.size += e.size
	return e
}

func (c *Cache) drop(el *list.Element) {
	e := el.Value.(*entry)
	delete(c.entries, e.shape)
	c.used.Remove(el)
	c.size -= e.size
}

func (c *Cache) shrink() {
	for c.size > c.max && c.used.Len() > 0 {
		c.drop(c.used.Back())
	}
}
