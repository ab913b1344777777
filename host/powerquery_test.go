package host_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// A powerQuery asks as the OData feed of Excel and Power BI does (Implementation 2.0, as
// traced in July 2026). credential is what it sends with each request; preemptive
// says that it does not wait to be asked for it.
type powerQuery struct {
	site       *testSite
	credential string
	preemptive bool
}

// get asks once, and again with the credential where that was asked for.
func (q powerQuery) get(t *testing.T, address, accept string) answer {
	t.Helper()
	if q.preemptive {
		return q.ask(t, address, accept, q.credential)
	}
	a := q.ask(t, address, accept, "")
	if a.StatusCode != 401 {
		t.Fatalf("%s without a credential: %d %s", address, a.StatusCode, a.body)
	}
	scheme, _, _ := strings.Cut(q.credential, " ")
	for _, challenge := range a.Header.Values("WWW-Authenticate") {
		if strings.HasPrefix(challenge, scheme+" ") {
			return q.ask(t, address, accept, q.credential)
		}
	}
	return a
}

func (q powerQuery) ask(t *testing.T, address, accept, credential string) answer {
	t.Helper()
	header := []string{
		"User-Agent", "Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)",
		"MaxDataServiceVersion", "3.0", "OData-MaxVersion", "4.0", "Accept", accept,
	}
	if credential != "" {
		header = append(header, "Authorization", credential)
	}
	return q.site.browser(t).do("GET", strings.TrimPrefix(address, q.site.URL), "", "", header...)
}

const (
	feedAccept = "application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9," +
		"application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7"
	metadataAccept = "application/xml"
)

// orders reads the feed as a refresh does: service document, metadata, and the set page
// by page. It returns the ids and the number of pages.
func (q powerQuery) orders(t *testing.T) (ids map[int64]bool, pages int) {
	t.Helper()
	root := q.get(t, "/odata/", feedAccept)
	if root.StatusCode != 200 || root.Header.Get("OData-Version") != "4.0" || !strings.Contains(root.body, `"url":"Orders"`) {
		t.Fatalf("service document: %d %v %s", root.StatusCode, root.Header, root.body)
	}
	metadata := q.get(t, "/odata/$metadata", metadataAccept)
	if metadata.StatusCode != 200 || !strings.Contains(metadata.body, `Version="4.0"`) {
		t.Fatalf("metadata: %d %s", metadata.StatusCode, metadata.body)
	}
	ids = map[int64]bool{}
	for next := "/odata/Orders"; next != ""; pages++ {
		a := q.get(t, next, feedAccept)
		var page struct {
			Value []order
			Next  string `json:"@odata.nextLink"`
		}
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.StatusCode != 200 {
			t.Fatalf("%s: %d %v %s", next, a.StatusCode, err, a.body)
		}
		for _, row := range page.Value {
			ids[row.ID] = true
			if row.Owner != adaEmail {
				t.Errorf("%s's order", row.Owner)
			}
		}
		if next = page.Next; pages > 10 {
			t.Fatal("pages without end")
		}
	}
	return ids, pages
}

// What Excel and Power BI may be told to send, reads a guarded, filtered collection to
// its end.
func TestPowerQueryReadsToTheEnd(t *testing.T) {
	s := tokenSite(t, nil)
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	key := func(user string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+text)) }
	for name, q := range map[string]powerQuery{
		"web API key, a basic password, at once":     {s, key(""), true},
		"web API key, a basic password, when asked":  {s, key(""), false},
		"basic with a name, at once":                 {s, key("ada"), true},
		"basic with a name, when asked":              {s, key("ada"), false},
		"basic with a name of a domain, when asked":  {s, key(`CORP\ada`), false},
		"a header of the query, as Authorization":    {s, "Bearer " + text, true},
		"a connector that is asked for bearer first": {s, "Bearer " + text, false},
	} {
		t.Run(name, func(t *testing.T) {
			ids, pages := q.orders(t)
			if len(ids) != 25 || pages != 3 {
				t.Errorf("%d orders on %d pages, want 25 on 3", len(ids), pages)
			}
		})
	}
}

// The organisational account begins with an empty Bearer, to learn where to sign in. We
// have nowhere, say so, and do not count it, so that the choice of another way works.
func TestPowerQueryAsksWithAnEmptyBearer(t *testing.T) {
	s := tokenSite(t, func(o *host.Options) { o.Auth.ClientAttempts = 1 })
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	for range 5 {
		a := powerQuery{site: s}.ask(t, "/odata/", feedAccept, "Bearer ")
		if challenges := a.Header.Values("WWW-Authenticate"); a.StatusCode != 401 || len(challenges) != 2 || challenges[0] != `Bearer realm="Vestibule"` {
			t.Errorf("%d %q", a.StatusCode, challenges)
		}
	}
	if counters, err := s.admin.Counters(t.Context(), 10); err != nil || len(counters) > 0 {
		t.Errorf("counted: %+v, %v", counters, err)
	}
	ids, _ := powerQuery{s, basic("", text)[1], false}.orders(t)
	if len(ids) != 25 {
		t.Errorf("%d orders afterwards", len(ids))
	}
}

// A refresh whose token has ended meanwhile is told so, also in the middle.
func TestPowerQueryWithATokenThatEnded(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *testSite, host.Token) error{
		"revoked": func(t *testing.T, s *testSite, token host.Token) error {
			return s.admin.RevokeToken(t.Context(), token.ID)
		},
		"expired": func(_ *testing.T, s *testSite, token host.Token) error {
			s.clock.Advance(token.Expires.Sub(s.clock.Now()))
			return nil
		},
		"disabled": func(t *testing.T, s *testSite, _ host.Token) error {
			return s.admin.SetDisabled(t.Context(), adaEmail, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tokenSite(t, nil)
			token, text := s.token(t, adaEmail, host.TokenRequest{})
			q := powerQuery{s, basic("", text)[1], true}
			first := q.get(t, "/odata/Orders", feedAccept)
			var page struct {
				Next string `json:"@odata.nextLink"`
			}
			if err := json.Unmarshal([]byte(first.body), &page); err != nil || page.Next == "" {
				t.Fatal(err, first.body)
			}
			if err := end(t, s, token); err != nil {
				t.Fatal(err)
			}
			for _, address := range []string{page.Next, "/odata/", "/odata/$metadata", "/odata/Orders"} {
				if a := q.get(t, address, feedAccept); a.StatusCode != http.StatusUnauthorized || len(a.Header.Values("WWW-Authenticate")) != 2 {
					t.Errorf("%s: %d %v", address, a.StatusCode, a.Header)
				}
			}
		})
	}
}
