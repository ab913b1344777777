package csdl

import "encoding/xml"

// element writes an element that holds annotations only.
func (w *xmlWriter) element(name string, attrs []string, list []annotation) {
	if len(list) == 0 {
		w.leaf(name, attrs...)
		return
	}
	w.open(name, attrs...)
	w.annotations(list)
	w.close(name)
}

// open writes a start tag; attrs alternate between name and value.
func (w *xmlWriter) open(name string, attrs ...string) {
	w.tag(name, attrs)
	w.b.WriteString(">\n")
	w.depth++
}

func (w *xmlWriter) leaf(name string, attrs ...string) {
	w.tag(name, attrs)
	w.b.WriteString("/>\n")
}

func (w *xmlWriter) close(name string) {
	w.depth--
	w.indent()
	w.b.WriteString("</" + name + ">\n")
}

func (w *xmlWriter) tag(name string, attrs []string) {
	w.indent()
	w.b.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		w.b.WriteString(" " + attrs[i] + `="`)
		w.escape(attrs[i+1])
		w.b.WriteByte('"')
	}
}

func (w *xmlWriter) indent() {
	for range w.depth {
		w.b.WriteString("  ")
	}
}

// escape writes text for an attribute or an element; a buffer takes all writes.
func (w *xmlWriter) escape(s string) { _ = xml.EscapeText(&w.b, []byte(s)) }
