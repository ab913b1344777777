package auth

import "time"

// recent reports whether the proof of a session is fresh enough for a change of what
// somebody signs in with: a sign-in within [Rules].Recent. A device that came back is no
// proof, and neither is one from a time that lies further ahead.
func (p *Pipeline) recent(s Session) bool {
	if s.Proof == proofDevice || s.Proof == "" {
		return false
	}
	age := p.Now().Sub(s.Proved)
	return -p.Recent <= age && age <= p.Recent
}

// recentFor returns for how many seconds the proof of a session will still be fresh enough, 0 for one that is not.
func (p *Pipeline) recentFor(s Session) int {
	if !p.recent(s) {
		return 0
	}
	left := s.Proved.Add(p.Recent).Sub(p.Now())
	return int(min(left, p.Recent) / time.Second)
}
