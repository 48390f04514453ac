"""A server that plays one row of the table in hostile.py to each test that asks for it.

    GET /__hostile           {"behaviors": [{name, protocol, outcome, stalls}, …]}
    POST /__hostile/<key>    {"behavior": name, "count": n, "padding": n}: what happens below /<key> from now on. `count` is
                             for a flood, `padding` makes the right answers longer. Answers {"url": "http://…/<key>"}, or an
                             https one if the behavior needs that.
                             Sessions that stand go on as they began.
    GET /__hostile/<key>     {"connections", "open", "requests", "refreshes", "length", "calls", "smuggled"}: TCP connections so
                             far, those that stand, HTTP requests, tokens that were refreshed, how long the last answer was
                             that was cut, calls of hostile lists, and those whose query has operators of a record. With ?open=n the answer waits until
                             exactly so many stand, at most ?timeoutMs (10,000); `complete` says whether it is so.

The right answer to a read of record n, and to a creation with {"n": n}, is {"id": n, "text": "right"}. Where a path has
/socket.io/, Socket.IO is spoken, over WebSockets or polling. To who wants an event stream, it is an event named `record`, or, at
/sse, FeathersJS 6's `created` after its greeting; then the stream stays open.
"""

import asyncio
import base64
import hashlib
import json
import re
import socket
import struct
import time
import zlib
from collections import deque
from functools import lru_cache
from urllib.parse import parse_qs, unquote_plus

from .hostile import CONNECTED, EVENT_STREAM, GREETING, HANDSHAKE, HEALTHY, OK, RIGHT, ROWS, TABLE, WRONG, Step, answered
from .hostile_lists import is_smuggled, listed
from .http_request import Incoming, MalformedRequest, Request
from .websockets import ANSWER, BINARY, CLOSE, CONTINUATION, GUID, PING, PONG, TEXT, frame, unmasked

TINY = ["6", "43900000001[]", '42["nobody here",1]', '42/else,["nobody here",1]']
# What a flood sends at once. Without the ping, the client would take a long one for silence.
BLOCK = ["2", *(TINY * 250)][:1000]
TRICKLE = 0.01
LATER = 0.005
REFUSAL = '{"name":"NotAuthenticated","message":"jwt expired","code":401,"className":"not-authenticated"}'
CALL = re.compile(r"42(\d+)(\[.*)", re.DOTALL)
USUAL = {"open": (HANDSHAKE,), "connect": (CONNECTED,), "call": (Step("answer"),)}


class HostileServer:
    """What the script server asks for below /__hostile."""

    def __init__(self, host, tls=None):
        self.host = host
        self.tls = tls
        self.port = None
        self.secure = None
        self.elsewhere = None
        self.attacks = {}

    async def answer(self, method, name, search, body):
        """An HTTP status and what to say."""
        if not name:
            names = ("name", "protocol", "outcome", "stalls")
            return 200, {"behaviors": [{name: getattr(row, name) for name in names} for row in TABLE]}
        if method == "POST":
            settings = json.loads(body)
            row = ROWS.get(settings["behavior"])
            if row is None:
                return 404, {"error": f"no behavior is called {settings['behavior']}"}
            await self.start()
            if row.protocol == "https" and not self.secure:
                return 501, {"error": "no certificate, since there is no openssl command"}
            # The name that the certificate is for.
            base = f"https://localhost:{self.secure}" if row.protocol == "https" else f"http://{self.host}:{self.port}"
            attack = self.attacks.setdefault(name, Attack(f"{base}/{name}"))
            attack.begin(row, settings)
            return 200, {"url": attack.url}
        if name not in self.attacks:
            return 404, {"error": f"no attack {name}"}
        return 200, await self.attacks[name].counted(parse_qs(search))

    async def start(self):
        """Two ports, which are two origins, and one with TLS."""
        if self.port is None:
            self.port, self.elsewhere = [await self.listen() for _ in range(2)]
            self.secure = await self.listen(self.tls) if self.tls else None

    async def listen(self, tls=None):
        server = await asyncio.start_server(self.serve, self.host, 0, backlog=1024, ssl=tls)
        return server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        incoming = Incoming(reader)
        attack = None
        try:
            while True:
                request = await Request.read(incoming, writer)
                name = request.path.split("?")[0].split("/")[1] if request else ""
                if name not in self.attacks:
                    break
                if attack is None:
                    attack = self.attacks[name]
                    await attack.count(1)
                attack.requests += 1
                if not await Exchange(self, attack, request, incoming, writer).run():
                    break
        except (ConnectionError, MalformedRequest, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            if attack:
                await attack.count(-1)


class Attack:
    """What one test asked for, and what has come of it."""

    def __init__(self, url):
        self.url = url
        self.row = HEALTHY
        self.flood = self.padding = 0
        self.sessions = {}
        self.connections = self.open = self.requests = self.refreshes = self.length = 0
        self.calls = self.smuggled = 0
        self.changed = asyncio.Condition()

    def begin(self, row, settings):
        self.row = row
        self.flood = settings.get("count", 0)
        self.padding = settings.get("padding", 0)

    def record(self, number):
        padding = {"padding": "x" * self.padding} if self.padding else {}
        return json.dumps({"id": number, "text": "right", **padding}, separators=(",", ":"))

    def issue(self, times, path):
        """A token for a sign-in or a refresh; None for every other call."""
        if path not in ("authentication", "refresh"):
            return None
        self.refreshes += path == "refresh"
        claims = {"sub": "1", "jti": str(self.refreshes)}
        if times[0] is not None:
            claims |= {"iat": time.time() + times[0], "exp": time.time() + times[1]}
        parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "HS256"}, claims)]
        return json.dumps({"accessToken": ".".join([*parts, "c2ln"]), "refreshToken": "r", "user": {"id": 1}})

    def list(self, path, asked, number):
        """The answer to a call of a service with hostile lists, as JSON. `number` is that of the record; None for `find`."""
        self.calls += 1
        self.smuggled += is_smuggled(asked)
        return self.record(number) if number is not None else json.dumps(listed(path, self.calls))

    async def count(self, change):
        async with self.changed:
            self.connections += max(change, 0)
            self.open += change
            self.changed.notify_all()

    async def counted(self, options):
        wanted = options.get("open", [None])[0]
        timeout = float(options.get("timeoutMs", ["10000"])[0]) / 1000

        def complete():
            return wanted is None or self.open == int(wanted)

        try:
            async with self.changed:
                await asyncio.wait_for(self.changed.wait_for(complete), timeout)
        except asyncio.TimeoutError:
            pass
        names = ("connections", "open", "requests", "refreshes", "length", "calls", "smuggled")
        counts = {name: getattr(self, name) for name in names}
        return {**counts, "complete": complete()}


class Exchange:
    """One request, and what comes back."""

    def __init__(self, server, attack, request, incoming, writer):
        self.server = server
        self.attack = attack
        self.row = attack.row
        self.request = request
        self.incoming = incoming
        self.writer = writer

    async def run(self):
        """Whether the connection is kept."""
        if self.writer.get_extra_info("sockname")[1] == self.server.elsewhere:
            if self.wants_events:
                return await self.send(EVENT_STREAM + self.events(WRONG.decode()))
            tells_who = self.request.header("authorization") or self.request.header("x-own")
            return await self.send(answered(WRONG if tells_who else RIGHT))
        if "/socket.io/" not in self.request.path or self.row.protocol == "http":
            return await self.play(self.row.steps, read_number(self.request))
        options = parse_qs(self.request.path.partition("?")[2])
        sid = options.get("sid", [None])[0]
        session = self.attack.sessions.get(sid) if sid else Session(self.attack)
        if session is None:
            return await self.send(answered(b'{"code":1,"message":"Session ID unknown"}', status=b"400 Bad Request"))
        if options.get("transport") == ["websocket"]:
            return await self.web_socket(session)
        return await self.post(session) if self.request.method == "POST" else await self.poll(session)

    # HTTP

    @property
    def wants_events(self):
        return self.request.header("accept") == "text/event-stream"

    def events(self, record):
        """The events of a stream that shows a record."""
        created = '{"event":"created","data":%s,"path":"messages"}' % record
        named = f"event: record\ndata: {created if self.request.path.partition('?')[0].endswith('/sse') else record}\n\n"
        return GREETING + named.encode()

    async def answer(self, number):
        """The right answer. Whether the connection is kept."""
        record = self.attack.record(number)
        if not self.wants_events:
            return await self.send(plain(record.encode()))
        await self.send(EVENT_STREAM + self.events(record))
        await self.incoming.closed()
        return False

    async def send(self, data):
        self.writer.write(self.filled(data))
        await self.writer.drain()
        return True

    def filled(self, data):
        if b"{" not in data:
            return data
        key = (self.request.header("sec-websocket-key") or "").encode()
        name = self.attack.url.rpartition("/")[2]
        elsewhere = f"http://{self.server.host}:{self.server.elsewhere}/{name}"
        data = data.replace(b"{accept}", base64.b64encode(hashlib.sha1(key + GUID).digest()))
        insecure = f"http://{self.server.host}:{self.server.port}/{name}"
        data = data.replace(b"{plain}", insecure.encode())
        return data.replace(b"{here}", self.attack.url.encode()).replace(b"{elsewhere}", elsewhere.encode())

    async def play(self, steps, number=7):
        """Whether the connection is kept."""
        for step in steps:
            if isinstance(step, bytes):
                await self.send(step)
            elif step.kind == "keep":
                return True
            elif step.kind == "answer":
                if not await self.answer(number):
                    return False
            elif step.kind == "once":
                if self.attack.requests == 1:
                    return await self.play(step.data, number)
            elif step.kind == "tokens":
                issued = self.attack.issue(step.data, self.request.path.partition("?")[0].split("/")[2])
                if issued:
                    return await self.send(plain(issued.encode()))
            elif step.kind == "lists":
                place, _, query = self.request.path.partition("?")
                path, *record = place.split("/")[2:]
                await self.send(plain(self.attack.list(path, unquote_plus(query), int(record[0]) if record else None).encode()))
            elif step.kind == "refuse":
                await self.send(answered(REFUSAL.encode(), status=b"401 Unauthorized"))
            elif step.kind == "lottery":
                if number % 3 == 2:
                    await self.incoming.closed()
                    return False
                await asyncio.sleep(LATER * (number % 3))
            elif step.kind == "cut":
                return await self.cut(plain(self.attack.record(number).encode()), number, step.data)
            elif not await self.do(step):
                return False
        return False

    async def do(self, step):
        """What is the same of HTTP and of WebSockets. Whether more may follow."""
        if step.kind == "endless":
            while True:
                await self.send(step.data)
        if step.kind == "trickle":
            while True:
                for byte in step.data:
                    await self.send(bytes([byte]))
                    await asyncio.sleep(TRICKLE)
        if step.kind == "bomb":
            return await self.send(bomb(*step.data))
        if step.kind == "hold":
            await self.incoming.closed()
        elif step.kind == "reset":
            self.reset()
        return False

    async def cut(self, whole, number, end):
        self.attack.length = len(whole)
        await self.send(whole[:number])
        if end == "reset":
            self.reset()
        return False

    def reset(self):
        # With nothing to linger for, closing is a reset.
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    # Polling

    async def poll(self, session):
        if session.sid not in self.attack.sessions:
            self.attack.sessions[session.sid] = session
            session.tell("open")
        if session.answers_at_once:
            return await self.send(plain(b"6"))
        packets = []
        while not packets or session.outbox.items:
            item = await session.outbox.get(self.incoming)
            if item is None:
                return False
            if isinstance(item, Step) and packets:
                session.outbox.put_back(item)
                break
            if not isinstance(item, Step):
                packets.append(item if isinstance(item, str) else "b" + base64.b64encode(item).decode())
            elif item.kind == "flood":
                packets += BLOCK
                if item.data > len(BLOCK):
                    session.outbox.put_back(Step("flood", item.data - len(BLOCK)))
            elif item.kind == "noops":
                session.answers_at_once = True
                packets.append("6")
            elif item.kind == "http":
                return await self.play(item.data)
            elif item.kind == "cut":
                answer, number, end = item.data
                return await self.cut(plain(answer), number, end)
            else:
                return await self.do(item)
            if len(packets) >= len(BLOCK):
                break
        return await self.send(plain("\x1e".join(packets).encode("utf-8", "surrogatepass")))

    async def post(self, session):
        if "post" in session.row.at:
            return await self.play(session.row.at["post"])
        for packet in self.request.body.decode().split("\x1e"):
            session.received(packet)
        return await self.send(plain(b"ok"))

    # WebSockets

    async def web_socket(self, session):
        if "websocket" in session.row.at:
            return await self.play(session.row.at["websocket"])
        await self.send(ANSWER)
        session.tell("open")
        writing = asyncio.ensure_future(self.write_out(session))
        try:
            while await self.received_frame(session):
                pass
        finally:
            writing.cancel()
        return False

    async def received_frame(self, session):
        """Whether the connection goes on."""
        opcode, payload = await read_frame(self.incoming)
        if opcode == CLOSE:
            await self.send(frame(CLOSE, payload[:2]))
            return False
        if opcode == PING:
            await self.send(frame(PONG, payload))
        if opcode not in (TEXT, BINARY, CONTINUATION):
            return True
        session.received(payload.decode())
        return True

    async def write_out(self, session):
        try:
            while await self.emit(await session.outbox.get()):
                pass
        except ConnectionError:
            self.writer.close()

    async def emit(self, item):
        """Whether more may follow."""
        if isinstance(item, str):
            return await self.send(frame(TEXT, item.encode("utf-8", "surrogatepass")))
        if isinstance(item, bytes):
            return await self.send(frame(BINARY, item))
        if item.kind == "raw":
            return await self.send(item.data)
        if item.kind == "hold":
            return False
        if item.kind == "flood":
            block = b"".join(frame(TEXT, packet.encode()) for packet in BLOCK)
            for _ in range(item.data // len(BLOCK)):
                await self.send(block)
            return True
        if item.kind == "cut":
            answer, number, end = item.data
            await self.cut(frame(TEXT, answer), number, end)
        else:
            await self.do(item)
        self.writer.close()
        return False


class Session:
    """A Socket.IO session: what it hears, and what waits to be sent."""

    def __init__(self, attack):
        self.attack = attack
        self.row = attack.row
        self.sid = f"session-{id(self)}-{attack.requests}"
        self.outbox = Outbox()
        self.answers_at_once = False

    def steps(self, stage):
        return self.row.at.get(stage, USUAL[stage])

    def tell(self, stage, call="", number=7, path=None):
        for step in self.steps(stage):
            issued = self.attack.issue(step.data, path) if isinstance(step, Step) and step.kind == "tokens" else None
            if issued:
                self.outbox.put(f"43{call}[null,{issued}]")
                return
            self.prepare(step, call, number)

    def prepare(self, step, call, number):
        answer = f"43{call}[null,{self.attack.record(number)}]"
        if isinstance(step, str):
            self.outbox.put(step.replace("{id}", call).replace("{sid}", self.sid))
        elif isinstance(step, bytes):
            self.outbox.put(step)
        elif step.kind == "answer":
            self.outbox.put(answer)
        elif step.kind == "refuse":
            self.outbox.put(f"43{call}[{REFUSAL}]")
        elif step.kind == "tokens":
            pass
        elif step.kind == "lottery":
            if number % 3 == 0:
                self.outbox.put(answer)
            elif number % 3 == 1:
                asyncio.get_running_loop().call_later(LATER, self.outbox.put, answer)
        elif step.kind == "cut":
            self.outbox.put(Step("cut", (answer.encode(), number, step.data)))
        elif step.kind == "flood":
            self.outbox.put(Step("flood", self.attack.flood))
        else:
            self.outbox.put(step)

    def received(self, packet):
        call = CALL.match(packet)
        if call:
            arguments = json.loads(call[2])
            if any(isinstance(step, Step) and step.kind == "lists" for step in self.steps("call")):
                method, path, subject, *_ = arguments
                number = int(subject) if method == "get" else None
                self.outbox.put(f"43{call[1]}[null,{self.attack.list(path, call[2], number)}]")
                return
            self.tell("call", call[1], number_in(arguments), arguments[1] if len(arguments) > 1 else None)
        elif packet.startswith("40"):
            self.tell("connect")
        elif packet == "1":
            # Releases the poll that waits.
            self.outbox.put("6")
            self.attack.sessions.pop(self.sid, None)


class Outbox:
    """Packets and steps that wait for a poll, or for a WebSocket."""

    def __init__(self):
        self.items = deque()
        self.filled = asyncio.Event()

    def put(self, item):
        self.items.append(item)
        self.filled.set()

    def put_back(self, item):
        self.items.appendleft(item)
        self.filled.set()

    async def get(self, incoming=None):
        """The next one; None once the client that waits for it has gone."""
        while not self.items:
            self.filled.clear()
            waits = [asyncio.ensure_future(self.filled.wait())]
            if incoming:
                waits.append(asyncio.ensure_future(incoming.closed()))
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
                # The stream has one reader at a time: this one must be gone before the next begins.
                await asyncio.gather(*waits, return_exceptions=True)
            if incoming and incoming.ended:
                return None
        return self.items.popleft()


def plain(body):
    return OK + b"Content-Length: %d\r\n\r\n" % len(body) + body


@lru_cache(maxsize=None)
def bomb(start, unit, times, end):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = packer.compress(start) + b"".join(packer.compress(unit) for _ in range(times)) + packer.compress(end) + packer.flush()
    return answered(body, b"Content-Encoding: gzip")


def read_number(request):
    """Which record an HTTP request is about."""
    last = request.path.partition("?")[0].rpartition("/")[2]
    if last.isdigit():
        return int(last)
    try:
        return json.loads(request.body)["n"]
    except (ValueError, KeyError, TypeError):
        return 7


def number_in(arguments):
    """Which record a call is about: ["get", path, id, query] or ["create", path, {"n": n}, query]."""
    subject = arguments[2] if len(arguments) > 2 else None
    if isinstance(subject, dict):
        subject = subject.get("n")
    return int(subject) if str(subject).isdigit() else 7


async def read_frame(incoming):
    first, second = await incoming.exactly(2)
    length = second & 127
    if length == 126:
        (length,) = struct.unpack(">H", await incoming.exactly(2))
    elif length == 127:
        (length,) = struct.unpack(">Q", await incoming.exactly(8))
    key = await incoming.exactly(4)
    return first & 15, unmasked(await incoming.exactly(length), key)
