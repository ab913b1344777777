package pluginsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
)

// wireHold is the kind of a held redirect in the protocol. It is a kind of its own
// there, and not a mark on a redirect, so that a host which does not know it refuses
// the answer and lets nobody pass.
const wireHold = "hold"

func toIntent(i Intent) (*pluginpb.DispenseResponse, error) {
	effects, err := toEffects(i.effects)
	if err != nil {
		return nil, err
	}
	if i.kind == "" {
		return &pluginpb.DispenseResponse{Effects: effects}, nil
	}
	out := &pluginpb.Intent{Kind: i.kind, Target: i.target, PersonName: i.personName, Prefixes: i.prefixes, Errors: i.errors, OffersRecovery: i.offersRecovery, Recovery: i.recovery}
	switch {
	case i.held && i.kind != kindRedirect:
		return nil, fmt.Errorf("an intent of the kind %q holds: only a redirect can", i.kind)
	case !i.held && i.offersRecovery:
		return nil, errors.New("an intent that holds nobody has no recovery form: call Hold as well")
	case !i.held && (i.nextStep != nil || i.errors != nil):
		return nil, errors.New("an intent that holds nobody says why it does: call Hold as well")
	case i.held:
		out.Kind = wireHold
	}
	if i.nextStep != nil {
		if out.NextStep, err = json.Marshal(i.nextStep); err != nil {
			return nil, fmt.Errorf("the payload of NeedsMoreInput: %w", err)
		}
	}
	for _, text := range slices.Concat([]string{i.target, i.personName}, i.prefixes, i.errors) {
		if !utf8.ValidString(text) {
			return nil, errors.New("a text is not valid UTF-8")
		}
	}
	return &pluginpb.DispenseResponse{Intent: out, Effects: effects}, nil
}

// fromIntent refuses kinds that the catalogue does not have: an unknown kind
// cannot be carried in an [Intent] at all.
func fromIntent(r *pluginpb.DispenseResponse) (Intent, error) {
	effects, err := fromEffects(r.GetEffects())
	if err != nil {
		return Intent{}, err
	}
	intent, err := fromKind(r.GetIntent(), effects)
	if err != nil {
		return Intent{}, err
	}
	intent.recovery = r.GetIntent().GetRecovery()
	return intent, nil
}

func fromKind(in *pluginpb.Intent, effects []Effect) (Intent, error) {
	switch kind := in.GetKind(); kind {
	case kindDone:
		return Done().With(effects...), nil
	case kindRedirect:
		return Redirect(in.GetTarget()).With(effects...), nil
	case wireHold:
		held := Redirect(in.GetTarget()).Hold(in.GetPrefixes()...)
		held.errors, held.offersRecovery = in.GetErrors(), in.GetOffersRecovery()
		if len(in.GetNextStep()) > 0 {
			var err error
			if held.nextStep, err = fromPayload(in.GetNextStep()); err != nil {
				return Intent{}, err
			}
		}
		return held.With(effects...), nil
	case kindOrgSetup:
		return OrgSetup(in.GetPersonName()).With(effects...), nil
	case "":
		return Intent{}, fmt.Errorf("%w: it returned no intent", ErrContract)
	default:
		return Intent{}, fmt.Errorf("%w: it returned an intent of unknown kind %q", ErrContract, words.Cut(kind, 64))
	}
}
