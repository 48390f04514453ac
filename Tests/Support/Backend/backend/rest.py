"""Services over HTTP: @feathersjs/express' routing, status rules and error handler."""

import asyncio
import sys
import traceback
from urllib.parse import quote

from . import express, query_string, swagger
from .authentication import parse_header
from .errors import FeathersError, PlainError, ThrownString, as_rest

VERBS = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "remove"}
DEFAULT_METHODS = ("find", "get", "create", "update", "patch", "remove")
HEADER_LIMIT = 16 * 1024
# encodeurl leaves these alone, escapes already there included.
URL_SAFE = "!#$%&'()*+,/:;=?@[]~^|"


class REST:
    def __init__(self, app):
        self.app = app

    async def handle(self, request):
        # A client that goes away ends its polls, but what it called runs to its end, as in Node.
        return await asyncio.shield(self.answer(request))

    async def answer(self, request):
        if sum(len(name) + len(value) for name, value in request.raw_headers) + len(request.raw_path) > HEADER_LIMIT:
            return too_large(request)
        if request.method == "OPTIONS":
            return express.preflight()
        headers = {}
        try:
            return await self.respond(request, headers)
        except Exception as error:
            if not isinstance(error, (FeathersError, PlainError, ThrownString)):
                traceback.print_exc(file=sys.stderr)
            return self.refuse(request, as_rest(error), headers)

    async def respond(self, request, headers):
        data = await express.read_body(request)
        path, _, search = request.raw_path.partition("?")
        if path in ("/swagger.json", "/protected/swagger.json") and request.method == "GET":
            if path != "/swagger.json" and request.headers.get("Authorization") != "Bearer docs-token":
                raise FeathersError("NotAuthenticated", "The document needs a token.")
            return express.json_response(request, 200, swagger.DOCUMENT, headers)
        found = self.app.lookup(path)
        if found is None:
            raise FeathersError("NotFound", "Page not found", {"url": request.raw_path})
        template, id, route = found
        method = self.method(request, template, id)
        params = {
            "query": query_string.parse(search.partition("#")[0]),
            "provider": "rest",
            "headers": received_headers(request),
            "route": route,
            "authentication": parse_header(request.headers.get("Authorization")),
        }
        context = await self.app.call(template, method, id, data, params)
        headers.update(context.headers)
        if context.location is not None:
            headers["Location"] = quote(context.location, safe=URL_SAFE)
        headers["Vary"] = "Accept"
        if not express.accepts(request.headers.get("Accept"), "application/json"):
            raise PlainError("Not Acceptable")
        return express.json_response(request, status(context), context.body, headers)

    def method(self, request, template, id):
        override = request.headers.get("X-Service-Method")
        if request.method == "POST" and override:
            name = override
        elif request.method == "GET":
            name = "find" if id is None else "get"
        elif request.method in VERBS:
            name = VERBS[request.method]
        else:
            raise FeathersError("MethodNotAllowed", f"Method {request.method} not allowed")
        if name not in self.app.services[template].methods or override in DEFAULT_METHODS:
            raise FeathersError("MethodNotAllowed", f"Method `{name}` is not supported by this endpoint.")
        return name

    def refuse(self, request, error, headers):
        wanted = request.headers.get("Content-Type", "") + " " + request.headers.get("Accept", "")
        if "json" not in wanted and "html" in wanted:
            return html_response(request, error, headers)
        return express.json_response(request, error.code, error.to_json(), headers)


def status(context):
    if context.status:
        return context.status
    if context.method == "create":
        return 201
    if context.location is not None:
        return 303
    # JavaScript's falsy values have no body to send.
    empty = context.body is None or context.body is False or context.body == 0 or context.body == ""
    return 204 if empty else 200


def received_headers(request):
    """Names in lower case, in the order they came, repeated ones joined."""
    headers = {}
    for name, value in request.raw_headers:
        name, value = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def html_response(request, error, headers):
    title = "Page Not Found" if error.code == 404 else "Internal Server Error"
    page = f"<html>\n  <head>\n    <title>{title}</title>\n  </head>\n  <body>\n    <h1>{title}</h1>\n  </body>\n</html>\n"
    headers = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "public, max-age=0", **headers}
    return express.respond(request, error.code, page.encode(), headers)


def too_large(request):
    """Node answers before Express is asked, without a body, and closes."""
    response = express.web.Response(status=431)
    response.force_close()
    return response
