"""Answers with what it was told, for the tests of vestibule.py."""

import dataclasses
import datetime
import json
import logging
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import vestibule as v


def text(value):
    return json.dumps(value, default=list)


def dispense(user, request):
    if user.name == "throw":
        raise RuntimeError("no decision")
    if user.name == "nothing":
        return None
    if user.name == "wrong":
        return v.satisfied()
    if user.name == "large":
        return v.done().with_(v.set_session("x", "ü" * 8193))
    if user.name == "full":
        return v.done().with_(v.set_session("b", "x" * 16384), v.set_session("n", 1))
    if user.name == "freed":
        return v.done().with_(v.set_session("b", "x" * 16384), v.set_session("a", None))
    if user.name == "type":
        return v.done().with_(v.set_session("x", {}))
    if user.name == "range":
        return v.done().with_(v.set_session("x", 2**64))
    if user.name == "time":
        at = datetime.datetime(2026, 1, 31, 13, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
        return v.done().with_(v.set_user("at", at), v.set_session("at", at.astimezone().replace(tzinfo=None)), v.set_user("was", None, replacing=at))
    if user.name == "text":
        return v.done().with_(v.set_user("x", "\ud800"))
    if user.name == "nan":
        return v.done().with_(v.set_user("x", float("nan")))
    if user.name == "huge":
        return v.done().with_(v.set_user("x", "x" * (1 << 20)))
    if user.name == "number":
        return v.redirect(7)
    if user.name == "payload":
        at = datetime.datetime(2026, 1, 31, 12, 0, tzinfo=datetime.timezone.utc)
        return v.redirect("/held").hold().needs_more_input({"message": at})
    if user.name == "log":
        print("printed")
        logging.warning("logged")
        return v.done()
    if user.name == "done":
        return v.done()
    if user.name == "mail":
        return v.done().with_(v.mail("greeting", {"link": "/a?b=ü", "name": "Ada 👩‍🚀"}), v.mail("plain"))
    if user.name == "wordy":
        return v.done().with_(v.mail("greeting", {"link": "ü" * 513}))
    if user.name == "lines":
        return v.done().with_(v.mail("greeting", {"link": "a\nb"}))
    if user.name == "texts":
        return v.done().with_(v.mail("greeting", {f"t{i}": "x" for i in range(17)}))
    if user.name == "setup":
        return v.org_setup("Ada 👩‍🚀")
    if user.name == "hold":
        return v.redirect("/held").hold("/assets", "/ü").with_(v.set_user("a", 5, replacing=None), v.set_user("b", None, replacing=4))
    if user.name == "more":
        return v.redirect("/held").with_(v.consume_intended()).hold().needs_more_input({"message": "ü"})
    if user.name == "refuse":
        return v.redirect("/held").hold().failed("no", str(request.form["code"]))
    if user.name == "recover":
        return v.redirect("/held").hold().offer_recovery().failed("no").as_recovery()
    if user.name == "recovered":
        return v.done().as_recovery().with_(v.set_session("a", 1))
    if user.name == "unoffered":
        return v.redirect("/held").offer_recovery()
    if user.name == "unheld":
        return v.redirect("/held").failed("no")
    told = {"user": dataclasses.asdict(user), "request": dataclasses.asdict(request)}
    effects = [v.set_user(name, value) for name, value in user.columns.items()]
    return v.redirect("/" + text(told)).with_(v.consume_intended(), v.set_session("n", 1), *effects)


def handle(user, request):
    if request.form["org_name"] == "more":
        return v.needs_more_input({"fields": {"billing_email": ["required"]}, "message": "ü"})
    if request.form["org_name"] == "no":
        return v.failed("no", "ü")
    return v.satisfied().with_(v.set_user("partner_id", 9223372036854775807))


def notify(event):
    if event.user.name == "sets":
        return [v.set_user("a", 5), v.set_user("b", None, replacing=4), v.mail("greeting", {"link": "/a"})]
    if event.user.name == "session":
        return [v.set_session("a", 5)]
    if event.user.name == "wordy":
        return [v.mail("greeting", {"link": "x" * 1025})]
    if event.user.name == "wrong":
        return v.done()
    if event.user.name == "throw":
        at = event.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        raise RuntimeError(f"not now: {event.id} {event.kind} {event.user.id} {at}")


ADDRESS = "https://provider.example.com/authorize"


def begin(request):
    if request.login_hint == "throw":
        raise RuntimeError("no provider")
    if request.login_hint == "nothing":
        return None
    if request.login_hint == "wrong":
        return v.refused()
    if request.login_hint == "plain":
        return v.authorization("http://provider.example.com/")
    if request.login_hint == "long":
        return v.authorization(ADDRESS, "x" * 2049)
    if request.login_hint == "local":
        return v.authorization("http://[::1]:8080/authorize", bytes([0, 255]))
    if request.login_hint == "bare":
        return v.authorization(ADDRESS)
    return v.authorization(ADDRESS + "?state=" + request.state, text(dataclasses.asdict(request)))


def finish(request):
    way = request.parameters.get("way")
    if way == "throw":
        raise RuntimeError("no provider")
    if way == "misspelt":
        return v.identified("s1", emailVerified=True)
    if way == "unclear":
        return v.identified("s1", auth_time="today")
    if way == "far":
        return v.identified("s1", auth_time=2**66)
    somebody = v.identified("s1")
    answers = {
        "nothing": None, "wrong": v.authorization(ADDRESS),
        "refuse": v.refused("ü " + request.private.decode(errors="replace")), "refuse-silently": v.refused(),
        "refuse-long": v.refused("ü" * 129), "refuse-sets": v.refused().with_(v.set_user("a", 1)),
        "nobody": v.identified(""), "number": v.identified(7), "claim": v.identified("s1", email_verified="false"),
        "session": somebody.with_(v.set_session("a", 1)), "replaces": somebody.with_(v.set_user("a", 1, replacing=2)),
        "mail": somebody.with_(v.mail("greeting")), "bare": somebody, "seconds": v.identified("s1", None, auth_time=2**33),
    }
    if way in answers:
        return answers[way]
    at = datetime.datetime(2026, 1, 31, 13, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    who = v.identified("s1", email="ada@example.com", email_verified=True, name="Ada 👩‍🚀", auth_time=at)
    return who.with_(v.set_user("told", text(dataclasses.asdict(request))))


def validate(changes, user):
    first = changes[0]
    if user.name == "throw":
        raise RuntimeError("no verdict")
    if user.name == "many":
        verdict = v.accept()
        for i in range(len(changes)):
            verdict = verdict.refuse(i, "", "no").refuse(i, "", "again")
        return verdict
    if user.name == "often":
        return dataclasses.replace(v.accept(), fields={"refusals": (), "amendments": 10001 * ({"change": 0, "property": "price", "value": 1},)})
    if user.name == "amend":
        at = datetime.datetime(2026, 1, 31, 13, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
        verdict = v.amend(0, "price", first.new["price"]).amend(0, "id", first.new["id"]).amend(0, "address/city", "Ely ü").amend(0, "note", None)
        return verdict.amend(0, "urgent", True).amend(0, "rate", -1.25).amend(0, "at", at)
    if user.name == "mutate":
        first.new = None
        return v.amend(0, "price", 1)
    answers = {
        "nothing": None, "wrong": v.done(), "accept": v.accept(),
        "refuse": v.refuse(0, "price", "too low: ü").refuse(1, "", "no").amend(0, "price", 1),
        "beyond": v.refuse(2, "", "no"), "negative": v.amend(-1, "price", 1), "half": v.refuse(0.5, "", "no"),
        "unknown": v.refuse(0, "Price", "no"), "complex": v.amend(0, "address", None), "nowhere": v.amend(0, "", 1),
        "deleted": v.amend(1, "price", 1), "empty": v.refuse(0, "price", ""), "long": v.refuse(0, "price", "ü" * 513),
        "lines": v.refuse(0, "price", "a\nb"), "number": v.refuse(0, "price", 7), "type": v.amend(0, "price", {}),
        "nan": v.amend(0, "price", float("nan")), "large": v.amend(0, "note", "x" * (1 << 20)),
    }
    if user.name in answers:
        return answers[user.name]
    if "count" not in (first.new or {}):
        return v.accept()
    told = {"changes": [dataclasses.asdict(c) for c in changes], "user": dataclasses.asdict(user)}
    return v.amend(0, "note", text(told))


def configure(config, setup):
    if config["must"] == "told":
        raise v.BadConfig("must", f"{setup.public_url} {','.join(setup.mails)}")
    if len(config["list"]) > 1:
        raise v.BadConfig("list[1]", "one is enough")
    if config["must"] == "fail":
        raise RuntimeError("the database does not answer")


v.serve(
    name="echo", version="3", description="Echoes.", title="Echo", offers_step=True, dispense=dispense, handle=handle, notify=notify, configure=configure,
    begin=begin, finish=finish, validate=validate,
    config={
        "must": {"type": "string", "required": True}, "number": {"type": "int", "default": 3}, "list": {"type": "list", "default": []},
        "mood": {"type": "string", "default": "plain", "oneof": ["plain", "loud"], "doc": "How."}, "rate": {"type": "float"},
    },
)
