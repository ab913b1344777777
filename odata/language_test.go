package odata_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	s := service(t, &versioned{numbers: numbers{total: 3, version: "a"}}, func(_ *odata.Options, m *edm.Model) {
		m.Types[0].Properties[1].Look.Label = "text.label"
		m.Types[0].Look.Plural = "text.label"
		m.Texts = &edm.Texts{Languages: []string{"", "de", "pt-BR"}, Bundles: []map[string]string{{"text.label": "Words"}, {"text.label": "Wörter"}, {"text.label": "Palavras"}}}
	})
	tests := []struct{ name, query, accept, label, language string }{
		{"nothing asked for", "", "", "Words", ""},
		{"German", "", "de", "Wörter", "de"},
		{"as they speak it elsewhere", "", "de-CH, en;q=0.5", "Wörter", "de"},
		{"another one", "", "pt-PT;q=0.9, xx", "Palavras", "pt-BR"},
		{"English is what there is without a tag", "", "en-US,en;q=0.9", "Words", ""},
		{"the option wins", "?sap-language=DE", "pt", "Wörter", "de"},
		{"an option that is no language", "?sap-language=%25", "de", "Wörter", "de"},
		{"English refused", "", "en;q=0, *", "Wörter", "de"},
		{"German refused", "", "de;q=0, xx", "Words", ""},
		{"all but one refused", "", "*;q=0, pt", "Palavras", "pt-BR"},
		{"all refused", "", "*;q=0", "Words", ""},
		{"a header that is none", "", ";;;", "Words", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, doc := range []string{"$metadata", "openapi.json"} {
				w := get(t, s, "/odata/"+doc+tt.query, "Accept-Language", tt.accept)
				h := w.Header()
				if !strings.Contains(w.Body.String(), `"`+tt.label+`"`) || h.Get("Content-Language") != tt.language || !strings.HasSuffix(h.Get("Vary"), ", Accept-Language") {
					t.Errorf("%s: %d %v", doc, w.Code, h)
				}
			}
		})
	}
	for lang, want := range map[string][]string{
		"en": {`<html lang="en">`, "An OData 4 service.", ">Numbers</a> – Words – All of"}, "de-AT": {`<html lang="de">`, "Ein Dienst nach OData 4.", ">Numbers</a> – Wörter – All of"},
		"pt": {`<html lang="pt-BR">`, "An OData 4 service.", ">Numbers</a> – Palavras – All of"},
	} {
		w := get(t, s, "/odata/", "Accept-Language", lang, "Accept", "text/html")
		for _, part := range want {
			if !strings.Contains(w.Body.String(), part) || !strings.HasSuffix(w.Header().Get("Vary"), ", Accept-Language") {
				t.Errorf("the page in %s lacks %s: %v\n%s", lang, part, w.Header(), w.Body)
			}
		}
	}
	tag := func(target, lang string) string {
		return get(t, s, target, "Accept-Language", lang).Header().Get("ETag")
	}
	if en, de := tag("/odata/$metadata", "en"), tag("/odata/$metadata", "de"); en == de || en == "" {
		t.Errorf("tags %s and %s", en, de)
	}
	// What tells the tag of $metadata tells that of the language.
	for range 3 { // at last from the cache
		for _, lang := range []string{"en", "de"} {
			for _, target := range []string{"/odata/", "/odata/Numbers?$format=application/json;odata.metadata=full"} {
				w := get(t, s, target, "Accept-Language", lang)
				told := strings.ReplaceAll(tag("/odata/$metadata", lang), `"`, `\"`)
				if !strings.Contains(w.Body.String(), `"@odata.metadataEtag":"`+told+`"`) || !strings.HasSuffix(w.Header().Get("Vary"), ", Accept-Language") {
					t.Errorf("%s in %s: %v %.200s", target, lang, w.Header(), w.Body)
				}
			}
		}
	}
	if w := get(t, s, "/odata/Numbers", "Accept-Language", "de"); strings.Contains(w.Header().Get("Vary"), "Language") || w.Header().Get("Content-Language") != "" {
		t.Errorf("rows do not depend on the language: %v", w.Header())
	}
	one := service(t, &numbers{}, nil)
	if w := get(t, one, "/odata/$metadata", "Accept-Language", "de"); strings.Contains(w.Header().Get("Vary"), "Language") || w.Header().Get("Content-Language") != "" {
		t.Errorf("without texts: %v", w.Header())
	}
}
