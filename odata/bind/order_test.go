package bind_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
)

func TestOrder(t *testing.T) {
	cases := map[string]int{
		"Books":                                      1,
		"Books?$orderby=Title":                       2,
		"Books?$orderby=Title,Id,Price":              3,
		"Books?$orderby=Title,Title%20desc":          2,
		"Books?$orderby=1,'x',null,Title":            2,
		"Books?$orderby=length(Title),length(Title)": 2,
		"Books?$orderby=length(Title),length(Title)%20desc,length(Isbn)":   3,
		"Books?$orderby=Author/Name,Author/Name":                           2,
		"Books?$orderby=Size/Width,Size/Width":                             2,
		"Books?$compute=year(Printed)%20as%20Y&$orderby=Y,Y,year(Printed)": 2,
		"Books?$orderby=Sequels/$count,Sequels/$count%20desc":              3,
	}
	for target, want := range cases {
		p, err := build(t, target, bind.Options{Caller: reader()})
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if got := len(p.Top.Query.Order); got != want {
			t.Errorf("%s: %d items, want %d", target, got, want)
		}
	}
}
