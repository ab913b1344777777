// Package keyring rotates the secret keys that all hosts share, whatever they sign: a key
// is made, read by every host before it signs, replaced, and accepted for a while after.
//
// host/store keeps the keys. Start reading at [Ring].
package keyring

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrNoKeys is returned before the first [Ring.Refresh].
var ErrNoKeys = errors.New("the keys were not read yet")

// A Key is a key as it is stored.
type Key struct {
	Created time.Time
	Secret  []byte
}

// Keys keeps the keys of one purpose that all hosts share. It is safe for concurrent use.
type Keys interface {
	// CurrentKeys returns the keys, the newest first. Where the newest is at least as
	// old as every when fresh was made, or there is none, fresh becomes the newest; of
	// several hosts that try one does. Keys that are older than one which is at least
	// as old as settled are deleted.
	CurrentKeys(ctx context.Context, fresh Key, every, settled time.Duration) ([]Key, error)
}

// Rules are how keys rotate, and what is made of them.
type Rules[T any] struct {
	// Every is the age at which a key is replaced, Notice the age at which it begins to
	// sign, and Settled the age from which on no key before it is needed.
	Every, Notice, Settled time.Duration
	// Make returns a random secret.
	Make func() ([]byte, error)
	// Open returns what is used of a key.
	Open func(Key) (T, error)
}

// A Ring holds the keys of one purpose. It is safe for concurrent use.
type Ring[T any] struct {
	keys   Keys
	rules  Rules[T]
	now    func() time.Time
	opened atomic.Pointer[[]Opened[T]]
}

// Opened is a key that is ready for use.
type Opened[T any] struct {
	Created time.Time
	Key     T
}

// New returns a ring without keys. now is the clock; nil means time.Now.
func New[T any](keys Keys, rules Rules[T], now func() time.Time) *Ring[T] {
	if now == nil {
		now = time.Now
	}
	return &Ring[T]{keys: keys, rules: rules, now: now}
}

// Refresh reads the keys, and adds one where it is time. Call it before the first
// request, and then every few minutes. Where it fails the last ones stay in use.
func (r *Ring[T]) Refresh(ctx context.Context) error {
	secret, err := r.rules.Make()
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	keys, err := r.keys.CurrentKeys(ctx, Key{r.now(), secret}, r.rules.Every, r.rules.Settled)
	if err != nil {
		return err
	}
	opened := make([]Opened[T], len(keys))
	for i, key := range keys {
		opened[i].Created = key.Created
		if opened[i].Key, err = r.rules.Open(key); err != nil {
			return err
		}
	}
	r.opened.Store(&opened)
	return nil
}

// All returns the keys, the newest first; none before the first [Ring.Refresh].
func (r *Ring[T]) All() []Opened[T] {
	if opened := r.opened.Load(); opened != nil {
		return *opened
	}
	return nil
}

// Signing returns the key that signs: the newest that is as old as Notice. Where none is,
// as on the first start, it is the oldest, which the other hosts have read first.
func (r *Ring[T]) Signing() (key T, err error) {
	all := r.All()
	for _, k := range all {
		if r.now().Sub(k.Created) >= r.rules.Notice {
			return k.Key, nil
		}
	}
	if len(all) == 0 {
		return key, ErrNoKeys
	}
	return all[len(all)-1].Key, nil
}
