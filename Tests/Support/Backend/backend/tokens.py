"""Access tokens: HS256, worded and checked in the order of `jsonwebtoken`."""

import os
import re
import time
import uuid
from datetime import datetime, timezone

import jwt

from .errors import FeathersError
from .javascript import ordered

SECRET = "a secret only this test backend uses, and nothing else"
AUDIENCE = "https://yourdomain.com"
ISSUER = "feathers"
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def create(subject="1", payload=None, options=None, secret=None, identified=False, lifetime=None):
    """A signed token.

    `options` are jsonwebtoken's: expiresIn, notBefore, audience, issuer, subject. `lifetime` goes
    before expiresIn: seconds to the millisecond, not from the last whole second on.
    """
    options = options or {}
    now = int(time.time())
    claims = {"iat": now, **(payload or {})}
    if "notBefore" in options:
        claims["nbf"] = now + seconds(options["notBefore"])
    claims["exp"] = now + seconds(options.get("expiresIn", os.environ.get("JWT_EXPIRES", "1d")))
    if lifetime is not None:
        claims["exp"] = round(time.time() + lifetime, 3)
    claims["aud"] = options.get("audience", AUDIENCE)
    claims["iss"] = options.get("issuer", ISSUER)
    claims["sub"] = str(options.get("subject", claims.get("sub", subject)))
    if identified or "jwtid" in options:
        claims["jti"] = options.get("jwtid", str(uuid.uuid4()))
    algorithm = options.get("algorithm", "HS256")
    key = None if algorithm == "none" else secret or SECRET
    return jwt.encode(claims, key, algorithm=algorithm, headers={"typ": "access"})


def seconds(duration):
    """`-60`, `"1s"`, `"2 days"` → seconds"""
    if isinstance(duration, (int, float)):
        return int(duration)
    number, unit = re.match(r"\s*(-?[0-9.]+)\s*([a-z]*)", duration).groups()
    # Without a unit, jsonwebtoken takes text for milliseconds.
    return int(float(number) * (UNITS[unit[:1]] if unit else 0.001))


def payload_of(token):
    return jwt.decode(token, options={"verify_signature": False})


def claimed_subject(token):
    """Whose token it says it is; None where that cannot be read."""
    try:
        return payload_of(token).get("sub")
    except jwt.PyJWTError:
        return None


def expired(moment):
    return _refused("jwt expired", "TokenExpiredError", expiredAt=_date(moment))


def verify(token):
    """The payload, or the NotAuthenticated error Feathers makes of jsonwebtoken's."""
    if not isinstance(token, str) or len(token.split(".")) != 3:
        raise _refused("jwt malformed" if isinstance(token, str) else "jwt must be a string")
    try:
        header = jwt.get_unverified_header(token)
        payload = payload_of(token)
    except jwt.PyJWTError:
        raise _refused("invalid token") from None
    if not token.split(".")[2]:
        raise _refused("jwt signature is required")
    if header.get("alg") != "HS256":
        raise _refused("invalid algorithm")
    try:
        jwt.decode(token, SECRET, algorithms=["HS256"], options={"verify_signature": True, **UNCHECKED})
    except jwt.PyJWTError:
        raise _refused("invalid signature") from None
    now = time.time()
    if payload.get("nbf", now) > now:
        raise _refused("jwt not active", "NotBeforeError", date=_date(payload["nbf"]))
    if payload.get("exp", now + 1) <= now:
        raise expired(payload["exp"])
    audiences = payload.get("aud")
    if AUDIENCE not in (audiences if isinstance(audiences, list) else [audiences]):
        raise _refused(f"jwt audience invalid. expected: {AUDIENCE}")
    if payload.get("iss") != ISSUER:
        raise _refused(f"jwt issuer invalid. expected: {ISSUER}")
    return ordered(payload)


# PyJWT checks the signature; the claims are checked above, in jsonwebtoken's order.
UNCHECKED = {f"verify_{claim}": False for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}


def _refused(message, name="JsonWebTokenError", **details):
    return FeathersError("NotAuthenticated", message, {"name": name, **details})


def _date(timestamp):
    moment = datetime.fromtimestamp(timestamp, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
