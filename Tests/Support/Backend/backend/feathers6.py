"""The services as FeathersJS 6 (pre-release) has them, below /v6: calls over HTTP, events over server-sent events.

    GET /v6/sse              the events of every service, and first {"event": "connected"}; the Authorization header says for whom
    GET /v6/private-sse      the same for authenticated callers only
    .../v6/streams           any method, whose result arrives item by item, see Streams
    .../v6/uploads           says what it was sent: {"method", "id", "type", "length", "sha256", "fields"}

What differs from version 5, as recorded in Tests/Support/Wire/http-sse.json: no charset and no entity tag, 404s in other words, JSON without a body is
refused, and a body that is no JSON reaches the service as it is.
"""

import asyncio
import hashlib
import json
from urllib.parse import quote

from aiohttp import web

from . import query_string
from .authentication import parse_header
from .errors import FeathersError
from .javascript import dumps
from .rest import REST, URL_SAFE, received_headers, status

PREFIX = "/v6"
HEADERS = {"Access-Control-Allow-Origin": "*"}
STREAM_HEADERS = {**HEADERS, "Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


def frame(value):
    return f"data: {dumps(value)}\n\n".encode()


class EventStream:
    """One client's stream of events."""

    def __init__(self, channels, request):
        self.channels = channels
        self.request = request
        self.frames = asyncio.Queue()
        # A mute stream stands for a connection that is gone and does not know it.
        self.is_mute = False

    def send(self, data):
        if not self.is_mute:
            self.frames.put_nowait(data)

    def cut(self):
        self.request.transport.abort()

    def end(self):
        self.frames.put_nowait(None)


class EventStreams:
    """All open streams of events."""

    def __init__(self):
        self.open = []

    def publish(self, channel, path, event, data):
        for stream in self.open:
            if channel in stream.channels:
                stream.send(frame({"event": event, "data": data, "path": path}))


class Streams:
    """Services whose results arrive item by item. The id, or `data.kind`, says how:

    many (100 items), empty, one, unicode, slow (two items, the first late), endless, fail (ends after two items as if complete),
    cut (the connection ends after two items), last ({"isLast": true} at the end), refused (an error first), plain (no stream at all)
    """

    methods = ("find", "get", "create", "update", "patch", "remove", "tokens")
    publishes = False

    def __init__(self):
        self.running = 0

    async def items(self, kind, count):
        self.running += 1
        try:
            if kind == "many":
                for index in range(count or 100):
                    yield {"n": index}
            elif kind in ("fail", "cut", "last"):
                yield {"n": 0}
                yield {"n": 1}
                if kind == "cut":
                    await asyncio.sleep(0.05)
                    raise ConnectionAbortedError
                if kind == "last":
                    yield {"n": 2, "isLast": True}
            elif kind == "one":
                yield {"n": 0}
            elif kind == "unicode":
                yield {"text": "aé€😀\u2028\n\r"}
            elif kind == "slow":
                await asyncio.sleep(0.3)
                yield {"n": 0}
                yield {"n": 1}
            elif kind == "endless":
                index = 0
                while True:
                    yield {"n": index}
                    index += 1
                    await asyncio.sleep(0)
            elif kind == "silent":
                yield {"n": 0}
                await asyncio.sleep(3600)
        finally:
            self.running -= 1

    def result(self, kind, context):
        if kind == "refused":
            raise FeathersError("Conflict", "Not now", {"why": "test"})
        if kind == "plain":
            return [{"n": 0}, {"n": 1}]
        if kind == "echo":
            return {"method": context.method, "data": context.data, "query": context.query}
        return self.items(kind, int(context.query.get("count", 0)))

    async def get(self, context):
        return self.result(context.id, context)

    patch = update = remove = get

    async def find(self, context):
        return self.result(context.query.get("kind", "many"), context)

    async def create(self, context):
        return self.result((context.data or {}).get("kind", "many"), context)

    tokens = create


class Uploads:
    """Says what it was sent."""

    methods = ("create", "update", "patch")
    publishes = False

    async def create(self, context):
        return {"method": context.method, **({"id": context.id} if context.id is not None else {}), **context.data}

    update = patch = create


class Feathers6(REST):
    def __init__(self, app):
        super().__init__(app)
        self.streams = EventStreams()
        app.event_streams = self.streams
        app.services["streams"] = self.results = Streams()
        app.services["uploads"] = Uploads()

    async def handle(self, request):
        # A client that goes away ends its streams, as a server should do; what it called runs to its end.
        path = request.raw_path.partition("?")[0]
        if path in (f"{PREFIX}/sse", f"{PREFIX}/private-sse"):
            return await self.events(request, isPrivate=path.endswith("private-sse"))
        return await self.answer(request)

    async def respond(self, request, headers):
        path, _, search = request.raw_path.partition("?")
        path = path[len(PREFIX) :]
        found = self.app.lookup(path)
        if found is None:
            raise FeathersError("NotFound", f"Path /{path.strip('/')} not found")
        template, id, route = found
        method = self.method(request, template, id)
        params = {
            "query": query_string.parse(search),
            "provider": "rest",
            "headers": received_headers(request),
            "route": route,
            "authentication": parse_header(request.headers.get("Authorization")),
        }
        data = await self.data(request)
        context = await asyncio.shield(self.app.call(template, method, id, data, params))
        if hasattr(context.result, "__aiter__"):
            return await self.stream(request, context.result)
        headers.update(context.headers)
        if context.location is not None:
            headers["Location"] = quote(context.location, safe=URL_SAFE)
        return json_response(status(context), context.body, headers)

    async def data(self, request):
        if request.method not in ("POST", "PUT", "PATCH"):
            return None
        kind = request.headers.get("Content-Type", "")
        if "application/json" in kind:
            try:
                value = json.loads(await request.read())
            except ValueError:
                value = None
            if value is None:
                raise FeathersError("BadRequest", "Invalid request body")
            return value
        if "multipart/form-data" in kind:
            fields = {}
            async for part in await request.multipart():
                body = await part.read()
                file = {"filename": part.filename, "type": part.headers.get("Content-Type"), "length": len(body)}
                fields[part.name] = file if part.filename else body.decode()
            return {"type": "multipart/form-data", "fields": fields}
        digest, length = hashlib.sha256(), 0
        async for piece in request.content.iter_any():
            digest.update(piece)
            length += len(piece)
        return {"type": kind, "length": length, "sha256": digest.hexdigest()}

    async def stream(self, request, items):
        response = web.StreamResponse(status=200, headers=STREAM_HEADERS)
        response.enable_chunked_encoding()
        await response.prepare(request)
        try:
            async for item in items:
                await response.write(frame(item))
            await response.write_eof()
        except ConnectionAbortedError:
            request.transport.abort()
        except ConnectionError:
            pass  # The client has gone.
        finally:
            await items.aclose()
        return response

    async def events(self, request, isPrivate):
        if request.method != "GET":
            return self.refuse(request, FeathersError("MethodNotAllowed", f"Method {request.method} not allowed"), {})
        channels = {"public"}
        authentication = parse_header(request.headers.get("Authorization"))
        try:
            if authentication:
                self.app.services["authentication"].authenticate(authentication)
                channels.add("authenticated")
            elif isPrivate:
                raise FeathersError("NotAuthenticated", "Not authenticated")
        except FeathersError as error:
            return self.refuse(request, error, {})
        query = query_string.parse(request.raw_path.partition("?")[2])
        response = web.StreamResponse(status=200, headers=STREAM_HEADERS)
        response.enable_chunked_encoding()
        stream = EventStream(channels, request)
        stream.send(frame({"event": "connected", "data": query, "path": request.path[len(PREFIX) + 1 :]}))
        try:
            await response.prepare(request)
        except ConnectionError:
            return response  # The client has gone.
        self.streams.open.append(stream)
        try:
            while (data := await stream.frames.get()) is not None:
                await response.write(data)
            await response.write_eof()
        except ConnectionError:
            pass  # The client has gone.
        finally:
            self.streams.open.remove(stream)
        return response

    def refuse(self, request, error, headers):
        return json_response(error.code, error.to_json(), headers)


def json_response(code, value, headers):
    if code == 204:
        return web.Response(status=204, headers={**HEADERS, **headers})
    response = web.Response(status=code, body=dumps(value).encode(), headers={**HEADERS, **headers, "Content-Type": "application/json"})
    response.enable_chunked_encoding()
    return response
