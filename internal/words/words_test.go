package words_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

func TestNearest(t *testing.T) {
	names := []string{"address", "public_url", "cost", "Products"}
	for name, want := range map[string]string{
		"adress": "address", "pbulic_url": "public_url", "cots": "cost", "cst": "cost", "cs": "", "publicaturl": "public_url", "pub_lik_u": "", "product": "Products", "PRODUCTS": "Products",
		"zzzzzzzz": "", "": "",
	} {
		if got := words.Nearest(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := words.Nearest("x", nil); got != "" {
		t.Errorf("of no names: %q", got)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"aü", 2, "a"}, {"ü", 1, ""}, {"😀x", 4, "😀"}, {"😀", 3, ""}, {"abc", 0, ""}, {"", 0, ""},
	} {
		if got := words.Cut(tt.s, tt.n); got != tt.want {
			t.Errorf("Cut(%q, %d): %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"abcdef": "abcd", "abé": "abé", "abcé": "abc", "a\x00b\n": "ab", "a\xffb": "ab", "a\u0085b": "ab", "\xff\x00abcde": "abcd", "": "",
	} {
		if got := words.Printable(s, 4); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct {
		name, text, want, lines string
		limit                   int
	}{
		{"plain", "all is well, ü 张", "all is well, ü 张", "all is well, ü 张", 100},
		{"escape", "\x1b[2J", `\u001b[2J`, `\u001b[2J`, 100},
		{"line ends", "a\r\nb", `a\u000d\u000ab`, "a\\u000d\nb", 100},
		{"tab", "a\tb", "a b", "a b", 100},
		{"direction and C1", "\u202e\u009b", `\u202e\u009b`, `\u202e\u009b`, 100},
		{"not UTF-8", "\xff", "\uFFFD", "\uFFFD", 100},
		{"long", "abcdef", "abc… (3 bytes more)", "abc… (3 bytes more)", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := words.Clean(tt.text, tt.limit); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := words.CleanLines(tt.text, tt.limit); got != tt.lines {
				t.Errorf("with lines: got %q, want %q", got, tt.lines)
			}
		})
	}
}
