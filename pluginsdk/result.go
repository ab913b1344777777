package pluginsdk

import "slices"

// Status is how an [OrgSetupHandler] judges a form.
type Status string

// The statuses of a result. Only StatusSatisfied advances the loop.
const (
	StatusSatisfied      Status = "satisfied"
	StatusNeedsMoreInput Status = "needs_more_input"
	StatusError          Status = "error"
)

// A Result is what an [OrgSetupHandler] answers. Make one with [Satisfied],
// [NeedsMoreInput] or [Failed]; the zero value breaks the contract. A Result is
// a value: methods return copies and it may be shared between goroutines.
type Result struct {
	status   Status
	nextStep map[string]any
	errors   []string
	effects  []Effect
}

// Satisfied says that the step is complete. The host then asks the dispenser
// again, which sees the effects already laid over the user.
func Satisfied() Result { return Result{status: StatusSatisfied} }

// NeedsMoreInput keeps the person on the step. payload reaches the front end as
// it is, as JSON; by convention {"fields": {"<field>": ["<code or text>"]},
// "message": "…"}, which is shown at the fields. It must be encodable as JSON.
func NeedsMoreInput(payload map[string]any) Result {
	return Result{status: StatusNeedsMoreInput, nextStep: payload}
}

// Failed keeps the person on the step and shows the messages above the form. A
// message is one of the front end's codes or a text in the request's locale.
func Failed(messages ...string) Result {
	return Result{status: StatusError, errors: slices.Clone(messages)}
}

// With returns a copy of the result that asks for effects. The host applies
// them only when the status is [StatusSatisfied].
func (r Result) With(effects ...Effect) Result {
	r.effects = append(slices.Clip(r.effects), effects...)
	return r
}

// Status returns the judgement; it is empty for the zero Result.
func (r Result) Status() Status { return r.status }

// NextStep returns the payload of [NeedsMoreInput], nil otherwise. The map is
// shared, not copied.
func (r Result) NextStep() map[string]any { return r.nextStep }

// Errors returns the messages of [Failed], nil otherwise.
func (r Result) Errors() []string { return slices.Clone(r.errors) }

// Effects returns what the handler asks the host to change, in order.
func (r Result) Effects() []Effect { return slices.Clone(r.effects) }
