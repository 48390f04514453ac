"""Reads HTTP/1.1 requests off a socket without interpreting more than their framing."""

import base64
import hashlib

HEAD_LIMIT = 1024 * 1024


class MalformedRequest(Exception):
    """A request whose framing cannot be followed."""


class Incoming:
    """A stream that can be watched for its end without losing what arrives meanwhile."""

    def __init__(self, reader):
        self.reader = reader
        self.buffer = bytearray()
        self.ended = False

    async def more(self):
        data = await self.reader.read(64 * 1024)
        self.buffer += data
        self.ended = self.ended or not data
        return not self.ended

    async def closed(self):
        """Returns when the other side ends the connection."""
        while not self.ended:
            try:
                await self.more()
            except ConnectionError:
                self.ended = True

    async def until(self, mark, limit=HEAD_LIMIT):
        """Everything up to the mark, which is consumed; None at a clean end."""
        while mark not in self.buffer:
            if len(self.buffer) > limit:
                raise MalformedRequest("line or head too long")
            if not await self.more():
                if self.buffer:
                    raise MalformedRequest("connection ended inside a request")
                return None
        end = self.buffer.index(mark)
        found = await self.exactly(end)
        del self.buffer[: len(mark)]
        return found

    async def exactly(self, count):
        while len(self.buffer) < count:
            if not await self.more():
                raise MalformedRequest("connection ended inside a body")
        found = bytes(self.buffer[:count])
        del self.buffer[:count]
        return found


class Request:
    def __init__(self, line, headers):
        self.line = line
        self.headers = headers
        self.method, _, rest = line.partition(" ")
        self.target = rest.rpartition(" ")[0]
        self.body = b""
        self.chunked = False

    @property
    def path(self):
        """The target's path and query; a proxied request carries scheme and host before it."""
        if "://" in self.target.split("?")[0]:
            return "/" + self.target.split("://", 1)[1].partition("/")[2]
        return self.target

    def header(self, name):
        return next((value for other, value in self.headers if other.lower() == name), None)

    @classmethod
    async def read(cls, incoming, writer):
        """The next request with its body, or None when no more will come."""
        head = await incoming.until(b"\r\n\r\n")
        if head is None:
            return None
        line, *fields = head.decode("latin-1").split("\r\n")
        if line.count(" ") != 2:
            raise MalformedRequest("request line without three parts")
        headers = []
        for field in fields:
            name, colon, value = field.partition(":")
            if not colon:
                raise MalformedRequest("header without a colon")
            headers.append([name, value.strip(" \t")])
        request = cls(line, headers)
        if (request.header("expect") or "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await writer.drain()
        if request.path.startswith("/__sink"):
            request.digest, request.length = await request.digest_body(incoming)
        elif not request.path.startswith("/__refusal"):
            await request.read_body(incoming)
        return request

    async def digest_body(self, incoming):
        """The SHA-256 and the length of a body that is too large to keep."""
        digest = hashlib.sha256()
        length = 0
        async for piece in self.pieces(incoming):
            digest.update(piece)
            length += len(piece)
        return digest.hexdigest(), length

    async def read_body(self, incoming):
        self.body = b"".join([piece async for piece in self.pieces(incoming)])

    async def pieces(self, incoming):
        if (self.header("transfer-encoding") or "").lower() != "chunked":
            length = self.header("content-length") or "0"
            if not length.isdecimal():
                raise MalformedRequest("Content-Length is not a number")
            remaining = int(length)
            while remaining:
                if not incoming.buffer and not await incoming.more():
                    raise MalformedRequest("connection ended inside a body")
                piece = await incoming.exactly(min(remaining, len(incoming.buffer)))
                remaining -= len(piece)
                yield piece
            return
        self.chunked = True
        while True:
            line = await incoming.until(b"\r\n")
            try:
                size = int((line or b"").split(b";")[0], 16)
            except ValueError:
                raise MalformedRequest("chunk without a size") from None
            if size == 0:
                break
            yield await incoming.exactly(size)
            if await incoming.exactly(2) != b"\r\n":
                raise MalformedRequest("chunk longer than its size")
        while await incoming.until(b"\r\n"):
            pass  # Trailers.

    def record(self):
        try:
            text = self.body.decode("utf-8") if self.body else None
        except UnicodeDecodeError:
            text = None
        encoded = base64.b64encode(self.body).decode()
        return {"line": self.line, "headers": self.headers, "body": text, "bodyBase64": encoded, "chunked": self.chunked}
