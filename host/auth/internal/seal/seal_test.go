package seal_test

import (
	"bytes"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/seal"
)

// A text opens with its key and its use alone, and unchanged.
func TestOpen(t *testing.T) {
	box, err := seal.New(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	other, err := seal.New(bytes.Repeat([]byte{2}, 32))
	if err != nil {
		t.Fatal(err)
	}
	text := box.Seal([]byte("plain"), []byte("use"))
	if plain, ok := box.Open(text, []byte("use")); !ok || string(plain) != "plain" {
		t.Errorf("opened %q, %v", plain, ok)
	}
	for name, tt := range map[string]struct {
		box         seal.Box
		text, bound string
	}{
		"another key": {other, text, "use"},
		"another use": {box, text, "us"},
		"cut off":     {box, text[:len(text)-1], "use"},
		"too short":   {box, "AAAA", "use"},
		"no base64":   {box, "!" + text, "use"},
		"nothing":     {box, "", "use"},
	} {
		if plain, ok := tt.box.Open(tt.text, []byte(tt.bound)); ok {
			t.Errorf("%s: opened %q", name, plain)
		}
	}
	if _, err := seal.New([]byte("short")); err == nil {
		t.Error("a key of five bytes is taken")
	}
}
