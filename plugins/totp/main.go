package main

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func main() { pluginsdk.Serve(newPlugin(time.Now)) }

func newPlugin(now func() time.Time) pluginsdk.Plugin {
	f := &factor{now: now}
	return pluginsdk.Plugin{
		Name:        "totp",
		Version:     pluginsdk.Version,
		Description: "Asks for a code of an authenticator app, or a recovery code.",
		Title:       "Authenticator app",
		OffersStep:  true,
		Dispenser:   f,
		Config:      &f.config,
		Configure:   f.configure,
	}
}

// A config is the plugin's config block.
type config struct {
	Key      string   `config:"key,required" doc:"Seals what is kept of a factor: base64 of 32 bytes, such as openssl rand -base64 32 prints."`
	OldKeys  []string `config:"old_keys" doc:"Keys of before. They open what they sealed; the next change seals it with key."`
	Page     string   `config:"page,required" doc:"The application's page that asks for the code, such as /second-factor."`
	Issuer   string   `config:"issuer,required" doc:"The application's name, as the authenticator app shows it."`
	Column   string   `config:"column" default:"second_factor" doc:"The user column that holds the sealed factor: text of 2,000 characters or more."`
	Enrol    string   `config:"enrol" default:"required" oneof:"required offered" doc:"Whether people without a factor must set one up, or may go on without."`
	Devices  bool     `config:"trust_devices" doc:"Whether a device that stays signed in is asked for a code only once."`
	Passkeys bool     `config:"passkeys" doc:"Whether somebody who signs in by a passkey is let pass without a code."`
	Prefixes []string `config:"prefixes" doc:"Paths beside the page that it needs, such as /assets."`
}

// Validate refuses keys that are none and a page that is no path.
func (c config) Validate() error {
	var errs []error
	if _, err := decodeKey(c.Key); err != nil {
		errs = append(errs, pluginsdk.BadConfig("key", "%v", err))
	}
	for _, key := range c.OldKeys {
		if _, err := decodeKey(key); err != nil {
			errs = append(errs, pluginsdk.BadConfig("old_keys", "%v", err))
		}
	}
	if !strings.HasPrefix(c.Page, "/") {
		errs = append(errs, pluginsdk.BadConfig("page", "it must be a path of the application, such as /second-factor"))
	}
	if strings.Contains(c.Issuer, ":") || c.Issuer == "" {
		errs = append(errs, pluginsdk.BadConfig("issuer", "it must be a name without a colon, which authenticator apps cut it at"))
	}
	return errors.Join(errs...)
}

func decodeKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != keySize {
		return nil, errors.New("it must be base64 of 32 bytes: make one with `openssl rand -base64 32`")
	}
	return key, nil
}

// configure refuses a block whose grants would let nobody through.
func (f *factor) configure(_ context.Context, in pluginsdk.Setup) error {
	var errs []error
	if !in.CanRead(f.config.Column) {
		errs = append(errs, pluginsdk.BadConfig("column", "nobody's factor could be read from %q: add it to user_read", f.config.Column))
	}
	if !in.CanWrite(f.config.Column) {
		errs = append(errs, pluginsdk.BadConfig("column", "no factor could be kept in %q: add it to user_write", f.config.Column))
	}
	var err error
	f.vault, err = newVault(append([]string{f.config.Key}, f.config.OldKeys...))
	return errors.Join(append(errs, err)...)
}
