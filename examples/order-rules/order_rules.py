"""Three rules for the data of a shop, the same as in main.go: a price is not below the cost, an order over a limit
is confirmed by somebody else than who made it, and a status has allowed successors."""

import decimal
import os
import sys
import unicodedata

sys.path.append(os.path.join(os.path.dirname(__file__), "../../pluginsdk/python"))
import vestibule

settings = {}
NEXT = {"open": ["confirmed", "cancelled"], "confirmed": ["shipped", "cancelled"], "shipped": [], "cancelled": []}


def configure(config, setup):
    if config["limit"] < 0:
        raise vestibule.BadConfig("limit", "an amount is not negative")
    settings.update(limit=decimal.Decimal(str(config["limit"])), next=config["next"] or NEXT)


def say(user, english, german):
    """A message in the language of the person."""
    return german if user.locale.startswith("de") else english


def short(text):
    """A text of a client that stays one short line."""
    return "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in str(text))[:40]


def is_number(value):
    return isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool)


def product(verdict, i, change, user):
    new = change.new or {}
    price, cost = new.get("price"), new.get("cost")
    if is_number(price) and is_number(cost) and price < cost:
        return verdict.refuse(i, "price", say(user, f"The price is below the cost, which is {cost:.2f}.", f"Der Preis liegt unter den Kosten von {cost:.2f}."))
    return verdict


def order(verdict, i, change, user):
    old, new = change.old or {}, change.new or {}
    before, after = old.get("status"), new.get("status")
    if change.kind == "create":
        return verdict.amend(i, "status", "open")  # whatever the client wrote
    if change.kind == "delete":
        if before != "open":
            return verdict.refuse(i, "", say(user, "Only an open order can be deleted.", "Nur offene Bestellungen können gelöscht werden."))
        return verdict
    amount = new.get("amount")
    if before != "open" and old.get("amount") != amount:
        verdict = verdict.refuse(i, "amount", say(
            user, f"The amount of an order that is {before} does not change.", f"Der Betrag einer Bestellung im Status {before} ändert sich nicht."))
    if before != after and after not in settings["next"].get(before, []):
        verdict = verdict.refuse(i, "status", say(
            user, f"An order that is {before} cannot become {short(after)}.", f"Auf den Status {before} folgt nicht {short(after)}."))
    limit = settings["limit"]
    large = is_number(amount) and amount > limit
    if before == "open" and after == "confirmed" and large and str(old.get("created_by")) == user.id:
        verdict = verdict.refuse(i, "status", say(
            user, f"An order of more than {limit:.2f} needs a second person, and you made it.", f"Eine Bestellung über {limit:.2f} bestätigt jemand anderes als Sie."))
    return verdict


RULES = {"Products": product, "Orders": order}


def validate(changes, user):
    """Judges the changes of products and orders, and accepts those of other sets."""
    verdict = vestibule.accept()
    for i, change in enumerate(changes):
        rule = RULES.get(change.set)
        verdict = rule(verdict, i, change, user) if rule else verdict
    return verdict


vestibule.serve(
    name="order-rules", version="1.0.0", description="Judges changes of products and orders.", validate=validate, configure=configure,
    config={
        "limit": {"type": "float", "default": 1000, "doc": "Orders of a greater amount are confirmed by a second person."},
        "next": {"type": "map", "doc": "The successors of each status. By default open, confirmed, shipped; cancelled before it is shipped."},
    },
)
