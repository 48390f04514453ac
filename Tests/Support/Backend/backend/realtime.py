"""Services over Socket.IO: calls with acknowledgements, events to channels."""

import asyncio
import os
import sys
import traceback

import socketio
from socketio.exceptions import ConnectionRefusedError
from socketio.packet import CONNECT, CONNECT_ERROR, DISCONNECT, EVENT

from . import engine, javascript, shared_store
from .authentication import parse_header
from .context import Connection
from .errors import FeathersError, PlainError, ThrownString, as_socket
from .rest import received_headers

# Where the query stands among a call's arguments.
QUERY_POSITION = {"find": 0, "update": 2, "patch": 2}
HANDSHAKE = {"sid", "upgrades", "pingInterval", "pingTimeout", "maxPayload"}
SETTINGS = {"PING_INTERVAL": 25_000, "PING_TIMEOUT": 20_000, "MAX_PAYLOAD": 1_000_000, "CONNECT_TIMEOUT": 45_000}
RESERVED = ("connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener")


def setting(name):
    return int(os.environ.get(name, SETTINGS[name]))


class Wire:
    """The JSON of both protocols."""

    loads = staticmethod(javascript.loads)

    @staticmethod
    def dumps(value, **_):
        if isinstance(value, dict) and value.keys() == HANDSHAKE:
            # python-engineio knows whole seconds only.
            milliseconds = {"pingInterval": setting("PING_INTERVAL"), "pingTimeout": setting("PING_TIMEOUT")}
            value = {"sid": value["sid"], "upgrades": value["upgrades"], **milliseconds, "maxPayload": value["maxPayload"]}
        return javascript.dumps(value)


class SocketServer(socketio.AsyncServer):
    """Closes the connection where the reference server calls it a parse error."""

    def _engineio_server_class(self):
        return engine.EngineServer

    async def _handle_eio_connect(self, eio_sid, environ):
        timeout = setting("CONNECT_TIMEOUT") / 1000
        asyncio.get_running_loop().call_later(timeout, lambda: asyncio.ensure_future(self._expect_connected(eio_sid)))
        return await super()._handle_eio_connect(eio_sid, environ)

    async def _expect_connected(self, eio_sid):
        if not self.manager.sid_from_eio_sid(eio_sid, "/"):
            await self._drop(eio_sid)

    async def _handle_eio_message(self, eio_sid, data):
        try:
            if self._violates_protocol(eio_sid, data):
                return await self._drop(eio_sid)
            await super()._handle_eio_message(eio_sid, data)
        except (ValueError, IndexError, TypeError, AttributeError):
            self._binary_packet.pop(eio_sid, None)
            await self._drop(eio_sid)

    def _violates_protocol(self, eio_sid, data):
        if eio_sid in self._binary_packet or not isinstance(data, str):
            return isinstance(data, str) or eio_sid not in self._binary_packet
        packet = self.packet_class(encoded_packet=data)
        connected = self.manager.sid_from_eio_sid(eio_sid, packet.namespace or "/")
        if packet.packet_type == CONNECT:
            return bool(connected)
        if packet.packet_type == EVENT:
            name = packet.data[0] if isinstance(packet.data, list) and packet.data else None
            return not connected or not isinstance(name, (str, int)) or name in RESERVED
        return packet.packet_type == CONNECT_ERROR or (not connected and packet.packet_type != DISCONNECT)

    async def _drop(self, eio_sid):
        session = self.eio.sockets.get(eio_sid)
        if session:
            await self.eio.drop(session)

    async def _handle_connect(self, eio_sid, namespace, data):
        if (namespace or "/") == "/":
            return await super()._handle_connect(eio_sid, namespace, data)
        refusal = self.packet_class(CONNECT_ERROR, data={"message": "Invalid namespace"}, namespace=namespace)
        await self._send_packet(eio_sid, refusal)


class Realtime:
    def __init__(self, app, site):
        self.app = app
        self.connections = {}
        self.sockets = SocketServer(
            async_mode="aiohttp",
            json=Wire,
            # Between the nodes of one application, events go by way of Redis.
            client_manager=socketio.AsyncRedisManager(shared_store.URL, json=Wire) if shared_store.URL else None,
            cors_allowed_origins="*",
            ping_interval=setting("PING_INTERVAL") / 1000,
            ping_timeout=setting("PING_TIMEOUT") / 1000,
            max_http_buffer_size=setting("MAX_PAYLOAD"),
        )
        self.sockets.attach(site, socketio_path=os.environ.get("IO_PATH", "socket.io").strip("/"))
        self.sockets.on("connect", self.connected)
        self.sockets.on("disconnect", self.disconnected)
        for method in app.method_names:
            self.sockets.on(method, self.handler(method))

    async def join_nodes(self):
        """Waits until the events of other nodes are heard; at once where there are none."""
        if not shared_store.URL:
            return
        self.sockets.manager_initialized = True
        self.sockets.manager.initialize()
        while not (self.sockets.manager.pubsub and self.sockets.manager.pubsub.subscribed):
            await asyncio.sleep(0.01)

    # Connections

    def all(self):
        return list(self.connections.values())

    async def connected(self, sid, environ, auth):
        request = environ["aiohttp.request"]
        connection = Connection(sid, received_headers(request))
        authentication = parse_header(request.headers.get("Authorization"))
        if authentication:
            params = {"provider": "socketio", "connection": connection}
            try:
                await self.app.call("authentication", "create", data=authentication, params=params)
            except FeathersError as error:
                connection.forget()
                raise ConnectionRefusedError(error.message, *([error.data] if error.data else [])) from None
        self.connections[sid] = connection
        await self.join(connection, "public")

    async def disconnected(self, sid, reason=None):
        connection = self.connections.pop(sid, None)
        if connection:
            connection.forget()

    async def disconnect(self, connection, close=False):
        eio_sid = self.sockets.manager.eio_sid_from_sid(connection.sid, "/")
        await self.sockets.disconnect(connection.sid)
        if close and eio_sid in self.sockets.eio.sockets:
            await self.sockets.eio.end(self.sockets.eio.sockets[eio_sid])

    def kill(self, connection):
        eio_sid = self.sockets.manager.eio_sid_from_sid(connection.sid, "/")
        # A connection that has just ended is still known here for a moment.
        if (socket := self.sockets.eio.sockets.get(eio_sid)) is not None:
            engine.cut(socket)

    # Channels

    async def join(self, connection, channel):
        await self.sockets.enter_room(connection.sid, channel)

    async def leave_all(self, connection):
        for channel in ("public", "authenticated"):
            await self.sockets.leave_room(connection.sid, channel)

    async def publish(self, channel, event, data):
        await self.sockets.emit(event, (data,), room=channel)

    async def broadcast(self, event, *arguments):
        await self.sockets.emit(event, tuple(arguments))

    # Calls

    def handler(self, method):
        async def handle(sid, path=None, *arguments):
            connection = self.connections.get(sid)
            if connection is None:
                return None  # The call crossed with the server's DISCONNECT: nobody waits for an answer.
            try:
                return None, await self.run(connection, method, path, arguments)
            except Exception as error:
                if not isinstance(error, (FeathersError, PlainError, ThrownString)):
                    traceback.print_exc(file=sys.stderr)
                return (as_socket(error),)

        return handle

    async def run(self, connection, method, path, arguments):
        found = self.app.lookup(path) if isinstance(path, str) else None
        if found is None:
            message = f"Service '{path}' not found" if isinstance(path, str) else "Invalid service path"
            raise FeathersError("NotFound", message)
        template, id_in_path, route = found
        if method not in self.app.services[template].methods:
            raise FeathersError("MethodNotAllowed", f"Method '{method}' not allowed on service '{path}'")
        position = QUERY_POSITION.get(method, 1)
        if len(arguments) > position + 1:
            raise FeathersError("BadRequest", f"Too many arguments for '{method}' method")
        arguments = [*arguments, *[None] * (position + 1 - len(arguments))]
        query = arguments[position]
        params = {
            "query": query if isinstance(query, dict) else {},
            "provider": "socketio",
            "headers": connection.headers,
            "route": route if id_in_path is None else {**route, "__id": id_in_path},
            "authentication": connection.authentication,
            "connection": connection,
        }
        id = arguments[0] if method in ("get", "update", "patch", "remove") else None
        if method in ("find", "get", "remove"):
            data = None
        else:
            data = arguments[position - 1]
        return (await self.app.call(template, method, id, data, params)).body
