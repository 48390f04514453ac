"""Request bodies and responses as Express, body-parser, cors and compression make them."""

import base64
import gzip
import hashlib
import os
import re
import zlib

from aiohttp import web

from . import query_string
from .errors import PlainError
from .javascript import dumps
from .json_syntax import parse_body

BODY_LIMIT = 100 * 1024
COMPRESSION_THRESHOLD = 1024


async def read_body(request):
    """The parsed body; {} where body-parser leaves it alone."""
    body = await request.read()
    content_type = request.headers.get("Content-Type", "")
    media_type = content_type.split(";")[0].strip().lower()
    if media_type not in ("application/json", "application/x-www-form-urlencoded"):
        return {}
    if len(body) > BODY_LIMIT:
        raise PlainError("request entity too large")
    if not body:
        return {}
    charset = re.search(r"charset=\"?([^\s;\"]+)", content_type)
    if charset and not charset.group(1).lower().startswith("utf-"):
        raise PlainError(f'unsupported charset "{charset.group(1).upper()}"')
    text = body.decode(charset.group(1) if charset else "utf-8", "replace")
    return parse_body(text) if media_type == "application/json" else query_string.parse(text)


def accepts(header, media_type):
    """Whether an Accept header lets the media type through."""
    if header is None:
        return True
    kind = media_type.split("/")[0]
    for item in header.split(","):
        name, *parameters = [part.strip() for part in item.split(";")]
        if name in ("*/*", f"{kind}/*", media_type) and not any(re.match(r"q=0(\.0*)?$", p) for p in parameters):
            return True
    return False


def entity_tag(body):
    digest = base64.b64encode(hashlib.sha1(body).digest()).decode()[:27]
    return f'W/"{len(body):x}-{digest}"'


def compresses():
    return os.environ.get("COMPRESS") == "1"


def json_response(request, status, value, headers):
    """`res.json`: entity tag, 304 when it is still fresh, compressed when asked to."""
    return respond(request, status, dumps(value).encode(), {**headers, "Content-Type": "application/json; charset=utf-8"})


def respond(request, status, body, headers):
    headers = {"X-Powered-By": "Express", "Access-Control-Allow-Origin": "*", **headers, "ETag": entity_tag(body)}
    if compresses():
        headers["Vary"] = ", ".join(filter(None, [headers.get("Vary"), "Accept-Encoding"]))
    if _is_fresh(request, status, headers["ETag"]):
        status = 304
    if status in (204, 304):
        headers.pop("Content-Type")
        return web.Response(status=status, headers=headers)
    encoding = _encoding(request, body)
    if encoding:
        headers["Content-Encoding"] = encoding
        body = gzip.compress(body, 6) if encoding == "gzip" else zlib.compress(body)
    return web.Response(status=status, headers=headers, body=body)


def _is_fresh(request, status, tag):
    expected = request.headers.get("If-None-Match")
    if expected is None or request.method not in ("GET", "HEAD") or not 200 <= status < 300:
        return False
    if "no-cache" in request.headers.get("Cache-Control", ""):
        return False
    candidates = [item.strip().removeprefix("W/") for item in expected.split(",")]
    return expected.strip() == "*" or tag.removeprefix("W/") in candidates


def _encoding(request, body):
    if not compresses() or len(body) < COMPRESSION_THRESHOLD or request.method == "HEAD":
        return None
    accepted = [item.split(";")[0].strip() for item in request.headers.get("Accept-Encoding", "").split(",")]
    return next((encoding for encoding in ("gzip", "deflate") if encoding in accepted), None)


def preflight():
    """What `cors()` answers to OPTIONS, before any service is asked."""
    return web.Response(
        status=204,
        headers={
            "X-Powered-By": "Express",
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET,HEAD,PUT,PATCH,POST,DELETE",
            "Vary": "Access-Control-Request-Headers",
        },
    )
