#!/usr/bin/env python3
"""A plugin that holds people at a page until they have set a new password.

Whoever decides that somebody must sets the column must_change_password. A reset by the
link in a mail clears it.
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pluginsdk", "python"))
import vestibule

settings = {}


def dispense(user, request):
    """Holds those who have not set a new password yet."""
    if user.column(settings["column"]):
        return vestibule.redirect(settings["page"]).hold()
    return vestibule.done()


def notify(event):
    """Clears the column after a reset, in one transaction with the mark that this listener
    knows of the event."""
    if event.kind == "password_reset" and event.user.column(settings["column"]):
        return [vestibule.set_user(settings["column"], False)]


def configure(config, setup):
    settings.update(config)
    if not all("*" in grants or config["column"] in grants for grants in (setup.user_read, setup.user_write)):
        raise vestibule.BadConfig("column", f'add "{config["column"]}" to user_read and user_write')


if __name__ == "__main__":
    vestibule.serve(
        name="must-change-password", version="1.0.0", dispense=dispense, notify=notify, configure=configure,
        config={
            "page": {"type": "string", "default": "/change-password", "doc": "Where people learn that they need a new password."},
            "column": {"type": "string", "default": "must_change_password", "doc": "The user column that is true as long as they do, a boolean."},
        },
    )
