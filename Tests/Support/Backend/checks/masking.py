"""Volatile values made equal, so that what is left can be compared (see Tests/Support/Wire/README.md)."""

import re

VOLATILE = {"sid", "pid", "iat", "exp", "nbf", "jti", "expiredAt", "date", "waited", "stack"}
# These name the connection, or belong to the HTTP stack of whoever calls.
CONNECTION_HEADERS = {"host", "sec-websocket-key", "sec-websocket-extensions", "user-agent", "accept-encoding", "accept"}
TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]*\.[\w-]*")
EMAIL = re.compile(r"bob-\w+-\d+@example\.com")


def masked(value, key=None):
    if key in VOLATILE:
        return f"<{key}>"
    if key == "headers" and isinstance(value, dict):
        return {name: masked(item) for name, item in value.items() if name not in CONNECTION_HEADERS}
    if isinstance(value, dict):
        return {name: masked(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [masked(item) for item in value]
    if isinstance(value, str):
        return EMAIL.sub("<email>", TOKEN.sub("<token>", value))
    return value
