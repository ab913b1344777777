package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// keyURI is what authenticator apps read from the QR code.
func keyURI(issuer, account, secret string) string {
	q := url.Values{"secret": {secret}, "issuer": {issuer}, "algorithm": {"SHA1"}, "digits": {"6"}, "period": {"30"}}
	// Apps show a plus as it is, so a blank must be %20.
	return "otpauth://totp/" + url.PathEscape(issuer+":"+account) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// A drawing is a QR code as the path of an SVG of size by size units, which a page
// can show under any content security policy.
type drawing struct {
	size int
	path string
}

func draw(text string) (drawing, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return drawing{}, fmt.Errorf("draw a QR code: %w", err)
	}
	size := code.Bounds().Dx()
	dark := func(x, y int) bool {
		if x >= size {
			return false
		}
		r, _, _, _ := code.At(x, y).RGBA()
		return r == 0
	}
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; x++ {
			from := x
			for dark(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
			}
		}
	}
	return drawing{size, path.String()}, nil
}
