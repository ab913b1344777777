package passkey

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// A Site is the relying party of WebAuthn: where passkeys are made and used.
type Site struct {
	// ID is the RP id: a host name, or the end of one.
	ID string
	// Origin is that of the pages, such as "https://app.example.com".
	Origin string
	// Name is the name of the site for people.
	Name string
}

// NewSite returns the site of an origin, with its host name as the RP id where id is empty. It returns false where browsers
// have no passkeys: on an address, on plain http anywhere but on localhost, and for an RP id of another site.
func NewSite(origin, id, name string) (Site, bool) {
	u, err := url.Parse(origin)
	if err != nil {
		return Site{}, false
	}
	host := u.Hostname()
	if id == "" {
		id = host
	}
	usable := u.Scheme == "https" || u.Scheme == "http" && host == "localhost"
	if !usable || id != host && !strings.HasSuffix(host, "."+id) || protocol.ValidateRPID(host) != nil || protocol.ValidateRPID(id) != nil {
		return Site{}, false
	}
	return Site{ID: id, Origin: origin, Name: name}, true
}

// A Person is somebody for whom a passkey is made.
type Person struct {
	// Handle is the user handle.
	Handle []byte
	// Login and Name are shown by the authenticator.
	Login, Name string
}

// Options are what a page hands to navigator.credentials, as JSON.
type Options struct {
	PublicKey any `json:"publicKey"`
}

// CreateOptions returns the options for a new passkey of a person, who has the passkeys known already.
func (s Site) CreateOptions(challenge []byte, person Person, known []Passkey) Options {
	required := true
	return Options{protocol.PublicKeyCredentialCreationOptions{
		RelyingParty: protocol.RelyingPartyEntity{ID: s.ID, CredentialEntity: protocol.CredentialEntity{Name: s.Name}},
		User: protocol.UserEntity{
			ID: protocol.URLEncodedBase64(person.Handle), DisplayName: person.Name, CredentialEntity: protocol.CredentialEntity{Name: person.Login},
		},
		Challenge: challenge, Parameters: algorithms(), Timeout: int(Lifetime.Milliseconds()),
		CredentialExcludeList: descriptors(known),
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: &required, UserVerification: protocol.VerificationRequired,
		},
		Attestation: protocol.PreferNoAttestation,
	}}
}

// GetOptions returns the options for the use of a passkey: of those that are allowed, or of any where there are none.
func (s Site) GetOptions(challenge []byte, allowed []Passkey) Options {
	return Options{protocol.PublicKeyCredentialRequestOptions{
		RelyingPartyID: s.ID, Challenge: challenge, Timeout: int(Lifetime.Milliseconds()),
		AllowedCredentials: descriptors(allowed), UserVerification: protocol.VerificationRequired,
	}}
}

// algorithms are those that WebAuthn Level 3, 5.4, recommends.
func algorithms() []protocol.CredentialParameter { return webauthn.CredentialParametersRecommendedL3() }

func descriptors(list []Passkey) []protocol.CredentialDescriptor {
	var out []protocol.CredentialDescriptor
	for _, p := range list {
		d := protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: p.Credential}
		for _, t := range p.Transports {
			d.Transport = append(d.Transport, protocol.AuthenticatorTransport(t))
		}
		out = append(out, d)
	}
	return out
}

// A Creation is the answer of navigator.credentials.create, which is not verified yet.
type Creation struct {
	// Challenge is the one that the browser has answered.
	Challenge []byte
	parsed    *protocol.ParsedCredentialCreationData
}

// ParseCreation reads the JSON of a PublicKeyCredential (WebAuthn 5.1, toJSON).
func ParseCreation(credential []byte) (Creation, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(credential)
	if err != nil {
		return Creation{}, explained(err)
	}
	challenge, err := challengeOf(parsed.Response.CollectedClientData)
	return Creation{challenge, parsed}, err
}

// An Assertion is the answer of navigator.credentials.get, which is not verified yet.
type Assertion struct {
	// Challenge is the one that the browser has answered.
	Challenge []byte
	// Credential is the id of the credential that has signed.
	Credential []byte
	// Handle is the user handle that the authenticator has kept; nil where it gives none.
	Handle []byte
	parsed *protocol.ParsedCredentialAssertionData
}

// ParseAssertion reads the JSON of a PublicKeyCredential (WebAuthn 5.1, toJSON).
func ParseAssertion(credential []byte) (Assertion, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(credential)
	if err != nil {
		return Assertion{}, explained(err)
	}
	challenge, err := challengeOf(parsed.Response.CollectedClientData)
	return Assertion{Challenge: challenge, Credential: parsed.RawID, Handle: parsed.Response.UserHandle, parsed: parsed}, err
}

// challengeOf returns the challenge that a browser has answered.
func challengeOf(data protocol.CollectedClientData) ([]byte, error) {
	challenge, err := base64.RawURLEncoding.Strict().DecodeString(data.Challenge)
	if err != nil {
		return nil, fmt.Errorf("read the challenge: %w", err)
	}
	return challenge, nil
}

// The errors of [Site.Use] beside those of a signature.
var (
	// ErrCounter is returned for a counter that did not grow, unless both are 0: the passkey may have a copy.
	ErrCounter = errors.New("the counter went back: the passkey may have a copy")
	// ErrBackup is returned for a passkey that can be copied now and could not before, or the other way round.
	ErrBackup = errors.New("whether the passkey can be backed up has changed")
)

// maxCredential is how long a credential id may be, in bytes (WebAuthn 4).
const maxCredential = 1023

// Create verifies the answer for a new passkey and returns it with what the authenticator has said. The caller has found
// the challenge, and fills in the rest.
func (s Site) Create(c Creation) (Passkey, error) {
	verified, err := s.library().CreateCredential(user{}, webauthn.SessionData{
		Challenge: protocol.URLEncodedBase64(c.Challenge).String(), RelyingPartyID: s.ID,
		UserVerification: protocol.VerificationRequired, CredParams: algorithms(),
	}, c.parsed)
	if err != nil {
		return Passkey{}, explained(err)
	}
	if origin := c.parsed.Response.CollectedClientData.Origin; origin != s.Origin {
		return Passkey{}, fmt.Errorf("the origin is %q, not %q", origin, s.Origin)
	}
	if len(verified.ID) > maxCredential {
		return Passkey{}, fmt.Errorf("the credential id has %d bytes, more than %d", len(verified.ID), maxCredential)
	}
	p := Passkey{
		Credential: verified.ID, Key: verified.PublicKey, Counter: verified.Authenticator.SignCount,
		BackupEligible: verified.Flags.BackupEligible, BackedUp: verified.Flags.BackupState,
	}
	for _, t := range verified.Transport {
		if len(p.Transports) < maxTransports && isTransport(string(t)) {
			p.Transports = append(p.Transports, string(t))
		}
	}
	return p, nil
}

// maxTransports is how many transports of a passkey are kept.
const maxTransports = 8

// isTransport reports whether a text has the form of a transport. The list of them grows (WebAuthn 5.8.4).
func isTransport(text string) bool {
	return text != "" && len(text) <= 16 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// Use verifies the answer of a passkey and returns it with its new counter. The caller has found the challenge and the
// passkey by its credential id.
func (s Site) Use(a Assertion, p Passkey) (Passkey, error) {
	flags := a.parsed.Response.AuthenticatorData.Flags
	owner := user{p.Handle, webauthn.Credential{
		ID: p.Credential, PublicKey: p.Key, AttestationFormat: "none", Authenticator: webauthn.Authenticator{SignCount: p.Counter},
		// The flag is compared below, so that a changed one and a wrong signature are different errors.
		Flags: webauthn.CredentialFlags{BackupEligible: flags.HasBackupEligible()},
	}}
	verified, err := s.library().ValidateLogin(owner, webauthn.SessionData{
		Challenge: protocol.URLEncodedBase64(a.Challenge).String(), RelyingPartyID: s.ID, UserID: p.Handle,
		AllowedCredentialIDs: [][]byte{p.Credential}, UserVerification: protocol.VerificationRequired,
	}, a.parsed)
	if err != nil {
		return Passkey{}, explained(err)
	}
	if origin := a.parsed.Response.CollectedClientData.Origin; origin != s.Origin {
		return Passkey{}, fmt.Errorf("the origin is %q, not %q", origin, s.Origin)
	}
	if flags.HasBackupEligible() != p.BackupEligible {
		return Passkey{}, ErrBackup
	}
	if verified.Authenticator.CloneWarning {
		return Passkey{}, fmt.Errorf("%w: %d after %d", ErrCounter, a.parsed.Response.AuthenticatorData.Counter, p.Counter)
	}
	p.Counter, p.BackedUp = verified.Authenticator.SignCount, flags.HasBackupState()
	return p, nil
}

// library returns go-webauthn for the site. A page inside another origin's page has no passkeys, and neither has another
// top origin.
func (s Site) library() *webauthn.WebAuthn {
	return &webauthn.WebAuthn{Config: &webauthn.Config{
		RPID: s.ID, RPDisplayName: s.Name, RPOrigins: []string{s.Origin}, RPTopOriginVerificationMode: protocol.TopOriginExplicitVerificationMode,
		// No extension is asked for and no output is read, and password managers send some unasked.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	}}
}

// explained returns an error of the library with its reason, which Error leaves out.
func explained(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.DevInfo != "" {
		return fmt.Errorf("%w: %s", err, e.DevInfo)
	}
	return err
}

// user is a webauthn.User.
type user struct {
	handle     []byte
	credential webauthn.Credential
}

func (u user) WebAuthnID() []byte                         { return u.handle }
func (u user) WebAuthnName() string                       { return "" }
func (u user) WebAuthnDisplayName() string                { return "" }
func (u user) WebAuthnCredentials() []webauthn.Credential { return []webauthn.Credential{u.credential} }

// Decoy returns a passkey that nobody has: its private key is thrown away. Verifying an answer with it does the work that a
// passkey of somebody would.
func Decoy() Passkey {
	private, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // never fails since Go 1.24
	point, _ := private.PublicKey.Bytes()                         // a generated key is on its curve: 0x04, x, y
	return Passkey{Key: coseKey(point[1:33], point[33:])}
}

// coseKey returns an ES256 key in COSE form (RFC 9053, 7.1.1), in the order of canonical CBOR.
func coseKey(x, y []byte) []byte {
	return bytes.Join([][]byte{{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20}, x, {0x22, 0x58, 0x20}, y}, nil)
}
