#!/usr/bin/env python3
"""Signs people in with their account at GitHub: OAuth 2.0 without OpenID Connect."""

import base64
import hashlib
import json
import os
import secrets
import sys
import time
import urllib.parse
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pluginsdk", "python"))
import vestibule

settings = {}


def begin(request):
    """Returns where the browser is sent: GitHub's web flow with PKCE."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = urllib.parse.urlencode({
        "client_id": settings["client_id"], "redirect_uri": request.callback, "state": request.state, "scope": "user:email",
        "code_challenge": challenge, "code_challenge_method": "S256",
    })
    return vestibule.authorization(f"{settings['github']}/login/oauth/authorize?{query}", verifier)


def finish(request):
    """Exchanges the code for a token, and asks with the token who the person is."""
    error = request.parameters.get("error")
    if error == "access_denied":
        return vestibule.refused()  # in the host's words
    if error:
        raise RuntimeError(f"GitHub says {error}: {request.parameters.get('error_description', '')}")
    if len(request.private) != 64:
        return vestibule.refused("This sign-in did not begin here. Please begin again.")
    token = token_for(request)
    user = ask(f"{settings['api']}/user", token)
    address = next((a for a in ask(f"{settings['api']}/user/emails", token) if a["primary"]), {})
    return vestibule.identified(
        str(int(user["id"])),  # the login can be given to somebody else, the id cannot
        email=address.get("email"), email_verified=address.get("verified") is True, name=user.get("name") or user["login"],
    )


def token_for(request):
    """Returns the token for the code of a callback. GitHub answers 200 also where there is none."""
    form = {
        "client_id": settings["client_id"], "client_secret": settings["client_secret"], "redirect_uri": request.callback,
        "code": request.parameters.get("code", ""), "code_verifier": request.private.decode(),
    }
    answer = ask(f"{settings['github']}/login/oauth/access_token", form=urllib.parse.urlencode(form).encode())
    if not answer.get("access_token"):
        raise RuntimeError(f"GitHub gives no token: {answer.get('error')}")
    return answer["access_token"]


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # the answer counts as an error


def ask(url, token=None, form=None):
    """Makes one request, a POST if there is a form, and decodes at most 1 MiB of JSON, read within three seconds."""
    headers = {"Accept": "application/json", "User-Agent": "vestibule-github-sign-in"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, form, headers)
    body, end = b"", time.monotonic() + 3
    with urllib.request.build_opener(NoRedirects).open(request, timeout=3) as response:  # each wait, not all together
        while part := response.read1(1 << 16):
            body += part
            if time.monotonic() > end or len(body) > 1 << 20:
                raise RuntimeError("an answer of GitHub takes too long, or is longer than 1 MiB")
    return json.loads(body)


def configure(config, setup):
    settings.update(config)
    for key in ("github", "api"):
        if not config[key].startswith(("https://", "http://127.0.0.1:")):
            raise vestibule.BadConfig(key, "write an address on https")


if __name__ == "__main__":
    vestibule.serve(
        name="github", version="1.0.0", begin=begin, finish=finish, configure=configure,
        config={
            "client_id": {"type": "string", "required": True, "doc": "The client ID of the OAuth app."},
            "client_secret": {"type": "string", "required": True, "doc": "A client secret of the OAuth app."},
            "github": {"type": "string", "default": "https://github.com", "doc": "GitHub, or a server of your own."},
            "api": {"type": "string", "default": "https://api.github.com", "doc": "Its API; https://HOST/api/v3 for a server of your own."},
        },
    )
