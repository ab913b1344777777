#!/usr/bin/env python3
"""A dispenser that holds people at the terms until they have accepted them."""

import datetime
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "pluginsdk", "python"))
import vestibule

settings = {}


def dispense(user, request):
    if user.column("terms_accepted") is not None:
        return vestibule.done()
    if request.form.get("accept") is True:  # what the page has posted
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        return vestibule.done().with_(vestibule.set_user("terms_accepted", now))
    return vestibule.redirect(settings["page"]).hold()


if __name__ == "__main__":
    vestibule.serve(
        name="terms", version="1.0.0", dispense=dispense,
        config={"page": {"type": "string", "default": "/terms/accept"}}, configure=lambda config, setup: settings.update(config),
    )
