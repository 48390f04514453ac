"""The server: spaces, negotiation, entity tags, and problems as documents."""

import asyncio
import hashlib
import json
import sys
import traceback
from urllib.parse import unquote

from aiohttp import web

from . import access, negotiation
from .endpoints import endpoint
from .links import Links
from .messages import Answer, Request
from .problems import Problem, problem
from .query import delay
from .space import Space


class Site:
    def __init__(self):
        self.spaces = {}

    def application(self):
        application = web.Application(client_max_size=16 * 1024 * 1024)
        application.router.add_route("*", "/__spaces/{space}", self.reset)
        application.router.add_route("*", "/{path:.*}", self.handle)
        return application

    async def reset(self, request):
        """Makes the space anew with the settings in the body."""
        try:
            self.spaces[request.match_info["space"]] = Space(json.loads(await request.read() or b"{}"))
        except (ValueError, AttributeError) as reason:
            return web.json_response({"error": str(reason)}, status=400)
        return web.json_response({"ok": True})

    async def handle(self, request):
        path, _, query = request.raw_path.partition("?")
        parts = [unquote(part) for part in path.split("/")[1:]]
        found, wait = None, 0
        try:
            wait = delay(query)
            space = self.space(parts[0])
            parts = [] if parts[1:] == [""] else parts[1:]
            access.check(space.settings, request.headers.get("Authorization"))
            found = endpoint(parts)
            body = await request.read()
            negotiation.check_content_type(request.headers.get("Content-Type"), bool(body), found.extension)
            profiles = negotiation.requested_profiles(request.headers.get("Accept"), found.extension)
            links = self.links(request, space, path)
            profile = negotiation.cursor_profile(profiles)
            answer = found.answer(Request(space, request.method, parts, query, body, links, profile))
        except Problem as stopped:
            answer = Answer(stopped.status, {"errors": stopped.errors}, stopped.headers)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            answer = Answer(500, {"errors": [{"status": "500", "title": "Internal Server Error"}]})
        await asyncio.sleep(wait + answer.wait)
        return self.response(request, answer, found and found.extension)

    def space(self, name):
        if not name:
            raise problem(404, "not-found", "A base URL is /SPACE")
        if name not in self.spaces:
            self.spaces[name] = Space()
        return self.spaces[name]

    def links(self, request, space, path):
        root = "/" + path.split("/")[1]
        return Links(space.settings["links"], f"{request.scheme}://{request.host}", root, path)

    def response(self, request, answer, extension):
        headers = {"Vary": "Accept", **answer.headers}
        if answer.document is None:
            return web.Response(status=answer.status, headers=headers)
        applied = {"ext": [extension] if extension else None, "profile": [answer.profile] if answer.profile else None}
        about = {"version": "1.1", **{name: uris for name, uris in applied.items() if uris}}
        body = json.dumps({"jsonapi": about, **answer.document}, ensure_ascii=False).encode()
        headers["Content-Type"] = negotiation.content_type(extension, answer.profile)
        if request.method in ("GET", "HEAD") and answer.status == 200:
            headers["ETag"] = f'"{hashlib.sha1(body).hexdigest()}"'
            if headers["ETag"] in [tag.strip() for tag in request.headers.get("If-None-Match", "").split(",")]:
                return web.Response(status=304, headers={name: headers[name] for name in ("Vary", "ETag")})
        return web.Response(status=answer.status, body=body, headers=headers)
