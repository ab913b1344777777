#!/usr/bin/env python3
"""A dispenser that sends those whose trial has ended to the page that says so."""

import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "pluginsdk", "python"))
import vestibule

settings = {}


def dispense(user, request):
    ends = user.column("trial_ends_at")  # seconds since 1970
    if ends is not None and ends < time.time():
        return vestibule.redirect(settings["page"]).with_(vestibule.consume_intended())
    return vestibule.done()


if __name__ == "__main__":
    vestibule.serve(
        name="trial", version="1.0.0", dispense=dispense,
        config={"page": {"type": "string", "default": "/upgrade"}}, configure=lambda config, setup: settings.update(config),
    )
