package host

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
)

// A sealer encrypts the texts of plugins' mails while they wait in the outbox, so that a
// look into that table, or its copy elsewhere, shows no link. All hosts share the key,
// which is in the database, too.
type sealer struct{ secrets auth.Secrets }

// textsSecret is the name of the key.
const textsSecret = "mail_texts"

// seal encrypts the texts with AES-256-GCM. They open for a mail of the same user and
// template alone.
func (s sealer) seal(ctx context.Context, m mail.Item, texts map[string]string) (string, error) {
	aead, err := s.aead(ctx)
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(texts)
	if err != nil {
		return "", fmt.Errorf("seal the texts of a mail: %w", err)
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return string(aead.Seal(nonce, nonce, plain, sealedFor(m))), nil
}

// open decrypts the texts of a mail.
func (s sealer) open(ctx context.Context, m mail.Item) (map[string]string, error) {
	aead, err := s.aead(ctx)
	if err != nil {
		return nil, err
	}
	sealed, size := []byte(m.Sealed), aead.NonceSize()
	if len(sealed) < size {
		return nil, fmt.Errorf("%w: the sealed texts of the mail are cut off", mail.ErrRejected)
	}
	plain, err := aead.Open(nil, sealed[:size], sealed[size:], sealedFor(m))
	if err != nil {
		return nil, fmt.Errorf("%w: the texts of the mail cannot be opened: they were sealed with another key, or for another user", mail.ErrRejected)
	}
	texts := map[string]string{}
	return texts, json.Unmarshal(plain, &texts)
}

func (s sealer) aead(ctx context.Context) (cipher.AEAD, error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails
	key, err := s.secrets.Secret(ctx, textsSecret, fresh)
	if err != nil {
		return nil, fmt.Errorf("read the key of mails: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use the key of mails: %w", err)
	}
	return cipher.NewGCM(block)
}

func sealedFor(m mail.Item) []byte { return []byte(m.UserID + "\x00" + m.Purpose) }
