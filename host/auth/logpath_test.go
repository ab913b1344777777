package auth_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// A machine token in a path is not logged, however often it is encoded, and other paths are
// logged as they were sent.
func TestLogPathHoldsNoToken(t *testing.T) {
	token := "vst_" + strings.Repeat("0aZ", 17)[:49]
	encoded := strings.ReplaceAll(token, "_", "%5F")
	for _, tt := range []struct{ name, path, want string }{
		{"alone", "/odata/" + token, "/odata/vst_***"},
		{"in the middle", "/odata/" + token + "/x", "/odata/vst_***/x"},
		{"behind another word", "/x=" + token, "/x=vst_***"},
		{"two", "/" + token + "/" + token, "/vst_***/vst_***"},
		{"encoded", "/odata/" + encoded, "/odata/vst_***"},
		{"its first letter encoded", "/odata/%76" + token[1:], "/odata/vst_***"},
		{"encoded twice", "/odata/" + strings.ReplaceAll(encoded, "%", "%25"), "/odata/vst_***"},
		{"encoded three times", "/odata/" + strings.ReplaceAll(encoded, "%", "%2525"), "/odata/vst_***"},
		{"beside something encoded", "/a%20b/" + token, "/a%20b/vst_***"},
		{"beside something that cannot be decoded twice", "/100%25/" + token, "/100%25/vst_***"},
		{"encoded twice behind a percent sign", "/100%25/" + strings.ReplaceAll(encoded, "%", "%25"), "/100%25/vst_***"},
		{"the token of a reset link behind a percent sign", "/100%25/password%252freset%252f" + token, "/password/reset/***"},
		{"cut short", "/odata/" + token[:30], "/odata/vst_***"},
		{"no token", "/odata/vst_short", "/odata/vst_short"},
		{"another path", "/a%20b/c%2Fd", "/a%20b/c%2Fd"},
		{"the token of a reset link", "/password/reset/" + token, "/password/reset/***"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := auth.LogPath(httptest.NewRequest("GET", tt.path, nil)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
