package mail

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	netmail "net/mail"
	"strings"
	"time"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// Message is one mail, ready to be sent.
type Message struct {
	// Purpose is what the mail is for; it names files and log lines.
	Purpose string
	// From is the sender, with or without a display name. To is one address.
	From, To string
	// Subject, Text and HTML are the content; Lang is its language.
	Subject, Text, HTML, Lang string
	// ID is the Message-ID without its brackets.
	ID string
	// Date is when it was written.
	Date time.Time
}

// newID returns a Message-ID in the domain of the address from.
func newID(from string) string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	_, domain, _ := strings.Cut(from, "@")
	return hex.EncodeToString(b) + "@" + domain
}

// WriteTo writes the message in the form of RFC 5322, with 8-bit content as it
// is, so that a person can read the file. It writes nothing and returns an
// error when From or To is not an address.
func (m Message) WriteTo(w io.Writer) (int64, error) {
	msg, err := m.compose(gomail.NoEncoding)
	if err != nil {
		return 0, err
	}
	return msg.WriteTo(w)
}

// compose builds the message. Content beyond ASCII gets the given encoding;
// plain ASCII is not encoded, so that links stay in one piece.
func (m Message) compose(encoding gomail.Encoding) (*gomail.Msg, error) {
	from, err := netmail.ParseAddress(m.From)
	if err != nil {
		return nil, fmt.Errorf("sender: %w", err)
	}
	to, err := reserved.Address(m.To)
	if err != nil {
		return nil, fmt.Errorf("recipient: %w", err)
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithCharset(gomail.CharsetUTF8), gomail.WithEncoding(gomail.EncodingQP))
	msg.FromMailAddress(&netmail.Address{Name: oneLine(from.Name), Address: from.Address})
	msg.ToMailAddress(&netmail.Address{Address: to})
	msg.Subject(oneLine(m.Subject))
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(m.ID)
	// RFC 3834 5: tells automatic responders not to answer.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	msg.SetGenHeader("Content-Language", oneLine(m.Lang))
	msg.SetBodyString(gomail.TypeTextPlain, crlf(m.Text), gomail.WithPartEncoding(encodingFor(m.Text, encoding)))
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, crlf(m.HTML), gomail.WithPartEncoding(encodingFor(m.HTML, encoding)))
	}
	return msg, nil
}

// maxLine is the longest line that may go unencoded, in bytes. RFC 5322 2.1.1
// allows 998.
const maxLine = 990

// encodingFor returns the transfer encoding of a part: none for plain ASCII of
// moderate lines. The library labels that "8bit", which every server takes for
// ASCII; what it labels "7bit" it sends quoted-printable, against the label.
func encodingFor(s string, beyondASCII gomail.Encoding) gomail.Encoding {
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) > maxLine {
			return gomail.EncodingQP
		}
	}
	for _, b := range []byte(s) {
		if b >= utf8.RuneSelf {
			return beyondASCII
		}
	}
	return gomail.NoEncoding
}

// crlf gives every line the end that RFC 5322 2.1 demands.
func crlf(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.ReplaceAll(s, "\n", "\r\n")
}
