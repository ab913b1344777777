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

// Begin does what the config block names, or else the address of the person who is expected.
func (f *fault) Begin(ctx context.Context, r pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	f.served.Add(1)
	way, _, _ := strings.Cut(cmp.Or(f.config.Call, r.LoginHint), "@")
	if act := acts()[way]; act != nil {
		if err := act(ctx); err != nil {
			return pluginsdk.Authorization{}, err
		}
	}
	a := pluginsdk.Authorization{URL: "https://provider.example.com/authorize?state=" + r.State}
	switch way {
	case "no-address":
		return pluginsdk.Authorization{}, nil
	case "raw-plain":
		setRaw(ctx, text(1, "http://provider.example.com/"))
	case "raw-private":
		setRaw(ctx, append(text(1, a.URL), text(2, strings.Repeat("x", 2<<10+1))...))
	case "raw-utf8":
		setRaw(ctx, text(1, "https://provider.example.com/\xff"))
	}
	var err error
	a.Private, err = json.Marshal(r)
	return a, err
}

// Finish does what the config block names, or else the parameter "way".
func (f *fault) Finish(ctx context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	f.served.Add(1)
	way := cmp.Or(f.config.Call, r.Parameters["way"])
	if act := acts()[way]; act != nil {
		if err := act(ctx); err != nil {
			return pluginsdk.IdentityResult{}, err
		}
	}
	identified := pluginsdk.Identified(pluginsdk.Identity{Subject: "s1", Email: "ada@example.com", EmailVerified: true, Name: "Ada"})
	subject := text(1, "s1")
	switch way {
	case "refused":
		return pluginsdk.Refused("You are not on the list."), nil
	case "no-subject":
		return pluginsdk.Identified(pluginsdk.Identity{}), nil
	case "ungranted":
		return identified.With(pluginsdk.SetUser("is_admin", true)), nil
	case "does-not-fit":
		return identified.With(pluginsdk.SetUser("partner_id", "abc")), nil
	case "pid":
		return identified.With(pluginsdk.SetUser("partner_id", os.Getpid())), nil
	case "raw-subject":
		setRaw(ctx, text(1, string(text(1, strings.Repeat("x", 256)))))
	case "raw-session":
		setRaw(ctx, append(text(1, string(subject)), text(3, string(text(2, string(text(1, "visits")))))...))
	case "raw-both":
		setRaw(ctx, append(text(1, string(subject)), text(2, "no")...))
	case "raw-reason":
		setRaw(ctx, text(2, strings.Repeat("x", 257)))
	}
	told, err := json.Marshal(r)
	return identified.With(pluginsdk.SetUser("partner_id", string(told))), err
}

// text is a field of a message.
func text(number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), s)
}
