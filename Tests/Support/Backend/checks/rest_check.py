"""Replays rest.json request by request over a bare socket."""

import asyncio
import gzip
import hashlib
import json
from urllib.parse import urlsplit

from backend.services import text_of_bytes

from . import unrecorded
from .masking import masked
from .own_server import call
from .recorded_tokens import Tokens

COMPARED_HEADERS = ("content-type", "location", "allow", "vary", "content-encoding", "access-control-allow-origin")

KNOWN_DIFFERENCES = {
    "raw/GET Accept text/html": "the HTML error page is a plain one: Feathers' own embeds its logo",
    "raw/GET not found Accept text/html (HTML error page)": "the same page",
}


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    @property
    def text(self):
        body = gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body
        return body.decode("utf-8", "replace")


async def check(recording, servers):
    """Yields (case name, list of differences)."""
    url = await servers.url()
    secret = (await call(url, "control", {"op": "secret"}))["secret"]
    tokens = Tokens(secret)
    for case in recording["cases"]:
        name = f"{case['group']}/{case['name']}"
        base = await servers.url(case.get("serverEnv"))
        differences = []
        for exchange in case["exchanges"]:
            request = rebuilt(exchange["request"], tokens, name)
            if "response" not in exchange:
                differences += await given_up(base, request)
                continue
            answer = await send(base, *request)
            tokens.learn(exchange["response"].get("body"), answer.text)
            differences += compare(exchange["response"], answer)
        for method, path, body in unrecorded.REST.get(name, []):
            await call(base, path, body, method)
        yield name, differences


def rebuilt(request, tokens, name):
    """(request line, headers, body) with the clipped text and the tokens made whole."""
    body = request["body"]
    if request.get("bodyClipped"):
        body = '{"text":"%s"}' % text_of_bytes(request["bodyBytes"] - len('{"text":""}'))
    headers = [(key, tokens.renewed(value, name)) for key, value in request["headers"]]
    body = (tokens.renewed(body, name) or "").encode("utf-8", "surrogatepass")
    # A renewed token may be a byte or two longer.
    headers = [(key, str(len(body)) if key.lower() == "content-length" else value) for key, value in headers]
    return tokens.renewed(request["line"], name), headers, body


async def connect(url, line, headers, body):
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    chunked = any(key.lower() == "transfer-encoding" for key, _ in headers)
    if chunked:
        body = (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
    head = line + "\r\n" + "".join(f"{key}: {value}\r\n" for key, value in headers) + "\r\n"
    writer.write(head.encode() + body)
    return reader, writer


async def send(url, line, headers, body, patience=15):
    reader, writer = await connect(url, line, headers, body)
    try:
        return await asyncio.wait_for(receive(reader, line.split()[0]), patience)
    finally:
        writer.close()


async def receive(reader, method):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *fields = head.strip().split("\r\n")
    headers = [tuple(field.split(": ", 1)) if ": " in field else (field.rstrip(":"), "") for field in fields]
    lowered = {key.lower(): value for key, value in headers}
    status = int(first.split()[1])
    body = b""
    if status in (204, 304) or method == "HEAD":
        pass
    elif lowered.get("transfer-encoding") == "chunked":
        while True:
            size = int(await reader.readline(), 16)
            body += (await reader.readexactly(size + 2))[:-2]
            if size == 0:
                break
    elif "content-length" in lowered:
        body = await reader.readexactly(int(lowered["content-length"]))
    else:
        body = await reader.read()
    return Answer(status, headers, body)


async def given_up(url, request):
    """The client went away before an answer: none may come within a tenth of a second."""
    reader, writer = await connect(url, *request)
    try:
        early = await asyncio.wait_for(reader.read(1), 0.1)
    except asyncio.TimeoutError:
        early = b""
    writer.close()
    return ["answered too early"] if early else []


def compare(recorded, answer):
    differences = []
    if recorded["status"] != answer.status:
        differences.append(f"status {recorded['status']} ≠ {answer.status}")
    expected = {key.lower(): value for key, value in recorded["headers"]}
    for name in COMPARED_HEADERS:
        if expected.get(name) != answer.headers.get(name):
            differences.append(f"{name} {expected.get(name)} ≠ {answer.headers.get(name)}")
    if recorded.get("bodyClipped"):
        if hashlib.sha256(answer.body).hexdigest() != recorded["bodySha256"]:
            differences.append("body differs from the recorded hash")
    elif recorded.get("json") is not None:
        received = json.loads(answer.text)
        if masked(received) != masked(recorded["json"]):
            differences.append(f"body {json.dumps(masked(recorded['json']))} ≠ {json.dumps(masked(received))}")
        # A body that names the port was longer before the recording hid it.
        elif answer.text == recorded["body"] and ":PORT" not in answer.text and expected.get("etag") != answer.headers.get("etag"):
            differences.append(f"etag {expected.get('etag')} ≠ {answer.headers.get('etag')}")
    elif (recorded.get("body") or "") != answer.text:
        differences.append(f"body {recorded.get('body')!r} ≠ {answer.text!r}")
    return differences
