package plan

import (
	"time"

	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/syntax"
)

// Planner binds requests to one model. It is safe for concurrent use.
type Planner struct {
	model    *edm.Model
	policies map[*edm.EntitySet]syntax.Expr
}

// Options are what a plan depends on besides the request and the model.
type Options struct {
	Limits Limits
	// Prefer is the client's preferred maximal page size; zero or less when there is none.
	Prefer int64
	// Caller is who asks; the zero value is nobody.
	Caller Caller
	// Now is the time of the request, for the function now.
	Now time.Time
}

// Caller is who asks, as far as guards and row policies need to know.
type Caller struct {
	// SignedIn tells that there is a user; Settled that the user's intent loop has ended, too.
	SignedIn, Settled bool
	// User holds the columns of the user's record by name, for @user_COLUMN in row policies: nil, bool, integers,
	// floats, string, []byte, or time.Time. A missing or nil column lets no row pass.
	User map[string]any
}

// New makes a Planner. The model must have passed Model.Check; an error tells which row policy does not hold up.
func New(m *edm.Model) (*Planner, error) {
	p := &Planner{model: m, policies: map[*edm.EntitySet]syntax.Expr{}}
	return p, nil
}

// Build resolves a request. The fault is always an *Error. System resources that are no data ($batch, $entity,
// $query) are the business of package odata and unknown here.
func (p *Planner) Build(req *syntax.Request, o Options) (*Plan, error) {
	return nil, &Error{Kind: NotImplemented, Pos: -1, Message: "planning is not there yet"}
}
