"""The registry of services: finds one by path, runs its method, publishes its events."""

import time

from . import shared_store
from .authentication import Authentication
from .context import Context
from .control import Control
from .errors import FeathersError
from .memory import MemoryService
from .refresh_tokens import RefreshTokens
from .services import Big, Cards, Channels, Echo, Errors, HTTPMeta, Members, Messages, People, Slow
from .users import Users

EVENTS = {"create": "created", "update": "updated", "patch": "patched", "remove": "removed"}


class Secured(MemoryService):
    """Open to authenticated callers only; so are its events."""

    channel = "authenticated"

    async def before(self, context):
        authentication = context.params.get("authentication")
        if authentication:
            context.app.services["authentication"].authenticate(authentication)
        elif context.provider:
            raise FeathersError("NotAuthenticated", "Not authenticated")


class Application:
    page = None  # Set by whoever shows calls and events in a browser.

    def __init__(self):
        users = Users()
        authentication = Authentication(self, users)
        self.realtime = None  # Set by whoever opens the sockets.
        self.event_streams = None  # Set by whoever serves FeathersJS 6.
        self.services = {
            "messages": Messages(
                first_id=1, paginate={"default": 10, "max": 50}, multi=True, make_store=shared_store.maker("messages")
            ),
            "todos": MemoryService(multi=True, make_store=shared_store.maker("todos")),
            "single": MemoryService(),
            "cards": Cards(paginate={"default": 10, "max": 100}),
            "channels": Channels(paginate={"default": 10, "max": 100}),
            "people": People(paginate={"default": 10, "max": 100}),
            "users": users,
            "secured": Secured(first_id=1, multi=True),
            "slow": Slow(),
            "errors": Errors(),
            "big": Big(),
            "echo": Echo(),
            "teams/:teamId/members": Members(),
            "httpmeta": HTTPMeta(),
            "control": Control(self),
            "authentication": authentication,
            "refresh-tokens": RefreshTokens(authentication),
        }

    @property
    def method_names(self):
        return {method for service in self.services.values() for method in service.methods}

    def lookup(self, path):
        """(path template, id or None, route) of a path, or None. Nothing is percent-decoded."""
        parts = path.strip("/").split("/")
        for template in self.services:
            names = template.split("/")
            rest = parts[len(names) :]
            route = {}
            if len(parts) < len(names) or len(rest) > 1:
                continue
            for name, part in zip(names, parts):
                if name.startswith(":"):
                    route[name[1:]] = part
                elif name != part:
                    break
            else:
                return template, rest[0] if rest else None, route
        return None

    async def call(self, path, method, id=None, data=None, params=None):
        """Runs one method with its hooks and publishes its events; returns the context."""
        context, begin = Context(self, path, method, id, data, params), time.monotonic()
        try:
            await self.run(context)
        except Exception as error:
            if self.page:
                self.page.called(context, begin, error)
            raise
        if self.page:
            self.page.called(context, begin)
        await self.publish_events(context)
        return context

    async def run(self, context):
        service, method = self.services[context.path], context.method
        if hasattr(service, "before"):
            await service.before(context)
        context.result = await getattr(service, method)(context)
        if hasattr(service, "protect"):
            context.dispatch = service.protect(context.result)

    async def publish_events(self, context):
        service, path, method = self.services[context.path], context.path, context.method
        if method in EVENTS and getattr(service, "publishes", True):
            records = context.body if isinstance(context.body, list) else [context.body]
            for record in records:
                await self.publish(path, EVENTS[method], record)

    async def publish(self, path, event, data):
        channel = getattr(self.services[path], "channel", "public")
        if self.page:
            self.page.published(path, event, data)
        if self.event_streams:
            self.event_streams.publish(channel, path, event, data)
        if self.realtime:
            await self.realtime.publish(channel, f"{path} {event}", data)
