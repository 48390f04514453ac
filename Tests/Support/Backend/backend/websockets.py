"""A WebSocket server that behaves as badly as the path of the URL says, plain and over TLS.

    /echo                 sends every message back
    /head                 one text message: the request as it was received
    /send/<hex>           these bytes after the opening handshake; answers pongs with a text `pong:…`
    /answer/<hex>         these bytes instead of the opening handshake's answer, {accept} replaced;
                          ?drip=1 byte by byte, ?end=hold (waits for the client), fin or rst
    /endless              an answer's head without end
    /stall                no answer at all
    /flood/<n>/<size>     n text messages of that size, each beginning with its number
    /big/<n>/<size>       one binary message in n fragments of that size
    /rst, /fin, /half     after the first message: resets, ends, or ends one direction only
    /deaf                 reads on, but never answers a close frame
    /slow?key=…           reads nothing before `/release?key=…` is asked for; then answers every text
                          that begins with "total" with the number of bytes received
    /closed?key=…         one text message: the close code that came in under this key, once it has

Every path but the last takes ?key=…, under which the client's close code is kept.
"""

import asyncio
import base64
import hashlib
import socket
import struct
from collections import defaultdict
from urllib.parse import parse_qs, urlsplit

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
ANSWER = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
BUFFER = 1 << 20


def frame(opcode, payload=b"", final=True):
    length = len(payload)
    head = bytes([(0x80 if final else 0) | opcode])
    if length < 126:
        head += bytes([length])
    elif length < 65536:
        head += bytes([126]) + struct.pack(">H", length)
    else:
        head += bytes([127]) + struct.pack(">Q", length)
    return head + payload


def unmasked(payload, key):
    # As one large number: an exclusive or in one step instead of one for every byte.
    length = len(payload)
    mask = int.from_bytes((key * (length // 4 + 1))[:length], "big")
    return (int.from_bytes(payload, "big") ^ mask).to_bytes(length, "big")


class WebSocketServer:
    def __init__(self):
        self.closes = defaultdict(asyncio.Future)
        self.releases = defaultdict(asyncio.Event)

    async def start(self, host, tls=None):
        server = await asyncio.start_server(self.serve, host, 0, limit=BUFFER, backlog=1024, ssl=tls)
        return server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            await Connection(self, reader, writer).run()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass
        finally:
            writer.close()


class Connection:
    def __init__(self, server, reader, writer):
        self.server = server
        self.reader = reader
        self.writer = writer

    async def run(self):
        head = await self.reader.readuntil(b"\r\n\r\n")
        url = urlsplit(head.split(b" ")[1].decode())
        self.options = {name: values[0] for name, values in parse_qs(url.query).items()}
        name, *arguments = url.path[1:].split("/")
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        key = {name.lower(): value for name, value in fields.items()}.get(b"sec-websocket-key", b"")
        self.accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        if name in ("stall", "answer", "endless"):
            return await getattr(self, name)(*arguments)
        self.writer.write(ANSWER.replace(b"{accept}", self.accept))
        if name == "head":
            self.writer.write(frame(TEXT, head))
            return await self.read_on()
        await getattr(self, name)(*arguments)

    # Opening handshakes

    async def stall(self):
        await self.reader.read()

    async def answer(self, text):
        answer = bytes.fromhex(text).replace(b"{accept}", self.accept)
        if "drip" in self.options:
            for index in range(len(answer)):
                self.writer.write(answer[index : index + 1])
                await self.writer.drain()
                await asyncio.sleep(0)
        self.writer.write(b"" if "drip" in self.options else answer)
        await self.writer.drain()
        end = self.options.get("end", "hold")
        if end == "rst":
            self.reset()
        elif end == "hold":
            await self.read_on()

    async def endless(self):
        self.writer.write(b"HTTP/1.1 101 Switching Protocols\r\n")
        while True:
            self.writer.write(b"X-More: " + b"x" * 1000 + b"\r\n")
            await self.writer.drain()

    # Open connections

    async def echo(self):
        await self.read_on(lambda opcode, payload: self.writer.write(frame(opcode, payload)))

    async def send(self, text):
        self.writer.write(bytes.fromhex(text))
        await self.read_on(answers_pongs=True)

    async def flood(self, count, size):
        filler = b"x" * int(size)
        for number in range(int(count)):
            self.writer.write(frame(TEXT, (b"%d:" % number + filler)[: max(int(size), 8)]))
            await self.writer.drain()
        await self.read_on()

    async def big(self, count, size):
        count = int(count)
        for number in range(count):
            self.writer.write(frame(CONTINUATION if number else BINARY, bytes([number % 256]) * int(size), number == count - 1))
            await self.writer.drain()
        await self.read_on()

    async def rst(self):
        await self.read_frame()
        self.reset()

    async def fin(self):
        await self.read_frame()

    async def half(self):
        await self.read_frame()
        if self.writer.can_write_eof():
            self.writer.write_eof()
            await self.read_on()

    async def deaf(self):
        while True:
            opcode, payload = await self.read_frame()
            self.note(opcode, payload)

    async def slow(self):
        await self.server.releases[self.options["key"]].wait()
        total = 0
        while True:
            opcode, payload = await self.read_frame()
            total += len(payload)
            if payload.startswith(b"total"):
                self.writer.write(frame(TEXT, b"%d" % total))
            if opcode == CLOSE:
                return self.writer.write(frame(CLOSE, payload[:2]))

    async def release(self):
        self.server.releases[self.options["key"]].set()
        await self.read_on()

    async def closed(self):
        code = await asyncio.wait_for(asyncio.shield(self.server.closes[self.options["key"]]), 10)
        self.writer.write(frame(TEXT, str(code).encode()))
        self.options = {}
        await self.read_on()

    # Parts

    async def read_on(self, message=lambda opcode, payload: None, answers_pongs=False):
        while True:
            opcode, payload = await self.read_frame()
            if opcode == CLOSE:
                self.note(opcode, payload)
                self.writer.write(frame(CLOSE, payload[:2]))
                return
            if opcode == PING:
                self.writer.write(frame(PONG, payload))
            elif opcode != PONG:
                message(opcode, payload)
            elif answers_pongs:
                self.writer.write(frame(TEXT, b"pong:" + payload))
            await self.writer.drain()

    async def read_frame(self):
        first, second = await self.reader.readexactly(2)
        length = second & 127
        if length == 126:
            (length,) = struct.unpack(">H", await self.reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", await self.reader.readexactly(8))
        key = await self.reader.readexactly(4)
        return first & 15, unmasked(await self.reader.readexactly(length), key)

    def note(self, opcode, payload):
        known = self.server.closes[self.options.get("key", "")]
        if opcode == CLOSE and "key" in self.options and not known.done():
            known.set_result(struct.unpack(">H", payload[:2])[0] if len(payload) > 1 else 1005)

    def reset(self):
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
