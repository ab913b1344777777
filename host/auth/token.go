package auth

import (
	"context"
	"errors"
	"hash/crc32"
	"math/big"
	"strings"
	"time"
)

// A Token is a machine token: it stands for its user at the query endpoint or at one
// route, for programs that cannot sign in.
type Token struct {
	// ID names the token where it is listed and revoked; it opens nothing.
	ID string
	// Hash is the SHA-256 of the token; the token itself is stored nowhere.
	Hash []byte
	// UserID is whom it stands for.
	UserID string
	// Name is what the person or the operator calls it.
	Name string
	// Route is the one route that it opens; empty for the query endpoint.
	Route string
	// Write allows other methods than GET and HEAD at the route, and changes of rows at the query endpoint.
	Write bool
	// Created, Expires and Used are when it was made, when it ends, and when it was
	// last used, to the minute; Used is zero before the first use.
	Created, Expires, Used time.Time
}

// ErrTooMany is returned by [Tokens].Create when the user has as many as allowed.
var ErrTooMany = errors.New("too many tokens")

// Tokens keeps the machine tokens.
type Tokens interface {
	// Create stores a token, in place of those of the same user that are over, or
	// returns [ErrTooMany] when the user has most already. Lock the user before.
	Create(ctx context.Context, t Token, most int) error
	// Find returns the token with this hash, which may be over, or ErrNotFound.
	Find(ctx context.Context, hash []byte) (Token, error)
	// FindID returns the token with this id, which may be over, or ErrNotFound.
	FindID(ctx context.Context, id string) (Token, error)
	// List returns up to limit tokens of the user, or of everybody where userID is
	// empty, the newest first, those that are over among them.
	List(ctx context.Context, userID string, limit int) ([]Token, error)
	// Touch sets when the token was last used.
	Touch(ctx context.Context, hash []byte, at time.Time) error
	// Delete ends a token of the user, or returns ErrNotFound.
	Delete(ctx context.Context, id, userID string) error
	// DeleteUser ends all tokens of the user.
	DeleteUser(ctx context.Context, userID string) error
}

// The parts of a token: the prefix, by which people and scanners know one, 32 random
// bytes and their CRC-32 (IEEE), both as numbers of base 62 in digits, small letters
// and capitals, with leading zeros.
const (
	tokenPrefix   = "vst_"
	tokenBytes    = 32
	tokenDigits   = 43 // 62^43 > 2^256
	tokenChecksum = 6  // 62^6 > 2^32
)

// mintToken returns a new token.
func mintToken() string { return formatToken(random(tokenBytes)) }

func formatToken(secret []byte) string {
	sum := big.NewInt(int64(crc32.ChecksumIEEE(secret)))
	return tokenPrefix + base62(new(big.Int).SetBytes(secret), tokenDigits) + base62(sum, tokenChecksum)
}

func base62(n *big.Int, width int) string {
	text := n.Text(62)
	return strings.Repeat("0", max(0, width-len(text))) + text
}

// isToken reports whether text has the form of a token, its checksum included.
func isToken(text string) bool {
	body, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(body) != tokenDigits+tokenChecksum {
		return false
	}
	n, ok := new(big.Int).SetString(body[:tokenDigits], 62)
	if !ok || n.Sign() < 0 || n.BitLen() > 8*tokenBytes {
		return false
	}
	return formatToken(n.FillBytes(make([]byte, tokenBytes))) == text
}
