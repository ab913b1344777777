package frontend

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// An application that sends people straight back to the sign-in would keep their browsers
// going round without end. A cookie remembers for hopSpan how often a browser was led on:
// the third time to one target the page shows a button instead, and so it does beyond
// mostHops to whatever targets, since an application may add something new to the address
// in each round. The cookie is not signed: a forged one shows a button, or none, to its
// owner alone.
const (
	hopSpan    = 10 * time.Second
	hopsToOne  = 2
	mostHops   = 9
	hopsCookie = "vestibule_hops"
)

// A hop is one time that a browser was led on.
type hop struct {
	target string // the beginning of its hash
	at     time.Time
}

// hops are those of one browser, the latest last.
type hops []hop

// readHops reads the cookie. Hops outside hopSpan, and what readHops cannot read, do not
// count: hosts differ a little in their clocks, so that a hop may lie ahead.
func readHops(text string, now time.Time) hops {
	var all hops
	for one := range strings.SplitSeq(text, "-") {
		target, stamp, _ := strings.Cut(one, ".")
		ms, err := strconv.ParseInt(stamp, 36, 64)
		at := time.UnixMilli(ms)
		if err == nil && len(target) == len(hashOf("")) && now.Sub(at).Abs() < hopSpan {
			all = append(all, hop{target, at})
		}
	}
	return all.latest()
}

// latest returns the hops that the cookie has room for.
func (h hops) latest() hops { return h[max(0, len(h)-mostHops):] }

func (h hops) String() string {
	list := make([]string, len(h))
	for i, one := range h {
		list[i] = one.target + "." + strconv.FormatInt(one.at.UnixMilli(), 36)
	}
	return strings.Join(list, "-")
}

// circle reports whether one more hop to a target is one too many.
func (h hops) circle(target string) bool {
	same := slices.DeleteFunc(slices.Clone(h), func(one hop) bool { return one.target != target })
	return len(same) >= hopsToOne || len(h) >= mostHops
}

// hashOf returns what the cookie holds of a target, whose query is nobody's business.
func hashOf(target string) string {
	sum := sha256.Sum256([]byte(target))
	return hex.EncodeToString(sum[:4])
}

// stopCircle counts that the page, or a redirect, leads somebody to the target of next,
// and stops them where that is one time too many. Scripts and prefetches follow redirects
// as well, but browsers end those.
func (s *Screens) stopCircle(w http.ResponseWriter, r *http.Request, b *bootstrap) {
	target := b.target()
	if target == "" || !goes(r, b.Session == string(auth.StateSettled)) {
		return
	}
	now, key := s.o.SignIn.Now(), hashOf(target)
	led := readHops(s.hopsIn(r), now)
	c := &http.Cookie{
		Name: s.hopsName(), Value: append(led, hop{key, now}).latest().String(), Path: "/", MaxAge: int(hopSpan.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.o.SignIn.Secure,
	}
	http.SetCookie(w, c)
	if led.circle(key) {
		b.stop(target)
	}
}

// keepStopped stops somebody whom the page has stopped: it may ask for its data only now.
func (s *Screens) keepStopped(r *http.Request, b *bootstrap) {
	target := b.target()
	led := readHops(s.hopsIn(r), s.o.SignIn.Now())
	if n := len(led) - 1; target != "" && n >= 0 && led[n].target == hashOf(target) && led[:n].circle(hashOf(target)) {
		b.stop(target)
	}
}

// target returns where the page leads by itself; empty where it does not.
func (b *bootstrap) target() string {
	if b.Next == nil {
		return ""
	}
	return b.Next.Target()
}

// stop takes the intent away, so that an app that knows nothing of circles stops, too.
func (b *bootstrap) stop(target string) { b.Next, b.Stopped = nil, &target }

func (s *Screens) hopsName() string {
	if s.o.SignIn.Secure {
		return "__Host-" + hopsCookie
	}
	return hopsCookie
}

// hopsIn returns the value of the request's cookie, empty for none.
func (s *Screens) hopsIn(r *http.Request) string {
	c, err := r.Cookie(s.hopsName())
	if err != nil {
		return ""
	}
	return c.Value
}

// goes reports whether somebody goes to the page: a browser now, or a program. A frame does
// where it is redirected; the page itself is shown in none.
func goes(r *http.Request, redirected bool) bool {
	h := r.Header
	mode, dest := h.Get("Sec-Fetch-Mode"), h.Get("Sec-Fetch-Dest")
	here := dest == "" || dest == "document" || redirected && mode == "navigate"
	return here && r.Method == http.MethodGet && h.Get("Sec-Purpose") == "" && (mode == "" || mode == "navigate")
}
