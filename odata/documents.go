package odata

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/csdl"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
)

// Media types of documents.
const (
	typeJSON = "application/json"
	typeXML  = "application/xml"
	typeHTML = "text/html"
)

// documents are the answers that depend on nothing but the model and the language.
type documents struct {
	model     *edm.Model
	languages languages
	// localized holds the documents with texts, by language.
	localized map[string]*localized
	// entries is the inside of the service document's array.
	entries []byte
	// etag stands for the model and the limits in entity tags.
	etag string
}

// localized holds the documents in one language.
type localized struct {
	// metadata by version and media type.
	metadata map[string][]byte
	// tags are the entity tags of the XML documents, by version.
	tags    map[string]string
	openAPI openAPIs
}

// newDocuments renders the documents in each language of the model. The entity tag changes with the limits, the kind of the
// next links, and every language.
func newDocuments(m *edm.Model, opts *Options, transformations []string, repeats bool) documents {
	d := documents{model: m, languages: newLanguages(m), localized: map[string]*localized{}}
	all := [][]byte{fmt.Appendf(nil, "%+v %t", opts.Limits, opts.KeyLinks)}
	for _, lang := range d.languages.tags {
		d.localized[lang] = localize(m, opts.Root, csdl.Options{
			ExpandDepth: announcedDepth(opts.Limits.ExpandDepth), FilterFunctions: function.FilterFunctions(), Transformations: transformations, Language: lang,
			Security: opts.Security, KeyLinks: opts.KeyLinks, Repeats: repeats,
		})
		all = append(all, d.localized[lang].metadata["4.0"+typeXML])
	}
	d.etag = etagOf(all...)
	for _, s := range m.Sets {
		d.entries = appendEntry(d.entries, s, "EntitySet")
	}
	for _, s := range m.Singletons {
		d.entries = appendEntry(d.entries, s, "Singleton")
	}
	return d
}

func localize(m *edm.Model, root string, o csdl.Options) *localized {
	out := &localized{metadata: map[string][]byte{}, tags: map[string]string{}, openAPI: newOpenAPIs(m, root, o)}
	for _, version := range []string{"4.0", "4.01"} {
		o.Version = version
		out.metadata[version+typeXML] = csdl.XML(m, o)
		out.metadata[version+typeJSON] = csdl.JSON(m, o)
		out.tags[version] = etagOf(out.metadata[version+typeXML])
	}
	return out
}

// in returns the documents in the language of a request, and the language.
func (d *documents) in(q *request) (*localized, string) {
	lang := d.languages.of(q)
	return d.localized[lang], lang
}

// announcedDepth is the depth of $expand that $metadata announces; 0 announces none.
func announcedDepth(limit int) int {
	if limit == math.MaxInt {
		return 0
	}
	return limit
}

// appendEntry appends an element of the service document (OData-JSON 5).
func appendEntry(dst []byte, s *edm.EntitySet, kind string) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	dst = payload.AppendString(append(dst, `{"name":`...), s.Name)
	dst = append(dst, `,"kind":"`+kind+`","url":"`...)
	return append(payload.AppendEscaped(dst, s.Name), `"}`...)
}

// service is the service document (OData-JSON 5) of a service at root. A client
// that keeps the metadata learns there whether it is still that (OData-JSON 4.5.2).
func (d *documents) service(root, tag string, format header.JSON) []byte {
	b := []byte("{")
	if format.Metadata != header.None {
		b = payload.AppendString(append(b, `"@odata.context":`...), root+"$metadata")
		b = payload.AppendString(append(b, `,"@odata.metadataEtag":`...), tag)
		b = append(b, ',')
	}
	return append(append(append(b, `"value":[`...), d.entries...), "]}"...)
}

// page is the service document for people, in one of the languages of the model's texts:
// plain markup without style or script, so that no policy of the host stands in its way.
func (d *documents) page(root, lang string) []byte {
	var b strings.Builder
	link := func(path, text string) {
		fmt.Fprintf(&b, "<a href=\"%s\">%s</a>", html.EscapeString(root+path), html.EscapeString(text))
	}
	intro := "An OData 4 service. Its model: "
	if lang == "de" || strings.HasPrefix(lang, "de-") {
		intro = "Ein Dienst nach OData 4. Sein Modell: "
	}
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"%s\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"+
		"<meta name=\"color-scheme\" content=\"light dark\"><title>%[2]s</title></head>\n<body>\n<main>\n<h1>%[2]s</h1>\n<p>%[3]s",
		html.EscapeString(cmp.Or(lang, "en")), html.EscapeString(d.model.Namespace), intro)
	link("$metadata", "XML")
	b.WriteString(", ")
	link("$metadata?$format=json", "JSON")
	b.WriteString(".</p>\n<ul>\n")
	item := func(s *edm.EntitySet, options, title string) {
		b.WriteString("<li>")
		link(string(payload.AppendEscaped(nil, s.Name))+options, s.Name)
		for _, text := range []string{title, s.Description} {
			if text != "" {
				b.WriteString(" – " + html.EscapeString(d.model.Text(lang, text)))
			}
		}
		b.WriteString("</li>\n")
	}
	for _, set := range d.model.Sets {
		item(set, "?$count=true", cmp.Or(set.Type.Look.Plural, set.Type.Look.Title))
	}
	for _, one := range d.model.Singletons {
		item(one, "", one.Type.Look.Title)
	}
	b.WriteString("</ul>\n</main>\n</body>\n</html>\n")
	return []byte(b.String())
}
