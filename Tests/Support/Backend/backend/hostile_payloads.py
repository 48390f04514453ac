"""Answers and messages that are small on the way, or allowed, and large where they arrive.

    GET /__payloads/json/<unit>/<bytes>/…                    a JSON array of about so many bytes, compressed; with ?chunked in chunks
    GET /__payloads/noops/<bytes>/?EIO=4…                    polling: so many bytes of packets `6` as the answer to every poll, compressed
    GET /__payloads/early/<unit>/<count>/<bytes>/?EIO=4…     WebSocket: so many events instead of an answer to CONNECT
    GET /__payloads/events/<unit>/<count>/<bytes>/?EIO=4…    WebSocket: so many events once the namespace is joined, then `done created`

A unit is what the array repeats: zeros, arrays, objects or members, or mixed, which compression makes about 50 times smaller. The
events are `messages created` and carry such an array each.
"""

import asyncio
import base64
import hashlib
import random
import zlib
from functools import lru_cache
from urllib.parse import parse_qs

from .websockets import ANSWER, GUID, TEXT, frame

HANDSHAKE = b'0{"sid":"payloads","upgrades":[],"pingInterval":600000,"pingTimeout":600000,"maxPayload":1000000}'
UNITS = {"zeros": b"0", "arrays": b"[0]", "objects": b"{}", "members": b'{"":0}'}
PIECE = 1 << 16
CHUNK = 8000


async def answer(request, parts, search, incoming, writer):
    """Whether the connection is to be kept."""
    kind, *arguments = parts
    if kind == "json":
        body = await asyncio.to_thread(compressed_array, arguments[0], int(arguments[1]))
        return await send(writer, body, compressed=True, chunked="chunked" in search)
    if (request.header("upgrade") or "").lower() == "websocket":
        await speak(request, kind, arguments, incoming, writer)
        return False
    if request.method == "POST":
        return await send(writer, b"ok")
    if "sid" not in parse_qs(search):
        return await send(writer, HANDSHAKE)
    return await send(writer, await asyncio.to_thread(compressed_noops, int(arguments[0])), compressed=True)


async def send(writer, body, compressed=False, chunked=False):
    encoding = b"Content-Encoding: gzip\r\n" if compressed else b""
    framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
    if chunked:
        pieces = [body[start : start + CHUNK] for start in range(0, len(body), CHUNK)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    writer.write(b"HTTP/1.1 200 OK\r\n%s\r\n%s\r\n" % (framing, encoding) + body)
    await writer.drain()
    return True


async def speak(request, kind, arguments, incoming, writer):
    proof = base64.b64encode(hashlib.sha1(request.header("sec-websocket-key").encode() + GUID).digest())
    writer.write(ANSWER.replace(b"{accept}", proof) + frame(TEXT, HANDSHAKE))
    await writer.drain()
    # The client's CONNECT; what it says does not matter.
    await incoming.more()
    if kind == "events":
        writer.write(frame(TEXT, b'40{"sid":"s"}'))
    event = await asyncio.to_thread(event_of, arguments[0], int(arguments[2]))
    for _ in range(int(arguments[1])):
        writer.write(event)
        await writer.drain()
    writer.write(frame(TEXT, b'42["done created",1]'))
    await writer.drain()
    await incoming.closed()


def array(unit, size):
    """The pieces of an array of about this many bytes."""
    element = UNITS.get(unit, b"0") + b","
    # What repeats only after 64 KiB is farther away than compression looks.
    start = b'"%s",' % random.Random(unit).randbytes(1024).hex().encode() if unit == "mixed" else b""
    piece = start + element * ((PIECE - len(start)) // len(element))
    yield b"["
    for _ in range(size // len(piece)):
        yield piece
    yield element[:-1] + b"]"


@lru_cache(maxsize=None)
def compressed_array(unit, size):
    return compressed(array(unit, size))


@lru_cache(maxsize=None)
def compressed_noops(size):
    return compressed([b"6\x1e" * (size // 2), b"6"])


def compressed(pieces):
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(compressor.compress(piece) for piece in pieces) + compressor.flush()


@lru_cache(maxsize=4)
def event_of(unit, size):
    return frame(TEXT, b'42["messages created",' + b"".join(array(unit, size)) + b"]")
