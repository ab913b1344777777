package engine

import "errors"

// ErrEncoding says that the texts of a SQLite file are UTF-16. They would have to be converted cell by cell, and nothing
// changes the encoding of a file, VACUUM INTO included.
var ErrEncoding = errors.New("the texts of the SQLite file are UTF-16, and queries read UTF-8 alone: " + EncodingRemedy)

// EncodingRemedy is what to do about ErrEncoding.
const EncodingRemedy = "stop all programs that use it, make a copy by sqlite3 app.db .dump | sqlite3 copy.db, and put that in its place without -wal and -shm"

// checkEncoding is ErrEncoding for a file of another encoding than UTF-8.
func (c *conn) checkEncoding() error {
	encoding, err := c.pragma("encoding")
	if err == nil && encoding != "UTF-8" {
		return ErrEncoding
	}
	return err
}
