package host

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
)

// fileSource is a source whose rows are in a file that others may put another one in the place of.
type fileSource interface {
	// Ready is why the file cannot be read, nil when it can.
	Ready(ctx context.Context) error
	// FileChanges counts the files that were renamed over the first one, and those seen to be copied over it.
	FileChanges() (exchanged, copied int64)
}

// fileWatch looks at the file of a source, and logs and counts what became of it.
type fileWatch struct {
	source            fileSource
	log               hclog.Logger
	count             func(change string)
	exchanged, copied int64
}

// look is for one goroutine at a time.
func (w *fileWatch) look(ctx context.Context) error {
	err := w.source.Ready(ctx)
	exchanged, copied := w.source.FileChanges()
	for ; w.exchanged < exchanged; w.exchanged++ {
		w.log.Warn("another file was renamed over the database of odata; it is read from now on")
		w.count("exchanged")
	}
	for ; w.copied < copied; w.copied++ {
		w.log.Error("another file was copied over the database of odata; queries are refused", "cause", err)
		w.count("copied")
	}
	return err
}

// ready is what the probe of the database looks for: that of the store, and that of queries.
func (o Options) ready(count func(change string)) func(context.Context) error {
	look := (&storeWatch{Store: o.Store, Log: o.Logger.Named("database"), Now: o.Now}).look
	if o.OData == nil {
		return look
	}
	source, ok := o.OData.Source.(fileSource)
	if !ok {
		return look
	}
	w := &fileWatch{source: source, log: o.Logger.Named("odata"), count: count}
	return func(ctx context.Context) error { return errors.Join(w.look(ctx), look(ctx)) }
}
