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
from engineio.packet import NOOP, Packet

TRANSPORT_UNKNOWN = (0, "Transport unknown")
SESSION_UNKNOWN = (1, "Session ID unknown")
BAD_METHOD = (2, "Bad handshake method")
BAD_REQUEST = (3, "Bad request")
UNSUPPORTED = (5, "Unsupported protocol version")


class WebSocket(driver.WebSocket):
    """Remembers the request it came with, so that its connection can be cut."""

    async def __call__(self, environ):
        request = environ["aiohttp.request"]
        self._sock = web.WebSocketResponse(
            max_msg_size=self.server.max_http_buffer_size, compress=os.environ.get("PERMESSAGE_DEFLATE") == "1"
        )
        await self._sock.prepare(request)
        self.handler.__self__.latest_request = request
        self.environ = environ
        try:
            await self.handler(self)
        except ValueError:
            pass  # A frame that is no packet: the reference server just closes.
        return self._sock


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
        if session is None or upgrade:
            return await super().handle_request(request)
        if request.method == "POST":
            return await self.post(request, session)
        return await self.poll(request, session)

    def refusal(self, request, upgrade):
        transport, sid = request.query.get("transport"), request.query.get("sid")
        if transport not in ("polling", "websocket"):
            return TRANSPORT_UNKNOWN
        if sid is not None:
            return None if sid in self.sockets and not self.sockets[sid].closed else SESSION_UNKNOWN
        if request.method not in ("GET", "OPTIONS"):
            return BAD_METHOD
        if (transport == "websocket") != upgrade:
            return BAD_REQUEST
        return None if request.query.get("EIO") == "4" else UNSUPPORTED

    async def post(self, request, session):
        if (request.content_length or 0) > self.max_http_buffer_size:
            return web.Response(status=413)
        if request.headers.get("Content-Type", "").startswith("application/octet-stream"):
            await self.drop(session)
            return web.Response(status=400)
        response = await super().handle_request(request)
        if session.closed:
            session.queue.put_nowait(Packet(NOOP))  # Lets a poll that still waits go.
        return response

    async def poll(self, request, session):
        if getattr(session, "polling", False):
            await session.close(wait=False)
            return web.Response(status=400)
        session.polling = True
        session.latest_request = request
        try:
            return await super().handle_request(request)
        finally:
            session.polling = False

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
