package uitest

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// The size of the moving picture, and of what it shows below the caption.
const (
	tourWidth, tourHeight = 960, 540
	sceneHeight           = tourHeight - 60
)

// A tour takes the frames of the moving picture: stage is the tab of captions, terminal and
// sheet, page is the tab of the host's screens.
type tour struct {
	*northwind
	stage, page *tab
	scheme      string
	key         webauthn.AuthenticatorID
	frames      []frame
}

// stageData holds the caption of testdata/stage.html, and one of its three contents.
type stageData struct {
	Number  int
	Caption string
	Picture template.URL
	Lines   []line
	Sheet   *sheet
}

// The pictures of the README, which `make -C internal pictures` puts into docs/figures: the
// sign-in, the explorer, and a tour through the scenes below, each in both schemes.
func TestPictures(t *testing.T) {
	dir := os.Getenv("PICTURES")
	if dir == "" {
		t.Skip("`make -C internal pictures` sets PICTURES")
	}
	n := newNorthwind(t)
	tr := &tour{northwind: n, stage: open(t), page: open(t)}
	tr.page.Visit("about:blank")
	tr.key = authenticator(tr.page)
	tr.signIn()
	for _, scheme := range []string{"light", "dark"} {
		suffix := map[string]string{"dark": "-dark"}[scheme]
		tr.scheme, tr.frames = scheme, nil
		tr.stage.Media(scheme)
		tr.page.Media(scheme)
		tr.signOut()
		tr.page.Size(720, 760)
		tr.still(dir, "sign-in"+suffix, "/login", `document.activeElement?.id === 'login'`)
		tr.signIn()
		tr.window(1120, tourHeight)
		tr.still(dir, "explorer"+suffix, orders, `document.querySelectorAll('tbody tr').length === 50`)
		tr.terminal()
		tr.explorer()
		tr.refresh()
		tr.passkey()
		file, err := animated(tr.frames)
		if err != nil {
			t.Fatal(err)
		}
		tr.page.Visit(n.base + "/login")
		tr.page.shows(file, tr.frames)
		if t.Failed() {
			return
		}
		n.check(os.WriteFile(filepath.Join(dir, "tour"+suffix+".png"), file, 0o644))
		t.Logf("tour%s.png: %d frames, %d KiB", suffix, len(tr.frames), len(file)>>10)
	}
}

// orders is the explorer at the orders, with the labels of customers, employees and shippers.
const orders = "/odata/?lang=en#/Orders?~columns=OrderID,CustomerID,EmployeeID,ShipVia,Freight&~sort=OrderID+desc"

// still writes what an address of the host shows to a file.
func (tr *tour) still(dir, name, address, ready string) {
	tr.t.Helper()
	tr.page.Visit("about:blank")
	tr.page.Visit(tr.base + address)
	tr.page.Wait(ready)
	_, file := tr.screenshot(tr.page)
	tr.check(os.WriteFile(filepath.Join(dir, name+".png"), file, 0o644))
}

// screenshot returns what a tab shows. It fails the test if that is nearly empty.
func (tr *tour) screenshot(b *tab) (picture *image.RGBA, file []byte) {
	tr.t.Helper()
	file, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
	tr.check(err)
	decoded, err := png.Decode(bytes.NewReader(file))
	tr.check(err)
	picture = opaque(decoded)
	colours := map[color.RGBA]bool{}
	for i := 0; i < len(picture.Pix); i += 4 {
		colours[color.RGBA{picture.Pix[i], picture.Pix[i+1], picture.Pix[i+2], 255}] = true
	}
	if len(colours) < 40 { // the letters alone have as many
		tr.t.Fatalf("frame %d shows next to nothing: %d colours", len(tr.frames), len(colours))
	}
	return picture, file
}

// show takes a frame of the stage.
func (tr *tour) show(wait time.Duration, data stageData) {
	tr.t.Helper()
	page, err := template.ParseFiles("testdata/stage.html")
	tr.check(err)
	var text bytes.Buffer
	tr.check(page.Execute(&text, data))
	tr.stage.Size(tourWidth, tourHeight)
	tr.stage.Visit("data:text/html;base64," + base64.StdEncoding.EncodeToString(text.Bytes()))
	browsertest.Eval[any](tr.stage.Tab, `Promise.all([...document.images].map((x) => x.decode())).then(() => null)`)
	picture, _ := tr.screenshot(tr.stage)
	tr.frames = append(tr.frames, frame{picture, wait})
}

// look takes a frame of the host's screen.
func (tr *tour) look(wait time.Duration, number int, caption string) {
	tr.t.Helper()
	_, file := tr.screenshot(tr.page)
	tr.show(wait, stageData{
		Number: number, Caption: caption,
		Picture: template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(file)),
	})
}

// window zooms the host's screens so that a picture of the tour's width, and of a height,
// shows so many of their pixels.
func (tr *tour) window(width, height int64) {
	tr.t.Helper()
	browsertest.Call(tr.page.Tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: width * height / tourWidth, DeviceScaleFactor: float64(tourWidth) / float64(width),
	})
}

// terminal shows the two commands with what they printed.
func (tr *tour) terminal() {
	const caption = "Two commands: your database becomes a service"
	lines := []line{{Typed: true, Text: propose}}
	tr.show(time.Second, stageData{Number: 1, Caption: caption, Lines: lines})
	lines = append(lines, line{Text: "…"})
	for _, text := range entitySet(tr.t, tr.proposed, "Orders") {
		lines = append(lines, line{Text: text})
	}
	lines = append(lines[:min(len(lines), 12)], line{Text: "…"})
	tr.show(2500*time.Millisecond, stageData{Number: 1, Caption: caption, Lines: lines})
	lines = append(lines, line{Typed: true, Text: "vestibule serve"}, line{Text: tr.ready})
	tr.show(2*time.Second, stageData{Number: 1, Caption: caption, Lines: lines})
}

// explorer shows the orders, those of a customer, and the sums of all customers.
func (tr *tour) explorer() {
	const caption = "Tables with names where the database has keys"
	b := tr.page
	tr.window(1120, sceneHeight)
	b.Visit("about:blank")
	b.Visit(tr.base + orders)
	b.Wait(`document.querySelectorAll('tbody tr').length === 50 && document.querySelector('tbody').innerText.includes('Alfreds Futterkiste')`)
	tr.look(3*time.Second, 2, caption)
	b.Fill(`input[aria-label="Filter by Customer"]`, "horn")
	b.Wait(`location.hash.includes('CustomerID.has=horn') && !document.querySelector('.table[aria-busy]') && [...document.querySelectorAll('tbody tr')].every((r) => r.innerText.includes('Around the Horn'))`)
	tr.look(2500*time.Millisecond, 2, caption)
}

// refresh shows a sheet of what the feed answers to a token, before and after a row changes.
func (tr *tour) refresh() {
	const caption = "A spreadsheet refreshes from the same table, with a token"
	before := tr.feed()
	tr.show(2*time.Second, stageData{Number: 3, Caption: caption, Sheet: newSheet(tr.base+products, before, before, "")})
	price := map[string]string{"light": "21.5", "dark": "18"}[tr.scheme] // there and back
	change := "UPDATE Products SET UnitPrice = " + price + " WHERE ProductName = 'Chai'"
	below := "In the database: " + change
	tr.northwind.change(change)
	tr.show(2*time.Second, stageData{Number: 3, Caption: caption, Sheet: newSheet(tr.base+products, before, before, below)})
	after := tr.feed()
	if slices.EqualFunc(before, after, slices.Equal) {
		tr.t.Fatal("the feed does not show the change")
	}
	tr.show(2500*time.Millisecond, stageData{Number: 3, Caption: caption, Sheet: newSheet(tr.base+products, before, after, below+"\nRefreshed: the same address, asked again")})
}

// passkey shows the sign-in, and the page after a passkey instead of a password.
func (tr *tour) passkey() {
	const caption = "Sign in with a passkey"
	b := tr.page
	tr.signOut()
	tr.window(1320, sceneHeight)
	b.Visit("about:blank")
	b.Visit(tr.base + orders)
	b.Ready("#passkey")
	b.Wait(`document.activeElement?.id === 'login'`)
	browsertest.Eval[any](b.Tab, `document.querySelector('#passkey').scrollIntoView({ block: 'end' })`)
	tr.look(2500*time.Millisecond, 4, caption)
	b.Click("#passkey")
	tr.present(true)
	b.Wait(`location.pathname === '/odata/' && document.querySelectorAll('tbody tr').length === 50`)
	tr.window(1120, sceneHeight)
	tr.look(2*time.Second, 4, caption+": signed in, and back at the table")
}

// signIn signs in by password, and makes the passkey the first time.
func (tr *tour) signIn() {
	tr.t.Helper()
	b := tr.page
	b.Visit(tr.base + "/login?account")
	b.signIn(password)
	b.Wait(`document.querySelector('#passkeys-add') !== null`)
	tr.present(true)
	if !strings.Contains(b.Text("main"), "You have no passkey yet.") {
		return
	}
	b.Click("#passkeys-add")
	b.See("Your passkey is created.")
}

// signOut forgets the session, if there is one.
func (tr *tour) signOut() {
	tr.t.Helper()
	browsertest.Call(tr.page.Tab, network.ClearBrowserCookies, cdp.Empty{})
	tr.present(false) // autofill would sign in by the passkey
	tr.page.Visit("about:blank")
}

// present decides whether the authenticator answers at once.
func (tr *tour) present(on bool) {
	tr.t.Helper()
	browsertest.Call(tr.page.Tab, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: tr.key, Enabled: on})
}
