package mail_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
)

var update = flag.Bool("update", false, "write the golden files anew")

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func message(t *testing.T, locale string) mail.Message {
	t.Helper()
	c, err := builtin(t).Render(mail.PasswordReset, locale, data())
	if err != nil {
		t.Fatal(err)
	}
	return mail.Message{
		Purpose: mail.PasswordReset, From: "Acme Shop <no-reply@shop.example.com>", To: "ada@example.com",
		Subject: c.Subject, Text: c.Text, HTML: c.HTML, Lang: c.Lang,
		ID: "0123456789abcdef@shop.example.com", Date: noon(),
	}
}

// wire renders the message and returns what a mail program sees.
func wire(t *testing.T, m mail.Message) (raw string, headers netmail.Header, parts map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	raw = b.String()
	headers, parts = read(t, &b)
	return raw, headers, parts
}

// read takes a mail apart as a mail program does.
func read(t *testing.T, r io.Reader) (netmail.Header, map[string]string) {
	t.Helper()
	msg, err := netmail.ReadMessage(r)
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %q (%v)", kind, err)
	}
	parts := map[string]string{}
	for mr := multipart.NewReader(msg.Body, params["boundary"]); ; {
		p, err := mr.NextRawPart()
		if errors.Is(err, io.EOF) {
			return msg.Header, parts
		}
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = p
		if p.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			body = quotedprintable.NewReader(p)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";")
		parts[kind] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

func TestGolden(t *testing.T) {
	boundary := regexp.MustCompile(`boundary=(?:"([^"]+)"|(\S+))`)
	for _, locale := range []string{"en", "de"} {
		t.Run(locale, func(t *testing.T) {
			raw, _, _ := wire(t, message(t, locale))
			m := boundary.FindStringSubmatch(raw)
			if m == nil {
				t.Fatal("no boundary")
			}
			got := strings.ReplaceAll(strings.ReplaceAll(raw, m[1]+m[2], "BOUNDARY"), "\r\n", "\n")
			file := filepath.Join("testdata", "password_reset_"+locale+".eml")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("want -, got +; if that is right: go test ./host/mail -run TestGolden -update\n%s", diff)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	_, h, parts := wire(t, message(t, "de"))
	for name, want := range map[string]string{
		"From": `"Acme Shop" <no-reply@shop.example.com>`, "To": "<ada@example.com>",
		"Date": "Sat, 21 Nov 2026 12:00:00 +0000", "Message-Id": "<0123456789abcdef@shop.example.com>",
		"Auto-Submitted": "auto-generated", "Content-Language": "de", "Mime-Version": "1.0",
		"X-Mailer": "", "User-Agent": "", "Bcc": "", "Cc": "", "Reply-To": "",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	if err != nil || subject != "Neues Passwort für Acme Shop festlegen" {
		t.Errorf("subject %q (%v)", subject, err)
	}
	if len(parts) != 2 || !strings.Contains(parts["text/plain"], data().Link) || !strings.Contains(parts["text/html"], "für Ihr Konto") {
		t.Errorf("parts: %v", parts)
	}
}

// People and scripts read .eml files raw, so the link is in one piece in there.
func TestLinkIsReadableInTheFile(t *testing.T) {
	for _, locale := range []string{"en", "de"} {
		raw, _, _ := wire(t, message(t, locale))
		if strings.Count(raw, data().Link) != 4 { // text, button, address and its text
			t.Errorf("%s: the link is not in one piece:\n%s", locale, raw)
		}
	}
}

func TestLongLinesAreEncoded(t *testing.T) {
	m := message(t, "en")
	m.Text = strings.Repeat("long ", 400) + "\nend"
	raw, _, parts := wire(t, m)
	for line := range strings.SplitSeq(raw, "\r\n") {
		if len(line) > 998 {
			t.Fatalf("a line of %d bytes", len(line))
		}
	}
	if strings.TrimRight(parts["text/plain"], "\n") != m.Text {
		t.Error("the text changed on its way")
	}
}

func TestNothingInjectsHeaders(t *testing.T) {
	const bcc = "\r\nBcc: eve@example.com\r\n\r\nbuy!"
	for _, tc := range []struct {
		name   string
		change func(m *mail.Message)
		fails  bool
	}{
		{"subject", func(m *mail.Message) { m.Subject += bcc }, false},
		{"subject with bare LF", func(m *mail.Message) { m.Subject += "\nBcc: eve@example.com" }, false},
		{"subject with bare CR", func(m *mail.Message) { m.Subject += "\rBcc: eve@example.com" }, false},
		{"subject with NEL", func(m *mail.Message) { m.Subject += "\u0085Bcc: eve@example.com" }, false},
		{"subject with LS", func(m *mail.Message) { m.Subject += "\u2028Bcc: eve@example.com" }, false},
		{"subject that is an encoded word", func(m *mail.Message) { m.Subject = "=?utf-8?q?=0d=0aBcc:=20eve@example.com?=" }, false},
		{"language", func(m *mail.Message) { m.Lang += bcc }, false},
		{"text", func(m *mail.Message) { m.Text = bcc + m.Text }, false},
		{"recipient", func(m *mail.Message) { m.To += bcc }, true},
		{"recipient list", func(m *mail.Message) { m.To += ", eve@example.com" }, true},
		{"recipient with name", func(m *mail.Message) { m.To = "Ada <ada@example.com>" }, true},
		{"sender", func(m *mail.Message) { m.From += bcc }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := message(t, "en")
			tc.change(&m)
			var b bytes.Buffer
			_, err := m.WriteTo(&b)
			if (err != nil) != tc.fails {
				t.Fatalf("error: %v", err)
			}
			if tc.fails {
				if b.Len() > 0 {
					t.Error("something was written all the same")
				}
				return
			}
			h, _ := read(t, &b)
			if len(h["Bcc"]) > 0 || len(h["To"]) != 1 || h.Get("To") != "<ada@example.com>" || len(h["Subject"]) != 1 {
				t.Errorf("headers: %v", h)
			}
		})
	}
}

func addresses() map[string]string {
	return map[string]string{ // what is written into the header, empty when refused
		"ada@example.com":                          "ada@example.com",
		"Ada.Love+shop@Example.COM":                "Ada.Love+shop@example.com",
		"o'neill@example.ie":                       "o'neill@example.ie",
		"!#$%&'*+-/=?^_`{|}~@a.example":            "!#$%&'*+-/=?^_`{|}~@a.example",
		"root@localhost":                           "root@localhost",
		"ada@büro.example":                         "ada@xn--bro-hoa.example",
		"ada@192.0.2.1":                            "ada@192.0.2.1",
		strings.Repeat("a", 64) + "@example.com":   strings.Repeat("a", 64) + "@example.com",
		"":                                         "",
		"ada":                                      "",
		"@example.com":                             "",
		"ada@":                                     "",
		"ada@@example.com":                         "",
		"ada@eve@example.com":                      "",
		".ada@example.com":                         "",
		"ada.@example.com":                         "",
		"a..b@example.com":                         "",
		"ada@-example.com":                         "",
		"ada@example-.com":                         "",
		"ada@example..com":                         "",
		"ada@.example.com":                         "",
		"ada@exam ple.com":                         "",
		"ada@exam_ple.com":                         "",
		"ada@example.com.":                         "",
		"ada@[127.0.0.1]":                          "",
		`"ada"@example.com`:                        "",
		`"a b"@example.com`:                        "",
		"Ada <ada@example.com>":                    "",
		"<ada@example.com>":                        "",
		"ada@example.com (Ada)":                    "",
		"ada(x)@example.com":                       "",
		"ada@example.com,eve@example.com":          "",
		"ada@example.com eve@example.com":          "",
		"ada@example.com;":                         "",
		" ada@example.com":                         "",
		"ada@example.com ":                         "",
		"ada@example.com\n":                        "",
		"ada\x00@example.com":                      "",
		"ada\xff@example.com":                      "",
		"ada@example.com\r\nRCPT TO:<e@e>":         "",
		"ada\u200b@example.com":                    "",
		`["ada@example.com","eve@example.com"]`:    "",
		"mailto:ada@example.com":                   "",
		strings.Repeat("a", 65) + "@example.com":   "",
		"ada@" + strings.Repeat("a", 64) + ".com":  "",
		"ada@" + strings.Repeat("a.", 127) + "com": "",
		"ada@" + strings.Repeat(strings.Repeat("a", 49)+".", 5) + "com": "",
	}
}

func TestAddressesAreOneMailbox(t *testing.T) {
	for address, want := range addresses() {
		t.Run(address, func(t *testing.T) {
			m := message(t, "en")
			m.To = address
			var b bytes.Buffer
			if _, err := m.WriteTo(&b); err != nil {
				if want != "" {
					t.Errorf("refused: %v", err)
				}
				if address != "" && len(address) > 3 && strings.Contains(err.Error(), address) {
					t.Errorf("the error repeats the address: %v", err)
				}
				return
			}
			h, _ := read(t, &b)
			if got := h.Get("To"); got != "<"+want+">" {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func FuzzMessage(f *testing.F) {
	for address := range addresses() {
		f.Add(address, "Subject", "text")
	}
	f.Add("ada@example.com", "a\r\nBcc: eve@example.com", "\r\n.\r\nMAIL FROM:<>")
	f.Add("jörg@example.com", "=?utf-8?b?DQo=?=", "--\r\n--boundary--\r\n")
	f.Fuzz(func(t *testing.T, to, subject, text string) {
		m := mail.Message{
			From: "a@example.com", To: to, Subject: subject, Text: text, HTML: "<p>" + text,
			ID: "id@example.com", Date: noon(), Lang: "en",
		}
		var b bytes.Buffer
		if _, err := m.WriteTo(&b); err != nil {
			return
		}
		msg, err := netmail.ReadMessage(&b)
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range msg.Header {
			switch name {
			case "From", "To", "Subject", "Date", "Message-Id", "Auto-Submitted", "X-Auto-Response-Suppress",
				"Content-Language", "Mime-Version", "Content-Type":
				if len(values) != 1 {
					t.Errorf("%s is there %d times", name, len(values))
				}
			default:
				t.Errorf("header %s: %q", name, values)
			}
		}
		list, err := msg.Header.AddressList("To")
		if err != nil || len(list) != 1 || strings.Count(list[0].Address, "@") != 1 {
			t.Errorf("To is %q: %v", msg.Header.Get("To"), err)
		}
	})
}
