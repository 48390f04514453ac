"""A server that answers exactly what a test scripted and keeps exactly what it was sent.

    POST /__script/<key>    {"responses": [response, …]}: what requests to /<key>… get, in order;
                            the last one repeats. Registering again starts over, records included.
    GET /__recorded/<key>   {"requests": [{line, headers, body, bodyBase64, chunked, connection,
                            aborted}, …]}. With ?count=n the answer waits until n requests
                            were recorded, with ?aborted=n until n clients gave up, at most
                            ?timeoutMs (10,000); `complete` says whether that came to pass.

A response, every member optional:

    status (200), reason, headers [[name, value], …] sent in order and case as given
    body (text) or bodyBase64        Content-Length is added unless a header or `chunked` says otherwise
    chunked                          the body goes out in chunks
    delayMs                          before the first byte
    dripMs, dripBytes (1)            pause after every so many bytes of the body
    closeAfterBytes                  the connection ends after so many bytes of the body, as sent
    never                            no answer at all, until the client goes away
    reset                            that end is a TCP reset
    raw (base64)                     exactly these bytes, then the connection ends

/__proxy is for proxies that fail on purpose, see faults.py; /__hostile for servers that attack, see hostile_server.py;
/__payloads for what is large where it arrives, see hostile_payloads.py;
/__refusal answers 401 before the body and leaves it to the client to end the connection;
/__sink, /__source and /__form for large bodies and forms with files, see transfers.py.

Requests to a key without a script get a 599 and are recorded all the same. `connection`
numbers the TCP connections a request came over, so that reuse can be seen.
"""

import asyncio
import base64
import json
import socket
import struct
from http import HTTPStatus
from urllib.parse import parse_qs

from . import hostile_payloads
from .hostile_server import HostileServer
from .http_request import Incoming, Request, MalformedRequest
from .transfers import parsed_form, send_source

CHUNK = 1024
BODILESS = (204, 304)


class Key:
    """One key's script and what came in for it."""

    def __init__(self):
        self.responses = []
        self.next = 0
        self.requests = []
        self.changed = asyncio.Condition()

    def take(self):
        if not self.responses:
            return {"status": 599, "reason": "Nothing Scripted"}
        response = self.responses[min(self.next, len(self.responses) - 1)]
        self.next += 1
        return response

    async def note(self, change):
        async with self.changed:
            change()
            self.changed.notify_all()


class ScriptServer:
    def __init__(self, proxies):
        self.proxies = proxies
        self.hostile = HostileServer(proxies.host, proxies.tls)
        self.keys = {}
        self.connections = 0

    async def start(self, host, tls=None):
        server = await asyncio.start_server(self.serve, host, 0, ssl=tls)
        return server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        self.connections += 1
        number = self.connections
        incoming = Incoming(reader)
        try:
            while True:
                request = await Request.read(incoming, writer)
                if request is None or not await self.answer(request, number, incoming, writer):
                    break
        except MalformedRequest as error:
            writer.write(f"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n{error}\n".encode())
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def answer(self, request, number, incoming, writer):
        """Whether the connection is to be kept."""
        path, _, search = request.path.partition("?")
        parts = path.split("/")
        if parts[1:2] == ["__script"] and request.method == "POST":
            self.keys[parts[2]] = key = Key()
            key.responses = json.loads(request.body)["responses"]
            return await send_json(writer, {"registered": len(key.responses)})
        if parts[1:2] == ["__recorded"]:
            return await send_json(writer, await self.recorded(parts[2], parse_qs(search)))
        if parts[1:2] == ["__proxy"]:
            status, answer = await self.proxies.answer(request.method, "/".join(parts[2:]), search, request.body)
            return await send_json(writer, answer, status)
        if parts[1:2] == ["__hostile"]:
            status, answer = await self.hostile.answer(request.method, "/".join(parts[2:]), search, request.body)
            return await send_json(writer, answer, status)
        if parts[1:2] == ["__payloads"]:
            return await hostile_payloads.answer(request, parts[2:], search, incoming, writer)
        if parts[1:2] == ["__sink"]:
            return await send_json(writer, {"sha256": request.digest, "length": request.length, "headers": request.headers})
        if parts[1:2] == ["__refusal"]:
            await send_json(writer, {}, 401)
            await incoming.closed()
            return False
        if parts[1:2] == ["__source"]:
            return await send_source(incoming, writer, int(parts[2]), parse_qs(search))
        if parts[1:2] == ["__form"]:
            return await send_json(writer, await parsed_form(request))
        key = self.keys.setdefault(parts[1] if len(parts) > 1 else "", Key())
        record = {**request.record(), "connection": number, "aborted": False}
        await key.note(lambda: key.requests.append(record))
        try:
            kept = await Reply(key.take(), request, incoming, writer).send()
        except ConnectionError:
            kept = None
        if kept is None:
            await key.note(lambda: record.update(aborted=True))
        return bool(kept)

    async def recorded(self, name, options):
        key = self.keys.setdefault(name, Key())
        count = int(options.get("count", ["0"])[0])
        aborted = int(options.get("aborted", ["0"])[0])
        timeout = float(options.get("timeoutMs", ["10000"])[0]) / 1000

        def complete():
            return len(key.requests) >= count and sum(one["aborted"] for one in key.requests) >= aborted

        try:
            async with key.changed:
                await asyncio.wait_for(key.changed.wait_for(complete), timeout)
        except asyncio.TimeoutError:
            pass
        return {"requests": key.requests, "complete": complete()}


async def send_json(writer, value, status=200):
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return True


class Reply:
    """One scripted response on its way to one request."""

    def __init__(self, script, request, incoming, writer):
        self.script = script
        self.request = request
        self.incoming = incoming
        self.writer = writer

    async def send(self):
        """True: keep the connection. False: end it. None: the client ended it first."""
        if self.script.get("never"):
            await self.incoming.closed()
            return None
        if not await self.pause(self.script.get("delayMs")):
            return None
        if "raw" in self.script:
            self.writer.write(base64.b64decode(self.script["raw"]))
            await self.writer.drain()
            return False
        body = self.body()
        self.writer.write(self.head(body))
        if self.request.method == "HEAD" or self.status in BODILESS or self.status < 200:
            body = b""
        elif self.script.get("chunked"):
            body = in_chunks(body)
        return await self.send_body(body)

    async def send_body(self, body):
        limit = self.script.get("closeAfterBytes")
        remaining = body if limit is None else body[:limit]
        drip = self.script.get("dripMs")
        step = self.script.get("dripBytes", 1) if drip else max(len(remaining), 1)
        for start in range(0, len(remaining), step):
            self.writer.write(remaining[start : start + step])
            await self.writer.drain()
            if not await self.pause(drip):
                return None
        await self.writer.drain()
        if limit is not None:
            if self.script.get("reset"):
                # With nothing to linger for, closing is a reset.
                self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        both = [*self.headers, *self.request.headers]
        return not any(name.lower() == "connection" and value.lower() == "close" for name, value in both)

    @property
    def status(self):
        return self.script.get("status", 200)

    @property
    def headers(self):
        return self.script.get("headers") or []

    def body(self):
        if self.script.get("bodyBase64") is not None:
            return base64.b64decode(self.script["bodyBase64"])
        return (self.script.get("body") or "").encode("utf-8", "surrogatepass")

    def head(self, body):
        known = {status.value: status.phrase for status in HTTPStatus}
        reason = self.script.get("reason", known.get(self.status, ""))
        lines = [f"HTTP/1.1 {self.status} {reason}"] + [f"{name}: {value}" for name, value in self.headers]
        names = {name.lower() for name, _ in self.headers}
        if self.script.get("chunked"):
            if "transfer-encoding" not in names:
                lines.append("Transfer-Encoding: chunked")
        elif not names & {"content-length", "transfer-encoding"} and self.status not in BODILESS and self.status >= 200:
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")

    async def pause(self, milliseconds):
        """Waits, unless the client goes away: False then."""
        if not milliseconds:
            return True
        closed = asyncio.ensure_future(self.incoming.closed())
        done, _ = await asyncio.wait({closed}, timeout=milliseconds / 1000)
        # The stream has one reader at a time: this one must be gone before the next begins.
        closed.cancel()
        await asyncio.gather(closed, return_exceptions=True)
        return not done


def in_chunks(body):
    pieces = [body[start : start + CHUNK] for start in range(0, len(body), CHUNK)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
