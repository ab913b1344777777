package odata

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"sync"

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
	// etag returns the part of entity tags that changes with the model and the limits.
	etag func() string
}

// localized holds the documents in one language.
type localized struct {
	// metadata by version and media type.
	metadata map[string]document
	// openAPI by the access of the caller.
	openAPI [accesses]document
}

// document returns a document, which is written when it is asked for first.
type document func() *packed

// packed is a document as it is kept.
type packed struct {
	// gzip is the compressed text, size the length of the text.
	gzip []byte
	size counter
	// tag is the entity tag. It needs no key: answers tell that of $metadata.
	tag string
}

func newDocument(write func(io.Writer) error) document {
	return sync.OnceValue(func() *packed {
		var b bytes.Buffer
		p, sum, to := &packed{}, sha256.New(), gzip.NewWriter(&b)
		_ = errors.Join(write(io.MultiWriter(to, sum, &p.size)), to.Close()) // a buffer takes everything
		p.gzip, p.tag = bytes.Clone(b.Bytes()), etagOf(sum.Sum(nil))
		return p
	})
}

// send sends the document uncompressed, in blocks.
func (p *packed) send(send func(block []byte, last bool) error) error {
	from, err := gzip.NewReader(bytes.NewReader(p.gzip))
	block := make([]byte, min(p.size, spoolBlock))
	for left := p.size; left > 0 && err == nil; {
		block = block[:min(left, spoolBlock)]
		if _, err = io.ReadFull(from, block); err == nil {
			left -= counter(len(block))
			err = send(block, left == 0)
		}
	}
	return err
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// newDocuments prepares the documents in each language of the model. The entity tag changes with the limits, the kind of the
// next links, and every language.
func newDocuments(m *edm.Model, opts *Options, transformations []string, repeats bool) documents {
	d := documents{model: m, languages: newLanguages(m), localized: map[string]*localized{}}
	for _, lang := range d.languages.tags {
		d.localized[lang] = localize(m, opts.Root, csdl.Options{
			ExpandDepth: announcedDepth(opts.Limits.ExpandDepth), FilterFunctions: function.FilterFunctions(), Transformations: transformations, Language: lang,
			Security: opts.Security, KeyLinks: opts.KeyLinks, Repeats: repeats,
		})
	}
	limits := fmt.Appendf(nil, "%+v %t", opts.Limits, opts.KeyLinks)
	d.etag = sync.OnceValue(func() string {
		all := [][]byte{limits}
		for _, lang := range d.languages.tags {
			all = append(all, []byte(d.localized[lang].tag("4.0")))
		}
		return etagOf(all...)
	})
	for _, s := range m.Sets {
		d.entries = appendEntry(d.entries, s, "EntitySet")
	}
	for _, s := range m.Singletons {
		d.entries = appendEntry(d.entries, s, "Singleton")
	}
	return d
}

func localize(m *edm.Model, root string, o csdl.Options) *localized {
	out := &localized{metadata: map[string]document{}, openAPI: newOpenAPIs(m, root, o)}
	for _, version := range []string{"4.0", "4.01"} {
		o := o
		o.Version = version
		out.metadata[version+typeXML] = newDocument(func(to io.Writer) error { return csdl.XML(to, m, o) })
		out.metadata[version+typeJSON] = newDocument(func(to io.Writer) error { return csdl.JSON(to, m, o) })
	}
	return out
}

// tag returns the entity tag of the XML document of a version.
func (l *localized) tag(version string) string { return l.metadata[version+typeXML]().tag }

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
