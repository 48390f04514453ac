"""Access tokens: those that the backend's authentication service gives."""

from backend import tokens
from backend.authentication import parse_header
from backend.errors import FeathersError

from .problems import problem


def check(settings, header):
    """Raises a 401 without a token that holds, where the space wants one."""
    if settings["access"] == "everybody":
        return
    sent = parse_header(header)
    try:
        if sent is None:
            raise FeathersError("NotAuthenticated", "An access token is needed")
        tokens.verify(sent["accessToken"])
    except FeathersError as refused:
        raise problem(401, refused.class_name, refused.message, header="Authorization", headers={"WWW-Authenticate": "Bearer"}) from None
