"""python-engineio made to answer as the reference Engine.IO server does.

What a client can see differs in small things: the JSON of refused requests, `ok`
for a POST, how a session ends when polls overlap or a body is too large, and
compression, which the reference server only speaks when told to.
"""

import asyncio
import os

import engineio
from aiohttp import web
from engineio.async_drivers import aiohttp as driver
from engineio.async_socket import AsyncSocket
from engineio.exceptions import EngineIOError
from engineio.packet import NOOP, PONG, Packet
from engineio.payload import Payload

TRANSPORT_UNKNOWN = (0, "Transport unknown")
SESSION_UNKNOWN = (1, "Session ID unknown")
BAD_METHOD = (2, "Bad handshake method")
BAD_REQUEST = (3, "Bad request")
UNSUPPORTED = (5, "Unsupported protocol version")
AsyncSocket.polling = False  # Until a poll waits.
AsyncSocket.probed = False  # Until a WebSocket of the session has proved itself.
Payload.max_decode_packets = 100_000  # The reference server has no limit.
NOOP_PACKET = Packet(NOOP).encode()
PROBE_ANSWER = Packet(PONG, data="probe").encode()
FROM_CLIENTS = ("1", "3", "4", "5")


class WebSocket(driver.WebSocket):
    """Remembers the request it came with, so that its connection can be cut."""

    async def __call__(self, environ):
        request = environ["aiohttp.request"]
        self._sock = web.WebSocketResponse(
            max_msg_size=self.server.max_http_buffer_size, compress=os.environ.get("PERMESSAGE_DEFLATE") == "1"
        )
        await self._sock.prepare(request)
        self.session = self.handler.__self__
        self.session.latest_request = request
        self.environ = environ
        await self.handler(self)
        return self._sock

    async def send(self, message):
        if message == PROBE_ANSWER:
            self.session.probed = True
        # What releases a poll at an upgrade is not for this transport.
        if message != NOOP_PACKET:
            await super().send(message)

    async def wait(self):
        data = await super().wait()
        # Pings are the server's to send, and the rest is no packet at all: that ends the connection.
        if isinstance(data, str) and not self.session.upgrading and data[:1] not in FROM_CLIENTS:
            raise OSError
        return data


class EngineServer(engineio.AsyncServer):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._async = {**self._async, "websocket": WebSocket}

    async def handle_request(self, request):
        upgrade = request.headers.get("Upgrade", "").lower() == "websocket"
        refusal = self.refusal(request, upgrade)
        if refusal:
            return refuse(refusal, upgrade)
        session = self.sockets.get(request.query.get("sid"))
        if session is None or upgrade or session.upgraded or request.method == "OPTIONS":
            return await super().handle_request(request)
        if request.method == "POST":
            return await self.post(request, session)
        return await self.poll(request, session)

    def _get_socket(self, sid):
        session = self.sockets.get(sid)
        if session is not None and session.closed and not session.queue.empty():
            # python-engineio forgets the session here, and with it the good-bye that the next poll is to take.
            raise KeyError("Session is disconnected")
        return super()._get_socket(sid)

    def refusal(self, request, upgrade):
        transport, sid = request.query.get("transport"), request.query.get("sid")
        if transport not in ("polling", "websocket"):
            return TRANSPORT_UNKNOWN
        if sid is not None:
            return None if sid in self.sockets and not self.is_over(self.sockets[sid], request) else SESSION_UNKNOWN
        if request.method not in ("GET", "OPTIONS"):
            return BAD_METHOD
        if (transport == "websocket") != upgrade:
            return BAD_REQUEST
        return None if request.query.get("EIO") == "4" else UNSUPPORTED

    def is_over(self, session, request):
        """A closed session may still be polled for its last packets."""
        return session.closed and (request.method != "GET" or session.queue.empty())

    async def post(self, request, session):
        # python-engineio's own reading takes the first part of a long body for all of it.
        body = await request.read()
        if len(body) > self.max_http_buffer_size:
            return web.Response(status=413)
        try:
            if request.headers.get("Content-Type", "").startswith("application/octet-stream"):
                raise ValueError("binary payloads went with Engine.IO 3")
            for packet in Payload(encoded_payload=body.decode()).packets:
                await session.receive(packet)
        except (ValueError, EngineIOError):
            await self.drop(session)
            return web.Response(status=400)
        if session.closed and session.polling:
            session.queue.put_nowait(Packet(NOOP))
        return await self._make_response(self._ok(), driver.translate_request(request))

    async def poll(self, request, session):
        if session.polling:
            await session.close(wait=False)
            return web.Response(status=400)
        session.polling = True
        session.latest_request = request
        try:
            if not session.closed and not session.upgrading:
                return await super().handle_request(request)
            # python-engineio has nothing for a poll in these two states.
            # The client waits for its poll to end before it goes over, and nothing else may come that would end it.
            goes_over = session.upgrading and session.probed and session.queue.empty()
            packets = [Packet(NOOP)] if goes_over else await session.poll()
            if session.closed:
                self.sockets.pop(session.sid, None)
            return await self._make_response(self._ok(packets), driver.translate_request(request))
        finally:
            session.polling = False

    async def end(self, session):
        """Ends the session as the reference server's `disconnect(true)` does."""
        if session.upgraded:
            await self.drop(session)
        else:
            await session.close(wait=False)

    async def drop(self, session):
        """Ends the session without an Engine.IO close packet."""
        await session.close(wait=False, abort=True)
        session.queue.put_nowait(None)
        self.sockets.pop(session.sid, None)

    def _ok(self, packets=None, headers=None, jsonp_index=None):
        answer = super()._ok(packets, headers, jsonp_index)
        if packets is None:
            answer.update(headers=[("Content-Type", "text/html")], response=b"ok")
        return answer


def refuse(refusal, upgrade):
    code, message = refusal
    if upgrade:
        response = web.Response(status=400, text=message, content_type="text/html")
        response.force_close()
        return response
    return web.json_response({"code": code, "message": message}, status=400, dumps=compact)


def compact(value):
    return '{"code":%d,"message":"%s"}' % (value["code"], value["message"])


def cut(session):
    """Resets the TCP connection the session uses at the moment."""
    request = getattr(session, "latest_request", None)
    if request is not None and request.transport is not None:
        request.transport.abort()
    asyncio.ensure_future(session.server.drop(session))
