package reserved

import (
	"bytes"
	"slices"
	"strings"
)

// Header reports whether a request header identifies a person to the host or to
// the application. No plugin ever sees one.
func Header(name string) bool {
	return slices.Contains([]string{
		"cookie", "set-cookie", "authorization", "proxy-authorization", "x-csrf-token", "x-xsrf-token",
	}, strings.ToLower(name))
}

// FoldHeader returns the form in which two header names are equal when an
// application may take them for one: only letters and digits, in lower case. CGI
// turns dashes into underscores, and PHP dots as well.
func FoldHeader(name string) string { return string(AppendFolded(nil, name)) }

// AppendFolded appends the form that [FoldHeader] returns.
func AppendFolded(to []byte, name string) []byte {
	for _, c := range []byte(name) {
		switch {
		case c >= 'A' && c <= 'Z':
			to = append(to, c+'a'-'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			to = append(to, c)
		}
	}
	return to
}

// IdentityHeader reports whether a header tells an application who is signed in:
// one that begins with X-Vestibule-, in any spelling. Only the host sets them.
func IdentityHeader(name string) bool {
	var space [64]byte
	return bytes.HasPrefix(AppendFolded(space[:0], name), []byte("xvestibule"))
}

// ForwardingHeader reports whether a header tells where a request came from, or
// its address before a proxy changed it, in any spelling. Applications trust these
// headers of their proxy, so the host drops those that a client sends.
func ForwardingHeader(name string) bool {
	var space [64]byte
	folded := AppendFolded(space[:0], name)
	switch string(folded) {
	case "forwarded", "xrealip", "realip", "xclientip", "clientip", "trueclientip", "xtrueclientip", "remoteaddr", "xremoteaddr", "xremoteip",
		"xclusterclientip", "cfconnectingip", "cfconnectingipv6", "fastlyclientip", "xazureclientip", "xenvoyexternaladdress", "wlproxyclientip",
		"proxyclientip", "xrewriteurl", "xscheme", "xurlscheme", "frontendhttps", "xproxyhost", "xhost":
		return true
	}
	return bytes.HasPrefix(folded, []byte("xforwarded")) || bytes.HasPrefix(folded, []byte("xoriginal"))
}

// ProxyHeader returns why a request header to an application cannot be given the
// name by configuration, and "" when it can.
func ProxyHeader(name string) string {
	folded := FoldHeader(name)
	switch {
	case folded == "":
		return "is no header name"
	case folded == "host":
		return "names the site, which the host sets"
	case folded == "cookie" || folded == "setcookie" || folded == "authorization":
		return "holds credentials"
	case IdentityHeader(name), folded == "xrequestid":
		return "is set by the host itself"
	case ForwardingHeader(name):
		return "says where a request came from, which the host sets"
	case strings.HasPrefix(folded, "proxy") || slices.Contains([]string{"connection", "keepalive", "te", "trailer", "upgrade", "http2settings"}, folded):
		return "belongs to one connection (hop-by-hop)"
	case slices.Contains([]string{"contentlength", "transferencoding", "expect"}, folded):
		return "frames the request"
	}
	return ""
}
