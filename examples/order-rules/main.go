// A plugin with three rules for the data of a shop: a price is not below the cost, an order over a limit
// is confirmed by somebody else than who made it, and a status has allowed successors.
package main

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

type rules struct {
	config struct {
		Limit float64             `config:"limit" default:"1000" doc:"Orders of a greater amount are confirmed by a second person."`
		Next  map[string][]string `config:"next" doc:"The successors of each status. By default open, confirmed, shipped; cancelled before it is shipped."`
	}
}

// The statuses that the rules name.
const (
	open      = "open"
	confirmed = "confirmed"
)

func (r *rules) configure(context.Context, pluginsdk.Setup) error {
	if r.config.Next == nil {
		r.config.Next = map[string][]string{open: {confirmed, "cancelled"}, confirmed: {"shipped", "cancelled"}, "shipped": nil, "cancelled": nil}
	}
	if r.config.Limit < 0 {
		return pluginsdk.BadConfig("limit", "an amount is not negative")
	}
	return nil
}

// Validate judges the changes of products and orders, and accepts those of other sets.
func (r *rules) Validate(_ context.Context, user pluginsdk.User, changes []pluginsdk.Change) (pluginsdk.Verdict, error) {
	v := pluginsdk.Accept()
	for i, c := range changes {
		switch c.Set {
		case "Products":
			v = product(v, i, c, user.Locale)
		case "Orders":
			v = r.order(v, i, c, user)
		}
	}
	return v, nil
}

// product refuses a price below the cost.
func product(v pluginsdk.Verdict, i int, c pluginsdk.Change, locale string) pluginsdk.Verdict {
	price, priced := c.New.Rat("price")
	cost, known := c.New.Rat("cost")
	if priced && known && price.Cmp(cost) < 0 {
		return v.Refuse(i, "price", say(locale, "The price is below the cost, which is %s.", "Der Preis liegt unter den Kosten von %s.", cost.FloatString(2)))
	}
	return v
}

// order holds the rules of an order.
func (r *rules) order(v pluginsdk.Verdict, i int, c pluginsdk.Change, user pluginsdk.User) pluginsdk.Verdict {
	before, _ := c.Old.Text("status")
	after, _ := c.New.Text("status")
	switch {
	case c.Kind == "create":
		return v.Amend(i, "status", open) // whatever the client wrote
	case c.Kind == "delete" && before != open:
		return v.Refuse(i, "", say(user.Locale, "Only an open order can be deleted.", "Nur offene Bestellungen können gelöscht werden."))
	case c.Kind == "delete":
		return v
	}
	amount, _ := c.New.Rat("amount")
	if was, _ := c.Old.Rat("amount"); before != open && !same(was, amount) {
		v = v.Refuse(i, "amount", say(user.Locale, "The amount of an order that is %s does not change.", "Der Betrag einer Bestellung im Status %s ändert sich nicht.", before))
	}
	if before != after && !slices.Contains(r.config.Next[before], after) {
		v = v.Refuse(i, "status", say(user.Locale, "An order that is %s cannot become %s.", "Auf den Status %s folgt nicht %s.", before, short(after)))
	}
	large := amount != nil && amount.Cmp(new(big.Rat).SetFloat64(r.config.Limit)) > 0
	if before == open && after == confirmed && large && fmt.Sprint(c.Old.Raw("created_by")) == user.ID {
		v = v.Refuse(i, "status", say(user.Locale, "An order of more than %.2f needs a second person, and you made it.", "Eine Bestellung über %.2f bestätigt jemand anderes als Sie.", r.config.Limit))
	}
	return v
}

// same reports whether two amounts are equal; nil is that of no number.
func same(a, b *big.Rat) bool { return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0 }

// short cuts a text of a client, so that a message stays one short line.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == '\u007f' || r > '\u007e' && r < '\u00a0' || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return string([]rune(text)[:min(40, len([]rune(text)))])
}

// say returns a message in the language of the person.
func say(locale, english, german string, args ...any) string {
	if strings.HasPrefix(locale, "de") {
		return fmt.Sprintf(german, args...)
	}
	return fmt.Sprintf(english, args...)
}

func newPlugin() pluginsdk.Plugin {
	r := &rules{}
	return pluginsdk.Plugin{
		Name: "order-rules", Version: "1.0.0", Description: "Judges changes of products and orders.",
		Validator: r, Config: &r.config, Configure: r.configure,
	}
}

func main() { pluginsdk.Serve(newPlugin()) }
