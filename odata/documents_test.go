package odata_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/csdl"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// wideModel is a model of many sets that refer to each other.
func wideModel(sets int) *edm.Model {
	m := &edm.Model{Namespace: "Wide", Container: "Container", Guard: edm.GuardNone}
	for i := range sets {
		t := &edm.EntityType{Name: fmt.Sprintf("Type%04d", i)}
		for c := range 20 {
			t.Properties = append(t.Properties, &edm.Property{Name: fmt.Sprintf("column_%02d", c), Type: edm.Of(edm.Int32), Nullable: c > 0})
		}
		t.Key = t.Properties[:1]
		m.Types = append(m.Types, t)
		m.Add(edm.EntitySet{Name: fmt.Sprintf("Set%04d", i), Type: t, Guard: edm.GuardNone}, false)
	}
	return m
}

// opened counts the plans that a source is asked to read.
type opened struct{ n int }

func (o *opened) Open(context.Context, *plan.Plan) (plan.Rows, error) {
	o.n++
	return nil, errors.New("there are no rows")
}

// TestDocumentsAreWrittenWhenAskedFor holds that a service writes no document and opens no set before somebody asks, and that
// each client then gets the bytes of package csdl, compressed or not.
func TestDocumentsAreWrittenWhenAskedFor(t *testing.T) {
	m, source := wideModel(500), &opened{}
	var want bytes.Buffer
	if err := csdl.XML(&want, m, csdl.Options{Version: "4.0", ExpandDepth: 4, FilterFunctions: function.FilterFunctions()}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := odata.New(m, source, odata.Options{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(want.Len()/2); took > most || source.n > 0 {
		t.Errorf("a service of %d sets takes %d bytes before it is asked, more than %d, and opens %d sets", len(m.Sets), took, most, source.n)
	}
	ask := func(method, coding, tag string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(method, "/$metadata", http.NoBody), httptest.NewRecorder()
		r.Header.Set("OData-MaxVersion", "4.0")
		r.Header.Set("Accept-Encoding", coding)
		r.Header.Set("If-None-Match", tag)
		s.ServeHTTP(w, r)
		return w
	}
	plain, packed := ask("GET", "identity", ""), ask("GET", "gzip", "")
	if !bytes.Equal(plain.Body.Bytes(), want.Bytes()) {
		t.Errorf("$metadata has %d bytes that are not the %d of the document", plain.Body.Len(), want.Len())
	}
	size := packed.Body.Len()
	from, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(from); err != nil || !bytes.Equal(text, want.Bytes()) {
		t.Errorf("compressed, $metadata is another document: %v", err)
	}
	for _, w := range []*httptest.ResponseRecorder{plain, ask("HEAD", "identity", "")} {
		if got := w.Header().Get("Content-Length"); got != strconv.Itoa(want.Len()) {
			t.Errorf("the length is %q and not %d", got, want.Len())
		}
	}
	head := ask("HEAD", "gzip", "")
	if packed.Header().Get("Content-Encoding") != "gzip" || head.Header().Get("Content-Length") != strconv.Itoa(size) || head.Body.Len() > 0 {
		t.Errorf("compressed: %v, HEAD: %v with %d bytes", packed.Header(), head.Header(), head.Body.Len())
	}
	if w := ask("GET", "gzip", plain.Header().Get("ETag")); w.Code != http.StatusNotModified || w.Body.Len() > 0 || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("an unchanged document: %d, %v", w.Code, w.Header())
	}
	if s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/Set0001", http.NoBody)); source.n != 1 {
		t.Errorf("one set was asked for, and %d were opened", source.n)
	}
}
