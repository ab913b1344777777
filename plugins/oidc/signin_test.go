package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A visit is one sign-in at the rogue.
type visit struct {
	config []string
	fresh  bool
	locale string
	// misbehave changes the rogue before anything is asked of it, between what happens
	// between Begin and Finish, callback the parameters.
	misbehave func(*rogue)
	between   func(*rogue)
	callback  func(*rogue, map[string]string)
}

// clock is the time of all tests.
func clock() time.Time { return time.Unix(1_900_000_000, 0) }

// run returns what the plugin answers, the error being that of Begin or of Finish.
func (v visit) run(t *testing.T, r *rogue) (pluginsdk.IdentityResult, error) {
	t.Helper()
	if v.misbehave != nil {
		v.misbehave(r)
	}
	p := plugintest.Serve(t, newPlugin(r.now), setupFor(r.URL, v.config...))
	return v.signIn(t, p, r)
}

func (v visit) signIn(t *testing.T, p *plugintest.Plugin, r *rogue) (pluginsdk.IdentityResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	a, err := p.Client.Begin(ctx, pluginsdk.BeginRequest{ID: "test", Callback: callback, State: "the-state", Locale: v.locale, Fresh: v.fresh})
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	parameters := r.authorize(a.URL)
	if v.between != nil {
		v.between(r)
	}
	if v.callback != nil {
		v.callback(r, parameters)
	}
	return p.Client.Finish(ctx, pluginsdk.FinishRequest{
		ID: "test", Callback: callback, Parameters: parameters, Private: a.Private, Locale: v.locale, Fresh: v.fresh,
	})
}

func claim(name string, value any) func(*rogue) {
	return func(r *rogue) { r.claims = after(r.claims, name, value) }
}

func metadatum(name string, value any) func(*rogue) {
	return func(r *rogue) { r.discovery = after(r.discovery, name, value) }
}

// after returns a change that is made after another.
func after(change func(map[string]any), name string, value any) func(map[string]any) {
	return func(m map[string]any) {
		if change != nil {
			change(m)
		}
		put(m, name, value)
	}
}

// put sets a member, or deletes it for nil.
func put(m map[string]any, name string, value any) {
	if m[name] = value; value == nil {
		delete(m, name)
	}
}

func answer(path string, h http.HandlerFunc) func(*rogue) {
	return func(r *rogue) { r.answers[path] = h }
}

func parameter(name, value string) func(*rogue, map[string]string) {
	return func(_ *rogue, p map[string]string) {
		if p[name] = value; value == "" {
			delete(p, name)
		}
	}
}

const wellKnown = "/.well-known/openid-configuration"

func redirectLoop(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
}

func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"x": "`))
	for range 1 << 10 {
		if _, err := w.Write([]byte(long(4 << 10))); err != nil {
			return
		}
	}
}

// Whatever a provider does wrong ends in an error, which signs nobody in.
func TestMisbehavingProviderIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		visit
		want string
	}{
		"wrong issuer in the token":       {visit{misbehave: claim("iss", "https://other.example.com")}, "different provider"},
		"wrong issuer in discovery":       {visit{misbehave: metadatum("issuer", "https://other.example.com")}, "names another issuer"},
		"wrong issuer in the callback":    {visit{callback: parameter("iss", "https://other.example.com")}, "callback names another issuer"},
		"no issuer in the callback":       {visit{callback: parameter("iss", "")}, "does not name its issuer"},
		"many tenants, none listed":       {visit{misbehave: metadatum("issuer", "https://x/{tenantid}")}, "list the ids"},
		"wrong audience":                  {visit{misbehave: claim("aud", "somebody-else")}, "expected audience"},
		"no audience":                     {visit{misbehave: claim("aud", nil)}, "expected audience"},
		"several audiences without azp":   {visit{misbehave: claim("aud", []string{clientID, "other"})}, "several audiences"},
		"azp of another client":           {visit{misbehave: claim("azp", "other")}, "another client"},
		"azp that is no text":             {visit{misbehave: claim("azp", 7)}, "another client"},
		"wrong nonce":                     {visit{misbehave: claim("nonce", "other")}, "nonce of another sign-in"},
		"no nonce":                        {visit{misbehave: claim("nonce", nil)}, "nonce of another sign-in"},
		"wrong at_hash":                   {visit{misbehave: claim("at_hash", atHash("other"))}, "another access token"},
		"expired":                         {visit{misbehave: claim("exp", clock().Add(-time.Second).Unix())}, "expired"},
		"no expiry":                       {visit{misbehave: claim("exp", nil)}, "expired"},
		"not valid yet":                   {visit{misbehave: claim("nbf", clock().Add(time.Hour).Unix())}, "not before"},
		"no subject":                      {visit{misbehave: claim("sub", nil)}, "no subject"},
		"subject too long":                {visit{misbehave: claim("sub", long(256))}, "no subject"},
		"subject of two lines":            {visit{misbehave: claim("sub", "a\nb")}, "no subject"},
		"subject that is a number":        {visit{misbehave: claim("sub", 7)}, "unmarshal"},
		"a subject of another case":       {visit{misbehave: claim("\u017fub", "grace")}, "names a person twice"},
		"address too long":                {visit{misbehave: claim("email", long(250)+"@example.com")}, "address"},
		"huge claims":                     {visit{misbehave: claim("huge", long(1<<20))}, "longer than"},
		"auth_time ahead":                 {visit{misbehave: claim("auth_time", clock().Add(time.Hour).Unix())}, "lies ahead"},
		"auth_time that is a text":        {visit{misbehave: claim("auth_time", "now")}, "no time"},
		"alg none":                        {visit{misbehave: func(r *rogue) { r.sign = unsigned }}, "verify the ID token"},
		"HS256 with the public key":       {visit{misbehave: hmacWithPublicKey}, "verify the ID token"},
		"HS256 with the client's secret":  {visit{misbehave: hmacWithSecret}, "verify the ID token"},
		"HS256 with a published secret":   {visit{misbehave: publishedSecret}, "verify the ID token"},
		"a key that is not published":     {visit{misbehave: foreignKey}, "failed to verify"},
		"a key that was withdrawn":        {visit{misbehave: withdrawnKey}, "failed to verify"},
		"only algorithms without a key":   {visit{misbehave: metadatum("id_token_signing_alg_values_supported", []string{"HS256", "none"})}, "none of the algorithms"},
		"no ID token":                     {visit{misbehave: func(r *rogue) { r.tokens = func(m map[string]any) { delete(m, "id_token") } }}, "without an ID token"},
		"an ID token that is none":        {visit{misbehave: func(r *rogue) { r.sign = func([]byte) string { return "x.y" } }}, "verify the ID token"},
		"another person in userinfo":      {visit{misbehave: otherPerson}, "another person"},
		"no code":                         {visit{callback: parameter("code", "")}, "no code"},
		"a code that is not this one":     {visit{callback: parameter("code", "other")}, "400 and the error invalid_grant"},
		"an error of the provider's":      {visit{callback: parameter("error", "server_error")}, "the error server_error"},
		"an error that is markup":         {visit{callback: parameter("error", "<b>\n")}, "with an error"},
		"the authorization in plain http": {visit{misbehave: metadatum("authorization_endpoint", "http://login.example.com/")}, "not on https"},
		"the token in plain http":         {visit{misbehave: metadatum("token_endpoint", "http://login.example.com/")}, "not on https"},
		"keys in plain http":              {visit{misbehave: metadatum("jwks_uri", "http://login.example.com/")}, "not on https"},
		"userinfo in plain http":          {visit{misbehave: metadatum("userinfo_endpoint", "http://login.example.com/")}, "not on https"},
		"no token endpoint":               {visit{misbehave: metadatum("token_endpoint", nil)}, "no address"},
		"a client without a secret":       {visit{misbehave: metadatum("token_endpoint_auth_methods_supported", []string{"none"})}, "client_secret_basic"},
		"oversized discovery":             {visit{misbehave: answer(wellKnown, endless)}, "longer than"},
		"oversized keys":                  {visit{misbehave: answer("/keys", endless)}, "longer than"},
		"oversized token":                 {visit{misbehave: answer("/token", endless)}, "longer than"},
		"oversized userinfo":              {visit{misbehave: both(claim("email", nil), answer("/userinfo", endless))}, "longer than"},
		"redirect loop at discovery":      {visit{misbehave: answer(wellKnown, redirectLoop)}, "answered 307"},
		"redirect loop at keys":           {visit{misbehave: answer("/keys", redirectLoop)}, "answered 307"},
		"redirect loop at token":          {visit{misbehave: answer("/token", redirectLoop)}, "the code with 307"},
		"redirect loop at userinfo":       {visit{misbehave: both(claim("email", nil), answer("/userinfo", redirectLoop))}, "answered 307"},
		"discovery that is a page":        {visit{misbehave: answer(wellKnown, page)}, "no JSON"},
		"keys that are a page":            {visit{misbehave: answer("/keys", page)}, "no JSON"},
		"a token that is a page":          {visit{misbehave: answer("/token", page)}, "exchange the code"},
		"keys of another shape":           {visit{misbehave: answer("/keys", shape)}, "decode keys"},
		"discovery of another shape":      {visit{misbehave: answer(wellKnown, shape)}, "discovery document"},
		"discovery with the status 500":   {visit{misbehave: answer(wellKnown, broken)}, "answered 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRogue(t, clock)
			result, err := tt.run(t, r)
			if i, found := result.Identity(); found || err == nil {
				t.Fatalf("it signed somebody in: %+v, %v", i, err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %q, want %q in it", err, tt.want)
			}
			for _, secret := range []string{theCode, clientSecret, "the-access-token", long(400), "<html>"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error holds what it must not: %.600s", err)
				}
			}
			if len(err.Error()) > 1<<10 || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("the error is long or of several lines: %.600q", err)
			}
		})
	}
}

func both(one, two func(*rogue)) func(*rogue) {
	return func(r *rogue) {
		one(r)
		two(r)
	}
}

func page(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>" + theCode)) }

func shape(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"issuer": 7, "keys": {"a": "` + long(1000) + `"}}`))
}

func broken(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = w.Write([]byte(clientSecret))
}

func hmacWithPublicKey(r *rogue) {
	public, err := r.key.PublicKey.Bytes()
	if err != nil {
		r.t.Fatal(err)
	}
	r.sign = func(claims []byte) string { return r.signed(jose.HS256, public, claims) }
}

func hmacWithSecret(r *rogue) {
	r.sign = func(claims []byte) string {
		return r.signed(jose.HS256, []byte(clientSecret+strings.Repeat("0", 32)), claims)
	}
}

// publishedSecret signs with a symmetric key that is among the published ones.
func publishedSecret(r *rogue) {
	secret := []byte(strings.Repeat("0", 32))
	r.sign = func(claims []byte) string { return r.signed(jose.HS256, secret, claims) }
	r.answers["/keys"] = func(w http.ResponseWriter, _ *http.Request) {
		r.send(w, nil, map[string]any{"keys": []any{jose.JSONWebKey{Key: secret, KeyID: r.kid}}})
	}
}

// foreignKey signs with a key that has the published one's id.
func foreignKey(r *rogue) {
	foreign := newRogue(r.t, r.now).key
	r.sign = func(claims []byte) string { return r.signed(jose.ES256, foreign, claims) }
}

// withdrawnKey signs with the key of before.
func withdrawnKey(r *rogue) {
	old, kid := r.key, r.kid
	r.rotate("second")
	r.sign = func(claims []byte) string {
		r.kid = kid
		defer func() { r.kid = "second" }()
		return r.signed(jose.ES256, old, claims)
	}
}

func otherPerson(r *rogue) {
	claim("email", nil)(r)
	r.userinfo = after(nil, "sub", "grace")
}

// What people may not do is refused in their language.
func TestRefusals(t *testing.T) {
	en, de := textsFor("en"), textsFor("de")
	for name, tt := range map[string]struct {
		visit
		want string
	}{
		"the person said no":                {visit{callback: parameter("error", "access_denied")}, en.denied},
		"the person said no, in German":     {visit{locale: "de-CH", callback: parameter("error", "access_denied")}, de.denied},
		"a sign-in is needed there":         {visit{callback: parameter("error", "login_required")}, en.again},
		"a consent is needed there":         {visit{callback: parameter("error", "consent_required")}, en.again},
		"another domain":                    {visit{config: []string{`"domains": ["example.org"]`}}, en.notYou},
		"a domain that ends alike":          {visit{config: []string{`"domains": ["ample.com"]`}}, en.notYou},
		"a domain above":                    {visit{config: []string{`"domains": ["example.com"]`}, misbehave: claim("email", "ada@sub.example.com")}, en.notYou},
		"a domain in a part of the name":    {visit{config: []string{`"domains": ["example.com"]`}, misbehave: claim("email", "ada@example.org@example.com")}, en.notYou},
		"a domain that folds to it":         {visit{config: []string{`"domains": ["staff.example"]`}, misbehave: claim("email", "ada@\u017ftaff.example")}, en.notYou},
		"an unverified address":             {visit{config: []string{`"domains": ["example.com"]`}, misbehave: claim("email_verified", false)}, en.unverified},
		"an address nothing is said of":     {visit{config: []string{`"domains": ["example.com"]`}, misbehave: claim("email_verified", nil)}, en.unverified},
		"a verified text":                   {visit{config: []string{`"domains": ["example.com"]`}, misbehave: claim("email_verified", "yes")}, en.unverified},
		"verified by another claim":         {visit{config: []string{`"domains": ["example.com"]`, `"verified_claim": "xms_edov"`}}, en.unverified},
		"a number that is rounded":          {visit{config: []string{`"claims": {"level": ["9007199254740992"]}`}, misbehave: claim("level", json.Number("9007199254740993"))}, en.notYou},
		"an address and another's yes":      {visit{config: []string{`"claims": {"email_verified": ["true"]}`}, misbehave: both(claim("email", "grace@example.com"), claim("email_verified", nil))}, en.notYou},
		"no group":                          {visit{config: []string{`"claims": {"groups": ["admin"]}`}}, en.notYou},
		"a group and no department":         {visit{config: []string{`"claims": {"groups": ["staff"], "department": ["it"]}`}}, en.notYou},
		"groups that are no list":           {visit{config: []string{`"claims": {"groups": ["staff"]}`}, misbehave: claim("groups", map[string]any{"staff": true})}, en.notYou},
		"fresh without auth_time":           {visit{fresh: true, misbehave: claim("auth_time", nil)}, en.noProof},
		"fresh with an old proof":           {visit{fresh: true, misbehave: claim("auth_time", clock().Add(-time.Hour).Unix())}, en.oldProof},
		"fresh with an old proof in German": {visit{fresh: true, locale: "de", misbehave: claim("auth_time", clock().Add(-time.Hour).Unix())}, de.oldProof},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := tt.run(t, newRogue(t, clock))
			if err != nil {
				t.Fatal(err)
			}
			if i, found := result.Identity(); found || result.Reason() != tt.want {
				t.Errorf("got %+v, %q, want the refusal %q", i, result.Reason(), tt.want)
			}
		})
	}
}

// What providers do differently and may.
func TestPeopleSignIn(t *testing.T) {
	ada := pluginsdk.Identity{Subject: "ada", Email: "ada@example.com", EmailVerified: true, Name: "Ada Lovelace", AuthTime: clock()}
	with := func(change func(*pluginsdk.Identity)) pluginsdk.Identity {
		i := ada
		change(&i)
		return i
	}
	unverified := with(func(i *pluginsdk.Identity) { i.EmailVerified = false })
	for name, tt := range map[string]struct {
		visit
		want pluginsdk.Identity
	}{
		"an ordinary sign-in":             {visit{}, ada},
		"a proof made now":                {visit{fresh: true}, ada},
		"no iss where none is promised":   {visit{misbehave: metadatum("authorization_response_iss_parameter_supported", nil), callback: parameter("iss", "")}, ada},
		"the secret in the body":          {visit{misbehave: metadatum("token_endpoint_auth_methods_supported", []string{"private_key_jwt", "client_secret_post"})}, ada},
		"several audiences with azp":      {visit{misbehave: both(claim("aud", []string{"other", clientID}), claim("azp", clientID))}, ada},
		"the hash of the access token":    {visit{misbehave: claim("at_hash", atHash("the-access-token"))}, ada},
		"an unverified address":           {visit{misbehave: claim("email_verified", false)}, unverified},
		"an address nothing is said of":   {visit{misbehave: claim("email_verified", nil)}, unverified},
		"verified as a text":              {visit{misbehave: claim("email_verified", "true")}, ada},
		"xms_edov where it is configured": {visit{config: []string{`"verified_claim": "xms_edov"`}, misbehave: both(claim("email_verified", nil), claim("xms_edov", true))}, ada},
		"xms_edov where it is not":        {visit{misbehave: both(claim("email_verified", nil), claim("xms_edov", true))}, unverified},
		"no address anywhere":             {visit{misbehave: noAddress}, pluginsdk.Identity{Subject: "ada", Name: "Ada Lovelace", AuthTime: clock()}},
		"no userinfo endpoint":            {visit{misbehave: both(metadatum("userinfo_endpoint", nil), claim("email", nil))}, pluginsdk.Identity{Subject: "ada", Name: "Ada Lovelace", AuthTime: clock()}},
		"the address from userinfo":       {visit{misbehave: claim("email", nil)}, ada},
		"an unverified one from userinfo": {visit{misbehave: both(claim("email", nil), func(r *rogue) { r.userinfo = after(nil, "email_verified", nil) })}, unverified},
		"verified as 1 in userinfo":       {visit{misbehave: both(claim("email", nil), func(r *rogue) { r.userinfo = after(nil, "email_verified", 1) })}, ada},
		"the yes for the token's address": {visit{config: []string{`"claims": {"email_verified": ["true"]}`}, misbehave: claim("email_verified", nil)}, ada},
		"the name from userinfo":          {visit{misbehave: claim("name", nil)}, ada},
		"no auth_time":                    {visit{misbehave: claim("auth_time", nil)}, with(func(i *pluginsdk.Identity) { i.AuthTime = time.Time{} })},
		"a name of two lines, and long":   {visit{misbehave: claim("name", "Ada\nLovelace"+strings.Repeat("ä", 200))}, with(func(i *pluginsdk.Identity) { i.Name = "AdaLovelace" + strings.Repeat("ä", 122) })},
		"a domain in another case":        {visit{config: []string{`"domains": ["example.org", "Example.COM"]`}}, ada},
		"a group":                         {visit{config: []string{`"claims": {"groups": ["admin", "staff"]}`}}, ada},
		"a claim that is a yes":           {visit{config: []string{`"claims": {"member": ["true"], "level": ["7"]}`}, misbehave: both(claim("member", true), claim("level", 7))}, ada},
		"a group from userinfo":           {visit{config: []string{`"claims": {"groups": ["staff"]}`}, misbehave: claim("groups", nil)}, ada},
		"the key rotated after discovery": {visit{between: func(r *rogue) { r.rotate("second") }}, ada},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRogue(t, clock)
			result, err := tt.run(t, r)
			if err != nil {
				t.Fatal(err)
			}
			got, found := result.Identity()
			if diff := cmp.Diff(tt.want, got); diff != "" || !found {
				t.Errorf("refused: %q; (-want +got):\n%s", result.Reason(), diff)
			}
			if wantBasic := name != "the secret in the body"; r.basic != wantBasic {
				t.Errorf("the secret in the header: %t, want %t", r.basic, wantBasic)
			}
		})
	}
}

func noAddress(r *rogue) {
	claim("email", nil)(r)
	r.userinfo = after(nil, "email", nil)
}
