#!/usr/bin/env python3
"""A dispenser that holds people at a page until they have followed the link in a mail."""

import base64
import datetime
import hashlib
import hmac
import os
import struct
import sys
import time
import urllib.parse

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pluginsdk", "python"))
import vestibule

MAIL = "verify-email"  # the templates in mail.templates
settings = {}


def token_of(user, end):
    """The end of a link and its signature, which holds for this address alone."""
    until = struct.pack(">Q", end)
    signed = hmac.new(settings["secret"].encode(), until + f"{user.id}\0{user.email}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(until + signed).decode().rstrip("=")


def is_valid(user, token):
    try:
        (end,) = struct.unpack(">Q", base64.urlsafe_b64decode(token + "==")[:8])
    except (struct.error, ValueError):
        return False
    return end > time.time() and hmac.compare_digest(token.encode(), token_of(user, end).encode())


def dispense(user, request):
    """Lets those pass whose address is verified. The others get a mail once for each
    session, and once more when the page asks for it."""
    if user.column(settings["column"]) is not None:
        return vestibule.done()
    hold, done = vestibule.redirect(settings["page"]).hold(), vestibule.done()
    token = request.form.get("token")  # by the page
    posted = token is not None
    link = urllib.parse.urlsplit(request.intended)
    if link.path == settings["page"]:
        hold, done = hold.with_(vestibule.consume_intended()), done.with_(vestibule.consume_intended())
        token = token or urllib.parse.parse_qs(link.query).get("token", [""])[0]  # by who opened the link and signed in then
    if is_valid(user, str(token or "")):
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        return done.with_(vestibule.set_user(settings["column"], now, replacing=None))
    if posted:
        german = request.locale.startswith("de")
        return hold.failed("Dieser Link gilt nicht mehr." if german else "This link is not valid any more.")
    if request.session.get("sent") and not request.form.get("again"):
        return hold
    token = token_of(user, int(time.time()) + settings["hours"] * 3600)
    link = vestibule.mail(MAIL, {"link": f"{settings['page']}?token={token}"})
    return hold.with_(vestibule.set_session("sent", True), link)


def configure(config, setup):
    settings.update(config)
    if len(config["secret"]) < 32:
        raise vestibule.BadConfig("secret", "it must have 32 characters or more: try openssl rand -base64 32")
    if not all("*" in grants or config["column"] in grants for grants in (setup.user_read, setup.user_write)):
        raise vestibule.BadConfig("column", f'add "{config["column"]}" to user_read and user_write')
    if not {MAIL, "*"} & set(setup.mails):
        raise vestibule.BadConfig("", f'add "{MAIL}" to mails of the plugin')


if __name__ == "__main__":
    vestibule.serve(
        name="verify-email", version="1.0.0", dispense=dispense, configure=configure,
        config={
            "secret": {"type": "string", "required": True, "doc": "The key that signs links, such as 32 random bytes as base64."},
            "page": {"type": "string", "default": "/verify-email", "doc": "Where people wait."},
            "column": {"type": "string", "default": "email_verified_at", "doc": "The user column that says when the address was verified."},
            "hours": {"type": "int", "default": 24, "doc": "How long a link works."},
        },
    )
