package uitest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// A frame is a picture, and for how long a moving picture shows it.
type frame struct {
	picture *image.RGBA
	wait    time.Duration
}

// animated returns frames of one size as an animated PNG that repeats for ever. Each frame
// after the first holds only the rectangle that differs from the one before it.
func animated(frames []frame) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("\x89PNG\r\n\x1a\n")
	size := frames[0].picture.Bounds()
	var head []byte
	var sequence uint32
	for i, f := range frames {
		part := size
		if i > 0 {
			if f.picture.Bounds() != size {
				return nil, fmt.Errorf("frame %d is %v, want %v", i, f.picture.Bounds(), size)
			}
			if part = difference(frames[i-1].picture, f.picture); part.Empty() {
				return nil, fmt.Errorf("frame %d shows what the frame before shows", i)
			}
		}
		own, data, err := compressed(f.picture.SubImage(part))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			head = own
			chunk(&out, "IHDR", head)
			chunk(&out, "acTL", words(uint32(len(frames)), 0))
		}
		if !bytes.Equal(own[8:], head[8:]) {
			return nil, fmt.Errorf("frame %d has other colours than the first", i)
		}
		control := words(sequence, uint32(part.Dx()), uint32(part.Dy()), uint32(part.Min.X-size.Min.X), uint32(part.Min.Y-size.Min.Y))
		control = binary.BigEndian.AppendUint16(control, uint16(f.wait.Milliseconds()))
		control = binary.BigEndian.AppendUint16(control, 1000)
		chunk(&out, "fcTL", append(control, 0, 0)) // keep the frame, and put the next one over it
		sequence++
		if i == 0 {
			chunk(&out, "IDAT", data)
			continue
		}
		chunk(&out, "fdAT", append(words(sequence), data...))
		sequence++
	}
	chunk(&out, "IEND", nil)
	return out.Bytes(), nil
}

// compressed returns the header and the data of a picture as PNG.
func compressed(picture image.Image) (head, data []byte, err error) {
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, picture); err != nil {
		return nil, nil, err
	}
	for rest := file.Bytes()[8:]; len(rest) >= 12; {
		end := 8 + int(binary.BigEndian.Uint32(rest))
		switch string(rest[4:8]) {
		case "IHDR":
			head = rest[8:end]
		case "IDAT":
			data = append(data, rest[8:end]...)
		}
		rest = rest[end+4:]
	}
	if head == nil || data == nil {
		return nil, nil, errors.New("the picture has no data")
	}
	return head, data, nil
}

func words(all ...uint32) []byte {
	var out []byte
	for _, n := range all {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	return out
}

func chunk(out *bytes.Buffer, kind string, data []byte) {
	body := append([]byte(kind), data...)
	out.Write(words(uint32(len(data))))
	out.Write(body)
	out.Write(words(crc32.ChecksumIEEE(body)))
}

// difference returns the smallest rectangle that holds all pixels in which two pictures differ.
func difference(a, b *image.RGBA) image.Rectangle {
	var all image.Rectangle
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y++ {
		for x := a.Rect.Min.X; x < a.Rect.Max.X; x++ {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				all = all.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return all
}

// opaque returns a picture in the form that [animated] takes.
func opaque(picture image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, picture.Bounds().Dx(), picture.Bounds().Dy()))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, picture, picture.Bounds().Min, draw.Over)
	return out
}

// shows fails the test unless the browser decodes a file to these frames, pixel by pixel.
// The page of the tab must be one of a secure context.
func (b *tab) shows(file []byte, frames []frame) {
	b.T.Helper()
	var want []string
	for _, f := range frames {
		sum := sha256.Sum256(f.picture.Pix)
		want = append(want, fmt.Sprintf("%s %d", hex.EncodeToString(sum[:]), f.wait.Milliseconds()))
	}
	got := browsertest.Eval[[]string](b.Tab, fmt.Sprintf(`(async () => {
		const data = Uint8Array.from(atob('%s'), (c) => c.charCodeAt(0));
		const decoder = new ImageDecoder({ data, type: 'image/png' });
		await Promise.all([decoder.completed, decoder.tracks.ready]);
		const all = [];
		for (let i = 0; i < decoder.tracks.selectedTrack.frameCount; i++) {
			const { image } = await decoder.decode({ frameIndex: i });
			const pixels = new Uint8Array(image.allocationSize({ format: 'RGBA' }));
			await image.copyTo(pixels, { format: 'RGBA' });
			const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', pixels));
			all.push([...sum].map((n) => n.toString(16).padStart(2, '0')).join('') + ' ' + image.duration / 1000);
			image.close();
		}
		return all;
	})()`, base64.StdEncoding.EncodeToString(file)))
	if d := cmp.Diff(want, got); d != "" {
		b.T.Errorf("the browser decodes other frames (-want +got):\n%s", d)
	}
}

// The browser decodes the frames that were put in. They differ in one pixel, in a
// rectangle and in all.
func TestAnimated(t *testing.T) {
	base := newHost(t).URL
	b := open(t)
	b.Visit(base + "/")
	first := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range 40 * 30 {
		first.Set(i%40, i/40, color.RGBA{R: uint8(i), G: uint8(i / 7), B: 200, A: 255})
	}
	next := func(from *image.RGBA, part image.Rectangle, c color.Color) *image.RGBA {
		out := opaque(from)
		draw.Draw(out, part, image.NewUniform(c), image.Point{}, draw.Src)
		return out
	}
	second := next(first, image.Rect(39, 29, 40, 30), color.White)
	third := next(second, image.Rect(3, 5, 20, 9), color.Black)
	frames := []frame{{first, time.Second}, {second, 40 * time.Millisecond}, {third, 2 * time.Second}, {next(third, third.Rect, color.White), time.Second}}
	file, err := animated(frames)
	if err != nil {
		t.Fatal(err)
	}
	b.shows(file, frames)
	still, err := png.Decode(bytes.NewReader(file))
	if err != nil || !difference(first, opaque(still)).Empty() {
		t.Errorf("programs that know only PNG do not see the first frame: %v", err)
	}
	if _, err := animated(append(frames, frames[3])); err == nil {
		t.Error("a frame that changes nothing is taken")
	}
}
