"""All that the author of a Vestibule plugin in Python needs, in one file.

    import vestibule

    def dispense(user, request):
        if user.column("partner_id") is None:
            return vestibule.org_setup(user.name)
        return vestibule.done()

    vestibule.serve(name="hello", dispense=dispense)

It needs Python 3.9 and the package grpcio (python3-grpcio in Debian), nothing
else: the few messages of the protocol are encoded here, by the table MESSAGES,
which says what pluginsdk/proto says. docs/plugins-reference.md explains the protocol.

A dispenser returns redirect(target), org_setup(person_name) or done(); a handler
returns satisfied(), needs_more_input(payload) or failed(message, ...). Either can
ask for changes by .with_(effect, ...), where an effect is set_user(column, value),
set_session(name, value), consume_intended() or mail(name, texts). Values are None, bool,
int (64 bits), float, str or bytes; a datetime is sent as text of RFC 3339 in UTC, one
without a time zone counting as local time, and a date as text such as 2026-01-31. An
exception means that no decision was made.

A listener, notify(event), learns what has happened, at least once and in order for
each user: event has id, kind, user and at. It may return a list of effects of set_user
and mail. After an exception the host calls it again later. Ignore kinds that you do not
know.

An identity provider signs people in by an account elsewhere. begin(request) returns
authorization(url, private), the address to which the browser is sent. finish(request)
reads the parameters with which the browser is sent back, and returns identified(subject,
...), with effects of set_user, or refused(reason). Verify all that the provider says,
because the host parses nothing of it. An exception signs nobody in.

A validator judges changes of data before they are made. validate(changes, user) gets all
changes of a request and returns accept(), refuse(change, property, message) or
amend(change, property, value), where change is an index; both have methods of the same
names that add to the answer, and a refusal wins. A change has set, kind ("create", "update"
or "delete"), key, old (None for a create) and new (None for a delete). Numbers with a
fraction are decimal.Decimal. Write messages in the language of user.locale. An exception
means that there is no verdict, and nothing is written.

Log with the standard package logging: lines reach the host's log, joined to the
request. print() does too.
"""

import base64
import collections
import concurrent.futures
import contextvars
import dataclasses
import datetime
import decimal
import difflib
import functools
import hashlib
import json
import logging
import math
import os
import re
import secrets
import signal
import struct
import sys
import tempfile
import threading
import traceback
import unicodedata

VERSION = "2.0.0"
PROTOCOL = 1
COOKIE = ("VESTIBULE_PLUGIN", "vestibule.plugin.v1")


# What authors see of a call, and what they answer.


@dataclasses.dataclass
class User:
    """The person who signs in, as far as user_read grants."""

    id: str = ""
    name: str = ""
    email: str = ""
    columns: dict = dataclasses.field(default_factory=dict)
    locale: str = ""  # for a validator: the language in which the person reads its messages

    def column(self, name):
        """A granted column, None when it is null or not granted."""
        return self.columns.get(name)


@dataclasses.dataclass
class Request:
    """The request that the decision is about.

    form is what a handler judges, or what the page of a held step has posted; held is
    the target that holds the person. asked is set where somebody who is signed in and done
    has asked for the step. signed_in_at is in seconds since 1970.
    """

    id: str = ""
    intent_id: str = ""
    method: str = ""
    path: str = ""
    query: str = ""
    headers: dict = dataclasses.field(default_factory=dict)
    remote_addr: str = ""
    locale: str = ""
    intended: str = ""
    routes: dict = dataclasses.field(default_factory=dict)
    session: dict = dataclasses.field(default_factory=dict)
    session_id: str = ""
    signed_in_at: int = 0
    signed_in_by: str = ""
    held: str = ""
    recovery_only: bool = False
    asked: bool = False
    form: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Event:
    """What has happened, for listeners. id is the same for every listener and every try."""

    id: str = ""
    kind: str = ""
    user: User = dataclasses.field(default_factory=User)
    at: datetime.datetime = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)


@dataclasses.dataclass
class BeginRequest:
    """A sign-in that begins, for identity providers.

    The provider must send the browser back to callback with state. fresh asks for a proof
    made now; auth_time of identified(...) must say when it was made.
    """

    id: str = ""
    callback: str = ""
    state: str = ""
    locale: str = ""
    login_hint: str = ""
    fresh: bool = False


@dataclasses.dataclass
class FinishRequest:
    """The return of the browser: the parameters of its query, and the private bytes of begin."""

    id: str = ""
    callback: str = ""
    parameters: dict = dataclasses.field(default_factory=dict)
    private: bytes = b""
    locale: str = ""
    fresh: bool = False


@dataclasses.dataclass
class Change:
    """One change of an entity that somebody wants to make, for validators.

    key is as in the address of the entity, such as 5 or order=1,line=2; keys of this request
    that are not known yet are $1, $2 and so on. old is the entity as it is, None for a
    create; new is the entity as it would be, None for a delete. In new, a property that the
    database will fill is None.
    """

    set: str = ""
    kind: str = ""
    key: str = ""
    old: "dict | None" = None
    new: "dict | None" = None


@dataclasses.dataclass
class Setup:
    """What config.hcl says about the plugin."""

    name: str = ""
    roles: list = dataclasses.field(default_factory=list)
    user_read: list = dataclasses.field(default_factory=list)
    user_write: list = dataclasses.field(default_factory=list)
    headers: list = dataclasses.field(default_factory=list)
    mails: list = dataclasses.field(default_factory=list)
    public_url: str = ""


@dataclasses.dataclass(frozen=True)
class _Answer:
    message: str
    fields: dict
    effects: tuple = ()

    def with_(self, *effects):
        """A copy that asks for further effects."""
        return dataclasses.replace(self, effects=self.effects + effects)


class _Intent(_Answer):
    def _change(self, **fields):
        return dataclasses.replace(self, fields={"intent": {**self.fields["intent"], **fields}})

    def as_recovery(self):
        """A copy that answers a recovery form, whether it was right or wrong.

        Only a form that was judged by nothing but what cannot be guessed is one: the page
        must not be able to choose.
        """
        return self._change(recovery=True)


class _Redirect(_Intent):

    def hold(self, *prefixes):
        """A copy that does not end the loop.

        Until dispense, asked again, answers otherwise, the person may see only what
        lies at or below the target's path and the prefixes. request.held is the target
        then, and request.form what its page has posted.
        """
        return self._change(kind="hold", prefixes=list(prefixes))

    def needs_more_input(self, payload):
        """A copy that tells the page of the held step why; see needs_more_input(payload)."""
        return self._change(next_step=needs_more_input(payload).fields["next_step"])

    def failed(self, *messages):
        """A copy that refuses what the page of the held step has posted; without a message it says "invalid"."""
        return self._change(errors=list(messages) or ["invalid"])

    def offer_recovery(self):
        """A copy whose page also has a form for those who have lost what it asks for.

        Recovery codes are one. Its refusals are counted apart, ten a day, and it is asked
        about when there are no guesses left for others: request.recovery_only is true
        then. Mark each answer to it with as_recovery().
        """
        return self._change(offers_recovery=True)


def redirect(target):
    """The person is done and goes to target; redirect(target).hold() keeps the loop open."""
    return _Redirect("DispenseResponse", {"intent": {"kind": "redirect", "target": target}})


def org_setup(person_name):
    """The details of the organisation come first."""
    return _Intent("DispenseResponse", {"intent": {"kind": "org_setup", "person_name": person_name}})


def done():
    """What the host's built-in dispenser would answer."""
    return _Intent("DispenseResponse", {"intent": {"kind": "done"}})


def satisfied():
    """The step is complete."""
    return _Answer("HandleResponse", {"status": "satisfied"})


def needs_more_input(payload):
    """The person stays; payload is {"fields": {"<field>": ["<code or text>"]}, "message": "…"}."""
    return _Answer("HandleResponse", {"status": "needs_more_input", "next_step": _json(payload)})


def failed(*messages):
    """The person stays and reads the messages above the form."""
    return _Answer("HandleResponse", {"status": "error", "errors": list(messages)})


def authorization(url, private=b""):
    """The browser goes to url, the provider's address with request.state in it: https, or http on loopback.

    finish gets private back as bytes, at most 2 KiB, such as a nonce and a PKCE verifier.
    """
    return _Answer("BeginResponse", {"url": url, "private": private.encode() if isinstance(private, str) else bytes(private)})


def identified(subject, email="", email_verified=False, name="", auth_time=0):
    """The person is known at the provider by subject, a text that never names another person.

    email_verified is True only if the provider itself has verified the address. auth_time is
    when they last proved who they are: a datetime, or seconds since 1970.
    """
    at = int(auth_time.timestamp()) if isinstance(auth_time, datetime.datetime) else auth_time
    return _Answer("FinishResponse", {"identity": {
        "subject": subject, "email": email or "", "email_verified": email_verified, "name": name or "", "auth_time": at or 0,
    }})


def refused(reason=""):
    """The person is refused; reason is a line for them in request.locale, at most 256 bytes."""
    return _Answer("FinishResponse", {"refused": reason})


class _Verdict(_Answer):
    def refuse(self, change, property, message):
        """A copy that refuses: message is one line of at most 1024 bytes.

        property is "price" or "address/city", or "" for the entity as a whole.
        """
        one = {"change": change, "property": property, "message": message}  # the first 1000 count
        return dataclasses.replace(self, fields={**self.fields, "refusals": (self.fields["refusals"] + (one,))[:1000]})

    def amend(self, change, property, value):
        """A copy that gives a property of a created or updated entity another value.

        Values are None, bool, int, float, decimal.Decimal, str, date or datetime.
        """
        one = {"change": change, "property": property, "value": value}
        return dataclasses.replace(self, fields={**self.fields, "amendments": self.fields["amendments"] + (one,)})


def accept():
    """All changes may be made as they are."""
    return _Verdict("ValidateResponse", {"refusals": (), "amendments": ()})


def refuse(change, property, message):
    """None of the changes may be made, because of one of them: its index, a property and a message for the person."""
    return accept().refuse(change, property, message)


def amend(change, property, value):
    """The changes may be made with another value of a property."""
    return accept().amend(change, property, value)


_ANY = object()


def _text_of(value):
    """Times as text of RFC 3339, and everything else as it is."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, datetime.date) else value


def _json(payload):
    """A payload as JSON, with times as values have them."""

    def unknown(value):
        text = _text_of(value)
        if text is value:
            raise TypeError(f"a value of type {type(value).__name__} is not JSON")
        return text

    return json.dumps(payload, ensure_ascii=False, allow_nan=False, default=unknown).encode()


def set_user(column, value, replacing=_ANY):
    """Sets a column that user_write grants.

    With replacing=old it counts only while the column holds old: otherwise nothing of
    the answer is applied, and dispense is asked again with fresh columns.
    """
    if replacing is not _ANY:
        return {"replace_user": {"name": column, "old": _text_of(replacing), "value": _text_of(value)}}
    return {"set_user": {"name": column, "value": _text_of(value)}}


def set_session(name, value):
    """Sets a session value of the plugin's own, of 16 KiB at most, 32 KiB together; None removes it."""
    return {"set_session": {"name": name, "value": _text_of(value)}}


def mail(name, texts=None):
    """Sends the user the mail NAME.txt and NAME.html of mail.templates, which mails grants.

    The templates show the texts as {{.Text "link"}}: up to 16, of one line and 1 KiB. A text
    that begins with one slash is a path of the host's site and becomes an absolute address.
    """
    return {"send_mail": {"name": name, "texts": dict(texts or {})}}


def consume_intended():
    """Forgets the page that the person had asked for."""
    return {"consume_intended": {}}


class BadConfig(Exception):
    """A mistake in the config block, reported at its place in config.hcl.

    The path is names joined by dots, list elements by index: rules[1].target.
    """

    def __init__(self, path, message):
        super().__init__(f"config.{path}: {message}".replace("config.:", "config:"))
        self.problems = [{"path": path, "message": message}]


# The messages of pluginsdk/proto: by field number the name and the type, where *
# stands before what is repeated and % before the values of a map by text.

MESSAGES = {
    "Empty": {},
    "HealthResponse": {1: ("status", "int64")},
    "DescribeRequest": {1: ("host_version", "string")},
    "DescribeResponse": {
        1: ("name", "string"), 2: ("version", "string"), 3: ("roles", "*string"),
        4: ("sdk", "string"), 5: ("config", "*ConfigKey"), 6: ("description", "string"), 7: ("title", "string"),
        8: ("offers_step", "bool"),
    },
    "ConfigKey": {
        1: ("path", "string"), 2: ("type", "string"), 3: ("required", "bool"),
        4: ("default", "string"), 5: ("description", "string"),
    },
    "ConfigureRequest": {
        1: ("config", "bytes"), 2: ("name", "string"), 3: ("roles", "*string"),
        4: ("user_read", "*string"), 5: ("user_write", "*string"), 6: ("headers", "*string"),
        7: ("public_url", "string"), 8: ("mails", "*string"),
    },
    "ConfigureResponse": {1: ("problems", "*Problem")},
    "Problem": {1: ("path", "string"), 2: ("message", "string")},
    "User": {
        1: ("id", "string"), 2: ("name", "string"), 3: ("email", "string"), 4: ("columns", "%Value"), 5: ("locale", "string"),
    },
    "Request": {
        1: ("id", "string"), 2: ("intent_id", "string"), 3: ("method", "string"), 4: ("path", "string"),
        5: ("query", "string"), 6: ("headers", "%string"), 7: ("remote_addr", "string"), 8: ("locale", "string"),
        9: ("intended", "string"), 10: ("routes", "%string"), 11: ("session", "%Value"),
        12: ("session_id", "string"), 13: ("signed_in_at", "int64"), 14: ("signed_in_by", "string"), 15: ("held", "string"),
        16: ("recovery_only", "bool"), 17: ("asked", "bool"),
    },
    "DispenseRequest": {1: ("user", "User"), 2: ("request", "Request"), 3: ("form", "%Value")},
    "DispenseResponse": {1: ("intent", "Intent"), 2: ("effects", "*Effect")},
    "Intent": {
        1: ("kind", "string"), 2: ("target", "string"), 3: ("person_name", "string"),
        4: ("prefixes", "*string"), 5: ("next_step", "bytes"), 6: ("errors", "*string"),
        7: ("offers_recovery", "bool"), 8: ("recovery", "bool"),
    },
    "Effect": {
        1: ("consume_intended", "Empty"), 2: ("set_session", "Assignment"), 3: ("set_user", "Assignment"),
        4: ("replace_user", "Replacement"), 5: ("send_mail", "Mail"),
    },
    "Assignment": {1: ("name", "string"), 2: ("value", "Value")},
    "Replacement": {1: ("name", "string"), 2: ("old", "Value"), 3: ("value", "Value")},
    "Mail": {1: ("name", "string"), 2: ("texts", "%string")},
    "HandleRequest": {1: ("user", "User"), 2: ("request", "Request"), 3: ("form", "%Value")},
    "HandleResponse": {
        1: ("status", "string"), 2: ("next_step", "bytes"), 3: ("errors", "*string"), 4: ("effects", "*Effect"),
    },
    "NotifyRequest": {1: ("id", "string"), 2: ("kind", "string"), 3: ("user", "User"), 4: ("at", "string")},
    "NotifyResponse": {1: ("effects", "*Effect")},
    "BeginRequest": {
        1: ("id", "string"), 2: ("callback", "string"), 3: ("state", "string"), 4: ("locale", "string"),
        5: ("login_hint", "string"), 6: ("fresh", "bool"),
    },
    "BeginResponse": {1: ("url", "string"), 2: ("private", "bytes")},
    "FinishRequest": {
        1: ("id", "string"), 2: ("callback", "string"), 3: ("parameters", "%string"), 4: ("private", "bytes"),
        5: ("locale", "string"), 6: ("fresh", "bool"),
    },
    "FinishResponse": {1: ("identity", "Identity"), 2: ("refused", "string"), 3: ("effects", "*Effect")},
    "Identity": {
        1: ("subject", "string"), 2: ("email", "string"), 3: ("email_verified", "bool"), 4: ("name", "string"),
        5: ("auth_time", "int64"),
    },
    "ValidateRequest": {1: ("id", "string"), 2: ("user", "User"), 3: ("changes", "*Change")},
    "Change": {1: ("set", "string"), 2: ("kind", "string"), 3: ("key", "string"), 4: ("old", "bytes"), 5: ("new", "bytes")},
    "ValidateResponse": {1: ("refusals", "*Refusal"), 2: ("amendments", "*Amendment")},
    "Refusal": {1: ("change", "int64"), 2: ("property", "string"), 3: ("message", "string")},
    "Amendment": {1: ("change", "int64"), 2: ("property", "string"), 3: ("value", "bytes")},
}


def _varint(n):
    n &= (1 << 64) - 1  # negative numbers in two's complement
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _field(number, wire, data):
    return _varint(number << 3 | wire) + (_varint(len(data)) if wire == 2 else b"") + data


def _encode_one(kind, value):
    """The wire type and the bytes of one value."""
    if kind in ("int64", "bool"):
        return 0, _varint(int(value))
    if kind == "string":
        if not isinstance(value, str):
            raise TypeError(f"{value!r} is no str")
        return 2, value.encode()
    if kind == "bytes":
        return 2, bytes(value)
    return 2, _encode_value(value) if kind == "Value" else encode(kind, value)


def _encode_value(value):
    if value is None:
        return b""
    if isinstance(value, bool):
        return _field(1, 0, _varint(value))
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"{value} does not fit into 64 bits")
        return _field(2, 0, _varint(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number that can be sent")
        return _field(3, 1, struct.pack("<d", value))
    if isinstance(value, str):
        return _field(4, 2, value.encode())
    if isinstance(value, (bytes, bytearray)):
        return _field(5, 2, bytes(value))
    raise TypeError(f"a value of type {type(value).__name__}, not None, bool, int, float, str, bytes or datetime")


def encode(message, fields):
    """Encodes a dict as one of MESSAGES."""
    known = {name: (number, kind) for number, (name, kind) in MESSAGES[message].items()}
    out = b""
    for name, value in fields.items():
        number, kind = known[name]
        if kind[0] == "%":
            for key, item in value.items():
                wire, data = _encode_one(kind[1:], item)
                out += _field(number, 2, _field(1, 2, key.encode()) + _field(2, wire, data))
        else:
            for item in value if kind[0] == "*" else [value]:
                out += _field(number, *_encode_one(kind.lstrip("*"), item))
    return out


def _split(data):
    """The fields of a message: number and raw value."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return n & (1 << 64) - 1

    while at < len(data):
        key = varint()
        wire = key & 7
        if wire == 0:
            yield key >> 3, varint()
            continue
        size = varint() if wire == 2 else {1: 8, 5: 4}[wire]
        if at + size > len(data):
            raise ValueError("the message is cut off")
        yield key >> 3, data[at : at + size]
        at += size


def _decode_one(kind, raw):
    if kind == "int64":
        return raw - (1 << 64) if raw >> 63 else raw
    if kind == "bool":
        return bool(raw)
    if kind == "string":
        return raw.decode()
    if kind == "bytes":
        return raw
    if kind == "Value":
        kinds = {1: "bool", 2: "int64", 3: "double", 4: "string", 5: "bytes"}
        value = None
        for number, part in _split(raw):
            if number in kinds:
                value = _decode_one(kinds[number], part)
        return value
    if kind == "double":
        return struct.unpack("<d", raw)[0]
    return decode(kind, raw)


def decode(message, data):
    """Decodes one of MESSAGES into a dict in which every field is set."""
    out = {}
    for name, kind in MESSAGES[message].values():
        empty = {"string": "", "bytes": b"", "int64": 0, "bool": False}
        out[name] = [] if kind[0] == "*" else {} if kind[0] == "%" else empty.get(kind)
    for number, raw in _split(data):
        if number not in MESSAGES[message]:
            continue  # of a later version
        name, kind = MESSAGES[message][number]
        if kind[0] == "*":
            out[name].append(_decode_one(kind[1:], raw))
        elif kind[0] == "%":
            entry = dict(_split(raw))
            out[name][entry.get(1, b"").decode()] = _decode_one(kind[1:], entry.get(2, b""))
        else:
            out[name] = _decode_one(kind, raw)
    return out


# A certificate of our own, as go-plugin's AutoMTLS wants it: P-256, self-signed.
# It lives as long as the process and guards a socket that only the host can reach.

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def _add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % _P == 0:
        return None
    if a == b:
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, _P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, _P)
    x = (slope * slope - a[0] - b[0]) % _P
    return x, (slope * (a[0] - x) - a[1]) % _P


def _multiply(k, point):
    out = None
    while k:
        if k & 1:
            out = _add(out, point)
        point = _add(point, point)
        k >>= 1
    return out


def _der(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    if size < 0x80:
        return bytes([tag, size]) + body
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def _integer(n):
    return _der(0x02, n.to_bytes(n.bit_length() // 8 + 1, "big"))


def _oid(text):
    first, second, *rest = map(int, text.split("."))
    out = bytes([first * 40 + second])
    for n in rest:
        part = bytes([n & 0x7F])
        while n > 0x7F:
            n >>= 7
            part = bytes([n & 0x7F | 0x80]) + part
        out += part
    return _der(0x06, out)


def _pem(kind, der):
    text = base64.encodebytes(der).decode()
    return f"-----BEGIN {kind}-----\n{text}-----END {kind}-----\n".encode()


def _identity():
    """A private key and a certificate as PEM, and the certificate as DER."""
    secret = secrets.randbelow(_N - 1) + 1
    x, y = _multiply(secret, _G)
    point = b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")
    curve = _oid("1.2.840.10045.3.1.7")
    ecdsa = _der(0x30, _oid("1.2.840.10045.4.3.2"))
    name = _der(0x30, _der(0x31, _der(0x30, _oid("2.5.4.3"), _der(0x0C, b"localhost"))))
    since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=1)
    extensions = (
        ("2.5.29.19", _der(0x30, b"\x01\x01\xff")),  # a CA, as it signs itself
        ("2.5.29.15", b"\x03\x02\x02\x84"),  # digitalSignature, keyCertSign
        ("2.5.29.37", _der(0x30, _oid("1.3.6.1.5.5.7.3.1"), _oid("1.3.6.1.5.5.7.3.2"))),
        ("2.5.29.17", _der(0x30, _der(0x82, b"localhost"))),
    )
    signed = _der(
        0x30,
        _der(0xA0, _integer(2)),
        _integer(secrets.randbits(120)),
        ecdsa,
        name,
        _der(0x30, _der(0x17, since.strftime("%y%m%d%H%M%SZ").encode()), _der(0x18, b"20991231235959Z")),
        name,
        _der(0x30, _der(0x30, _oid("1.2.840.10045.2.1"), curve), _der(0x03, b"\0", point)),
        _der(0xA3, _der(0x30, *(_der(0x30, _oid(o), _der(0x04, v)) for o, v in extensions))),
    )
    digest = int.from_bytes(hashlib.sha256(signed).digest(), "big")
    once = secrets.randbelow(_N - 1) + 1
    r = _multiply(once, _G)[0] % _N
    s = pow(once, -1, _N) * (digest + r * secret) % _N
    certificate = _der(0x30, signed, ecdsa, _der(0x03, b"\0", _der(0x30, _integer(r), _integer(s))))
    key = _der(
        0x30, _integer(1), _der(0x04, secret.to_bytes(32, "big")), _der(0xA0, curve), _der(0xA1, _der(0x03, b"\0", point))
    )
    return _pem("EC PRIVATE KEY", key), _pem("CERTIFICATE", certificate), certificate


# Log lines as the host reads them, JSON on standard error.

_call = contextvars.ContextVar("call", default={})


class _Lines(logging.Handler):
    def emit(self, record):
        level = {"CRITICAL": "error", "WARNING": "warn"}.get(record.levelname, record.levelname.lower())
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        line = {"@level": level, "@timestamp": now, "@message": record.getMessage(), **_call.get()}
        if record.exc_info:
            line["stack"] = "".join(traceback.format_exception(*record.exc_info))
        os.write(2, (json.dumps(line) + "\n").encode())


# Serving.


class _Broken(Exception):
    """An answer that the contract forbids."""


# The calls, by the author's function: the role, the method of the protocol with its
# messages, and the key that a call by hand has for it alone.
_Call = collections.namedtuple("_Call", "role method request response key", defaults=(None,))
_CALLS = {
    "dispense": _Call("dispenser", "Dispense", "DispenseRequest", "DispenseResponse"),
    "handle": _Call("org_setup", "Handle", "HandleRequest", "HandleResponse", "form"),
    "notify": _Call("listener", "Notify", "NotifyRequest", "NotifyResponse", "event"),
    "begin": _Call("identity_provider", "Begin", "BeginRequest", "BeginResponse", "begin"),
    "finish": _Call("identity_provider", "Finish", "FinishRequest", "FinishResponse", "finish"),
    "validate": _Call("validator", "Validate", "ValidateRequest", "ValidateResponse", "changes"),
}


def _check_session(session, effects):
    """Refuses session values that are too large: 16 KiB one, 32 KiB all, each with 10 bytes and its name."""

    def length(value):
        if isinstance(value, str):
            return len(value.encode(errors="surrogatepass"))
        return len(value) if isinstance(value, (bytes, bytearray)) else 0

    after = dict(session)
    changes = [effect["set_session"] for effect in effects if "set_session" in effect]
    for change in changes:
        name, value = change["name"], change["value"]
        if length(value) > 16384:
            raise _Broken(f'the session value "{name}" has {length(value)} bytes; 16384 are allowed: '
                          "keep it in a column or with the plugin")
        after[name] = value
    size = sum(len(str(name).encode()) + 10 + length(value) for name, value in after.items() if value is not None)
    if changes and size > 32768:
        raise _Broken(f"the session values would have {size} bytes together; 32768 are allowed: "
                      "remove some with set_session(name, None)")


def _one_line(text):
    return isinstance(text, str) and not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text)


def _check_mails(effects):
    """Refuses a mail that no host sends: more than 16 texts, or one that is not a line of at most 1 KiB."""
    for effect in effects:
        if "send_mail" not in effect:
            continue
        name, texts = effect["send_mail"]["name"], effect["send_mail"]["texts"]
        if len(texts) > 16:
            raise _Broken(f'the mail "{name}" has {len(texts)} texts; 16 are allowed')
        for key, text in texts.items():
            if not key or not _one_line(key) or len(key.encode()) > 64:
                raise _Broken(f'the mail "{name}" has a text whose name is not 1 to 64 printable bytes')
            if not _one_line(text):
                raise _Broken(f'the mail "{name}" has a text "{key}" that is not one line')
            if len(text.encode()) > 1024:
                raise _Broken(f'the mail "{name}" has a text "{key}" of {len(text.encode())} bytes; 1024 are allowed')


_ADDRESS = re.compile(r"(https://[^/?#@]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)([/?#]|$)")


def _check_identity(run, fields, effects):
    """Refuses an answer of an identity provider that no host takes."""

    def line(text, limit):
        return _one_line(text) and len(text.encode()) <= limit

    identity, wrong = fields.get("identity"), None
    if run == "begin":
        url, private = fields["url"], fields["private"]
        if not line(url, 8192) or not _ADDRESS.match(url):
            wrong = f"the address {url!r}; write one on https, or on http on loopback, of at most 8192 bytes"
        elif len(private) > 2048:
            wrong = f"{len(private)} private bytes; 2048 are allowed"
    elif identity is None:
        if not line(fields["refused"], 256):
            wrong = "a reason that is not one line of at most 256 bytes"
        elif effects:
            wrong = "a refusal with effects"
    elif not line(identity["subject"], 255) or not identity["subject"]:
        wrong = f"the subject {identity['subject']!r}; write a text of 1 to 255 bytes"
    elif not line(identity["email"], 255):
        wrong = "an email that is not one line of at most 255 bytes"
    elif not isinstance(identity["email_verified"], bool):
        wrong = f"{identity['email_verified']!r} as email_verified; write True or False"
    elif type(identity["auth_time"]) is not int or abs(identity["auth_time"]) >= 1 << 53:
        wrong = f"{identity['auth_time']!r} as auth_time; write a datetime, or seconds since 1970"
    elif not all(isinstance(e, dict) and "set_user" in e for e in effects):
        wrong = "effects other than set_user without replacing"
    if wrong:
        raise _Broken(f"{run} returned {wrong}")


def _value_json(value):
    """A value of a property as JSON. Numbers have all their digits."""
    value = _text_of(value)
    if value is None or isinstance(value, (bool, str)):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, int) or isinstance(value, (float, decimal.Decimal)) and math.isfinite(value):
        text = str(value)
    else:
        raise TypeError(f"{value!r} is not None, a bool, int, float, Decimal, str, date or datetime")
    return text.encode()


def _entity(data):
    """The entity of a change, None for none."""
    return json.loads(data, parse_float=decimal.Decimal) if data else None


def _entity_json(entity):
    """An entity of a call by hand as a host sends it."""
    if isinstance(entity, dict):
        return b"{" + b",".join(json.dumps(name).encode() + b":" + _entity_json(value) for name, value in entity.items()) + b"}"
    return _value_json(entity)


def _has_property(change, path):
    for data in (change["old"], change["new"]):
        at = _entity(data)
        for part in path.split("/"):
            at = at.get(part, _ANY) if isinstance(at, dict) else _ANY
        if at is not _ANY and not isinstance(at, dict):
            return True
    return False


def _check_verdict(fields, changes):
    """Refuses a verdict that no host takes, and encodes its values."""

    def line(text, limit):
        return _one_line(text) and len(text.encode()) <= limit

    known = {}

    def judge(decision, amends):
        index, path, why = decision["change"], decision["property"], None
        if type(index) is not int or not 0 <= index < len(changes):
            raise _Broken(f"the verdict is about the change {index!r}; there are {len(changes)}")
        change = changes[index]
        if not line(path, 256):
            why = "the path is not one line of at most 256 bytes"
        elif amends or path:
            if (index, path) not in known:
                known[index, path] = _has_property(change, path)
            why = None if known[index, path] else "there is no such property"
        if why is None and not amends:
            message = decision["message"]
            why = "the message is empty" if message == "" else None if line(message, 1024) else "the message is not one line of at most 1024 bytes"
        elif why is None and change["kind"] == "delete":
            why = "a delete has no values to amend"
        elif why is None:
            try:
                return {**decision, "value": _value_json(decision["value"])}
            except (TypeError, ValueError) as err:
                why = str(err)
        if why:
            raise _Broken(f'change {index}, the {change["kind"]} of {change["set"]}({change["key"]}), property {path!r}: {why}')
        return decision

    if len(fields["amendments"]) > 10000:
        raise _Broken(f"the verdict has {len(fields['amendments'])} amendments; 10000 are allowed")
    return {
        "refusals": [judge(refusal, False) for refusal in fields["refusals"]],
        "amendments": [judge(amendment, True) for amendment in fields["amendments"]],
    }


# What a host takes of an answer, in bytes.
_MAX_ANSWER = 1 << 20


def _wire(message, fields):
    """Encodes an answer. What cannot be encoded breaks the contract, and is named."""
    for effect in fields.get("effects", []):
        for change in effect.values():
            try:
                _encode_one("string", change.get("name", ""))
                _encode_value(change.get("old"))
                _encode_value(change.get("value"))
            except Exception as err:
                raise _Broken(f'the effect on "{change.get("name")}": {err}') from err
    try:
        data = encode(message, fields)
    except Exception as err:
        raise _Broken(f"the answer cannot be sent: {err}") from err
    if len(data) > _MAX_ANSWER:
        raise _Broken(f"the answer has {len(data)} bytes; {_MAX_ANSWER} are allowed")
    return data


# The types of keys in the config block, and what tells their values.
_TYPES = {
    "string": lambda v: isinstance(v, str),
    "bool": lambda v: isinstance(v, bool),
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "list": lambda v: isinstance(v, list),
    "map": lambda v: isinstance(v, dict),
    "any": lambda v: True,
}


def _describe_key(path, key):
    """What the host is told of a key; a mistake in the schema ends the process."""
    if not isinstance(key, dict) or key.keys() - {"type", "required", "default", "oneof", "doc"} or key.get("type") not in _TYPES:
        print(f'mistake in the plugin: config["{path}"] is {key!r}; write {{"type", "required", "default", "oneof", "doc"}}, '
              f"where type is one of {', '.join(_TYPES)}", file=sys.stderr)
        sys.exit(2)
    preset = key.get("default")
    choice = f"One of: {', '.join(map(str, key['oneof']))}." if "oneof" in key else ""
    return {
        "path": path, "type": key["type"], "required": bool(key.get("required")),
        "default": "" if preset is None else preset if isinstance(preset, str) else json.dumps(preset),
        "description": " ".join(filter(None, [key.get("doc"), choice])),
    }


class _Plugin:
    def __init__(self, name, version, description, title, offers_step, configure, config, **functions):
        self.functions, self.configure_, self.schema = functions, configure, config or {}
        roles = list(dict.fromkeys(call.role for run, call in _CALLS.items() if functions.get(run)))
        if not name or not roles:
            sys.exit(f"mistake in the plugin: serve() needs a name, and {' or '.join(_CALLS)}")
        if bool(functions.get("begin")) != bool(functions.get("finish")):
            sys.exit("mistake in the plugin: serve() needs begin and finish together")
        if offers_step and not (title and functions.get("dispense")):
            sys.exit("mistake in the plugin: with offers_step, serve() needs a title and dispense")
        keys = [_describe_key(path, key) for path, key in self.schema.items()]
        self.about = {"name": name, "version": version, "roles": roles, "sdk": "python/" + VERSION,
                      "config": keys, "description": description, "title": title, "offers_step": bool(offers_step)}

    def describe(self, _):
        return self.about

    def configure(self, message):
        setup = Setup(**{key: value for key, value in message.items() if key != "config"})
        try:
            config = self.checked(json.loads(message["config"] or b"{}"))
            if self.configure_:
                self.configure_(config, setup)
        except BadConfig as err:
            return {"problems": err.problems}
        return {}

    def checked(self, config):
        """The config block with its defaults, or every mistake in it at once."""
        bad = BadConfig("", "")
        bad.problems = []
        for key in config.keys() - self.schema.keys():
            near = difflib.get_close_matches(key, self.schema, 1)
            hint = f'; did you mean "{near[0]}"?' if near else f"; known are: {', '.join(self.schema) or 'none'}"
            bad.problems.append({"path": key, "message": "this key is unknown" + hint})
        out = {}
        for path, key in self.schema.items():
            value = config.get(path)
            out[path] = value = key.get("default") if value is None else value
            mistake = None
            if value is None:
                mistake = "this key is required" if key.get("required") else None
            elif not _TYPES[key["type"]](value):
                mistake = f"{key['type']} is wanted here, not {type(value).__name__}"
            elif "oneof" in key and value not in key["oneof"]:
                mistake = f"{json.dumps(value)} is none of: {', '.join(map(str, key['oneof']))}"
            if mistake:
                bad.problems.append({"path": path, "message": mistake})
        if bad.problems:
            raise bad
        return out

    def notify(self, message):
        """Informs the listener, which returns effects or nothing."""
        at = datetime.datetime.fromisoformat(message["at"].replace("Z", "+00:00"))
        _call.set({"request_id": message["id"]})
        effects = self.functions["notify"](Event(message["id"], message["kind"], User(**message["user"] or {}), at)) or []
        changes = ("set_user", "replace_user", "send_mail")
        if not isinstance(effects, (list, tuple)) or not all(isinstance(e, dict) and any(c in e for c in changes) for e in effects):
            raise _Broken(f"notify returned {effects!r}, which is not a list of set_user and mail: a listener has no session")
        _check_mails(effects)
        return {"effects": list(effects)}

    def made(self, run, answer):
        """Refuses an answer that is of another call, or no answer."""
        if not isinstance(answer, _Answer) or answer.message != _CALLS[run].response:
            raise _Broken(f"{run} returned {answer!r}, which is not what one of {__name__}'s functions made")

    def identify(self, run, message):
        """Begins a sign-in at an identity provider, or finishes it."""
        _call.set({"request_id": message["id"]})
        answer = self.functions[run](BeginRequest(**message) if run == "begin" else FinishRequest(**message))
        self.made(run, answer)
        _check_identity(run, answer.fields, answer.effects)
        return answer.fields if run == "begin" else {**answer.fields, "effects": list(answer.effects)}

    def validate(self, message):
        """Asks the validator about changes."""
        _call.set({"request_id": message["id"]})
        changes = [Change(**{**c, "old": _entity(c["old"]), "new": _entity(c["new"])}) for c in message["changes"]]
        answer = self.functions["validate"](changes, User(**message["user"] or {}))
        self.made("validate", answer)
        return _check_verdict(answer.fields, message["changes"])

    def answer(self, run, message):
        if run == "notify":
            return self.notify(message)
        if run == "validate":
            return self.validate(message)
        if _CALLS[run].role == "identity_provider":
            return self.identify(run, message)
        user, request = User(**message["user"] or {}), Request(**message["request"] or {})
        request.form = message.get("form", {})
        _call.set({"request_id": request.id, "intent_id": request.intent_id})
        answer = self.functions[run](user, request)
        self.made(run, answer)
        _check_session(request.session, answer.effects)
        _check_mails(answer.effects)
        intent = answer.fields.get("intent", {})
        if intent.get("kind") == "redirect" and "offers_recovery" in intent:
            raise _Broken(f"{run} returned a redirect that holds nobody and offers recovery: call hold() as well")
        if intent.get("kind") == "redirect" and {"next_step", "errors"} & intent.keys():
            raise _Broken(f"{run} returned a redirect that holds nobody and says why it does: call hold() as well")
        return {**answer.fields, "effects": list(answer.effects)}


def _shown(answer):
    """An answer for people: an effect is its kind with the name, and values are as the host gets them."""

    def value(raw):
        raw = _decode_one("Value", _encode_value(raw))
        return {"base64": base64.b64encode(raw).decode()} if isinstance(raw, bytes) else raw

    if "url" in answer:
        private = {"private": base64.b64encode(answer["private"]).decode()} if answer["private"] else {}
        return {"url": answer["url"], **private}
    if "refused" in answer:
        return {"refused": answer["refused"]}
    out = {**answer.get("intent", {}), **answer}
    out.pop("intent", None)
    if "identity" in out:
        out.update({key: value for key, value in out.pop("identity").items() if value or key == "email_verified"})
        if "auth_time" in out:
            out["auth_time"] = _text_of(datetime.datetime.fromtimestamp(out["auth_time"], datetime.timezone.utc))
    if "next_step" in out:
        out["next_step"] = json.loads(out["next_step"])
    out["effects"] = [
        {kind: change["name"], **{key: raw if key == "texts" else value(raw) for key, raw in change.items() if key != "name"}}
        if change else {kind: True}
        for effect in answer["effects"] for kind, change in effect.items()
    ]
    return out


def _changes_by_hand(text):
    """The changes of a call by hand as a host sends them, or one sample."""
    changes = json.loads(text, parse_float=decimal.Decimal).get("changes")
    if changes is None:
        old = {"id": 5, "status": "open", "price": decimal.Decimal("12.50"), "cost": 10, "quantity": 2, "created_by": 1, "note": None}
        changes = [{"set": "Samples", "kind": "update", "key": "5", "old": old, "new": {**old, "status": "paid"}}]
    for i, change in enumerate(changes):
        if change.get("kind") not in ("create", "update", "delete"):
            sys.exit(f"the kind of change {i} is {change.get('kind')!r}, not create, update or delete")
    return [
        {"set": "", "key": "", **c, **{side: b"" if c.get(side) is None else _entity_json(c[side]) for side in ("old", "new")}}
        for c in changes
    ]


def _by_hand(plugin):
    """What the plugin does when a person starts it."""
    about, args = plugin.about, sys.argv[1:]
    if args and args[0] in ("-describe", "--describe"):
        print(json.dumps(about, indent=2))
        return 0
    if len(args) > 1 and args[0] in ("-call", "--call"):
        with open(args[1]) if args[1] != "-" else sys.stdin as file:
            text = file.read()
        call = json.loads(text)
        everything = {"name": about["name"], "roles": about["roles"], "user_read": ["*"], "user_write": ["*"], "mails": ["*"]}
        problems = plugin.configure({**everything, "config": json.dumps(call.get("config") or {}).encode()})
        if problems:
            print(json.dumps(problems, indent=2))
            return 1
        user = {"id": "1", "name": "Ada Lovelace", "email": "ada@example.com", **call.get("user", {})}
        routes = {"home": "/", "dashboard": "/dashboard", "login": "/login"}
        request = {"id": "call", "intent_id": "call", "locale": "en", "routes": routes, **call.get("request", {})}
        message = {"user": {**user, "id": str(user["id"])}, "request": request, "form": call.get("form", {})}
        message.update({"id": "sample", "kind": "password_reset", "at": "2026-01-31T12:00:00.250Z", **call.get("event", {})})
        runs = [run for run in _CALLS if call.get("role", _CALLS[run].role) == _CALLS[run].role]
        run = next((run for run in reversed(runs) if _CALLS[run].key in call), runs[0] if runs else "")
        if not runs or _CALLS[run].role not in about["roles"]:
            sys.exit(f"the plugin does not have the role {_CALLS[run].role if runs else call['role']}")
        if _CALLS[run].role == "identity_provider":
            message = {"id": "sample", "callback": "https://app.example.com/auth/identity/company/callback", "locale": "en"}
            message.update({"state": "sample"} if run == "begin" else {}, **call.get(run, {}))
            if "private" in message:
                message["private"] = base64.b64decode(message["private"])
        if run == "validate":
            message = {"id": "call", "user": {**message["user"], "locale": request["locale"]}, "changes": _changes_by_hand(text)}
        try:
            answer = plugin.answer(run, message)
            _wire(_CALLS[run].response, answer)
        except _Broken as err:
            sys.exit(f"the answer breaks the contract: {err}")
        if run == "validate":
            amended = [json.dumps({**a, "value": 0})[:-2] + a["value"].decode() + "}" for a in answer["amendments"]]
            print(f'{{"accepted": {json.dumps(not answer["refusals"])}, "refused": {json.dumps(answer["refusals"], ensure_ascii=False)}, '
                  f'"amended": [{", ".join(amended)}]}}')
            return 0
        told = {"acknowledged": True} if run == "notify" else {}
        print(json.dumps({**told, **_shown(answer)}, indent=2, ensure_ascii=False))
        return 0
    program = os.path.abspath(sys.argv[0])
    print(f"""This is "{about['name']}", a plugin of Vestibule. The host starts it; by itself it does nothing.
To use it, put this into config.hcl and run "vestibule plugin check":

plugin "{about['name']}" {{
  command = ["{os.path.basename(sys.executable)}", "{program}"]
  roles   = {json.dumps(about['roles'])}
}}

To look at it without a host: -describe, or -call FILE.json ("-" reads standard input).""", file=sys.stderr)
    return 1


def _end_with_host():
    """Waits for the end of the lifeline: a pipe that the host holds open and never writes to."""
    while os.read(0, 4096):
        pass
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # with all that we started
    os._exit(0)


def serve(name, dispense=None, handle=None, version="", description="", configure=None, config=None, notify=None, title="",
          offers_step=False, begin=None, finish=None, validate=None):
    """Serves the plugin to the host that started the process. It does not return.

    dispense(user, request), handle(user, request), notify(event), begin(request) with
    finish(request), and validate(changes, user) are the roles. title is the name of the step for people, such as "Authenticator app". With
    offers_step people who are signed in may ask for the step: dispense is called with
    request.asked then.
    config names the keys of the config block:

        config={"page": {"type": "string", "default": "/upgrade", "doc": "Where the others go."}}

    A key has a type, which is string, bool, int, float, list, map or any, and may
    have required, default, oneof and doc. A key that is absent or null has its
    default, else None. configure(config, setup) is called once, before any other
    call, and may raise BadConfig.
    """
    plugin = _Plugin(name, version, description, title, offers_step, configure, config,
                     dispense=dispense, handle=handle, notify=notify, begin=begin, finish=finish, validate=validate)
    if os.environ.get(COOKIE[0]) != COOKIE[1]:
        sys.exit(_by_hand(plugin))
    handshake = os.dup(1)
    os.dup2(2, 1)  # what is printed goes to the log
    sys.stdout.reconfigure(line_buffering=True)
    logging.basicConfig(level=logging.INFO, handlers=[_Lines()])
    if os.environ.get("VESTIBULE_LIFELINE") == "stdin":
        for number in (signal.SIGTERM, signal.SIGINT):  # systemd tells plugins to end, too, while the host still needs them
            signal.signal(number, lambda *_: None)
        threading.Thread(target=_end_with_host, daemon=True).start()
    server, socket, certificate, ended = _server(plugin)
    server.start()
    line = f"1|{PROTOCOL}|unix|{socket}|grpc|{base64.b64encode(certificate).decode().rstrip('=')}\n"
    os.write(handshake, line.encode())
    os.close(handshake)
    ended.wait()
    server.stop(0.5).wait()
    if os.path.exists(socket):
        os.remove(socket)
    logging.shutdown()
    os._exit(0)  # whatever threads the author left running


def _server(plugin):
    """The gRPC server, its socket, its certificate, and an event that is set when it is to end."""
    try:
        import grpc  # here, so that a plugin can be looked at by hand without it
    except ModuleNotFoundError as err:
        sys.exit(f"{sys.executable} lacks the package {err.name}: apt-get install python3-grpcio, or pip install grpcio")

    ended = threading.Event()

    def method(function, request, response):
        def behaviour(message, context):
            try:
                return _wire(response, function(message))
            except _Broken as err:
                logging.error("the answer breaks the contract: %s", err)
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(err))
            except Exception as err:  # whatever the author's code raises
                logging.exception("no decision")
                context.abort(grpc.StatusCode.ABORTED, f"{type(err).__name__}: {err}"[:300])

        return grpc.unary_unary_rpc_method_handler(
            behaviour,
            request_deserializer=lambda data: decode(request, data),
            response_serializer=lambda data: data,
        )

    def shutdown(_):
        ended.set()
        return {}

    methods = {
        "/vestibule.plugin.v1.Plugin/Describe": method(plugin.describe, "DescribeRequest", "DescribeResponse"),
        "/vestibule.plugin.v1.Plugin/Configure": method(plugin.configure, "ConfigureRequest", "ConfigureResponse"),
        "/grpc.health.v1.Health/Check": method(lambda _: {"status": 1}, "Empty", "HealthResponse"),
        "/plugin.GRPCController/Shutdown": method(shutdown, "Empty", "Empty"),
    }
    for run, call in _CALLS.items():
        if call.role in plugin.about["roles"]:
            function = functools.partial(plugin.answer, run)
            methods[f"/vestibule.plugin.v1.Plugin/{call.method}"] = method(function, call.request, call.response)

    class Router(grpc.GenericRpcHandler):
        def service(self, details):
            return methods.get(details.method)

    key, pem, certificate = _identity()
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=64), handlers=[Router()])
    directory = os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or tempfile.mkdtemp(prefix="vestibule")
    socket = os.path.join(directory, "plugin.sock")
    credentials = grpc.ssl_server_credentials(
        [(key, pem)], root_certificates=os.environ["PLUGIN_CLIENT_CERT"].encode(), require_client_auth=True
    )
    server.add_secure_port("unix:" + socket, credentials)
    return server, socket, certificate, ended
