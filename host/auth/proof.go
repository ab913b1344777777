package auth

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
