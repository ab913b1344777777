package main

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"google.golang.org/protobuf/encoding/protowire"
)

// Validate does what the config block names, or else the address of the user.
func (f *fault) Validate(ctx context.Context, user pluginsdk.User, changes []pluginsdk.Change) (pluginsdk.Verdict, error) {
	f.served.Add(1)
	way, _, _ := strings.Cut(cmp.Or(f.config.Call, user.Email), "@")
	way, _, _ = strings.Cut(way, "+")
	if act := acts()[way]; act != nil {
		if err := act(ctx); err != nil {
			return pluginsdk.Verdict{}, err
		}
	}
	if raw := rawVerdicts()[way]; raw != nil {
		setRaw(ctx, raw)
		return pluginsdk.Accept(), nil
	}
	switch way {
	case "refuses":
		if _, known := changes[0].New.All()["status"]; known {
			return pluginsdk.Refuse(0, "status", "This is not allowed."), nil
		}
		return pluginsdk.Refuse(0, "", "This is not allowed."), nil
	case "amends":
		return pluginsdk.Amend(0, "status", "checked"), nil
	case "amends-too-much":
		return pluginsdk.Amend(0, "id", 7), nil
	case "pid":
		return pluginsdk.Amend(0, "status", os.Getpid()), nil
	case "wrong-index":
		return pluginsdk.Refuse(len(changes), "", "no"), nil
	case "echo":
		told, err := json.Marshal(map[string]any{"User": user, "Changes": changes})
		return pluginsdk.Amend(0, "status", string(told)), err
	}
	return pluginsdk.Accept(), nil
}

// rawVerdicts are answers as bytes that the SDK would not send.
func rawVerdicts() map[string][]byte {
	message := func(number protowire.Number, change uint64, fields ...[]byte) []byte {
		inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), change)
		for _, field := range fields {
			inner = append(inner, field...)
		}
		return text(number, string(inner))
	}
	refusal := func(change uint64, property, why string) []byte {
		return message(1, change, text(2, property), text(3, why))
	}
	amendment := func(property, value string) []byte {
		return message(2, 0, text(2, property), text(3, value))
	}
	return map[string][]byte{
		"raw-index":    refusal(1, "", "no"),
		"raw-negative": refusal(1<<64-1, "", "no"),
		"raw-property": refusal(0, "nope", "no"),
		"raw-silent":   refusal(0, "status", ""),
		"raw-long":     refusal(0, "status", strings.Repeat("x", 1<<10+1)),
		"raw-lines":    refusal(0, "status", "a\nb"),
		"raw-utf8":     refusal(0, "status", "\xff"),
		"raw-many":     []byte(strings.Repeat(string(refusal(0, "", "no")), 1001)),
		"raw-amends":   amendment("nope", "1"),
		"raw-value":    amendment("status", "{}"),
		"raw-nothing":  amendment("status", ""),
		"raw-json":     amendment("status", "nan"),
		"not-protobuf": {0x0a, 0xff},
	}
}
