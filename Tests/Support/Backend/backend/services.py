"""The small services that show one thing each."""

import asyncio
import time

from .errors import FEATHERS, FeathersError, PlainError, ThrownString
from .javascript import parse_int, to_string, utf16_length
from .memory import MemoryService

PATTERN = "aé€😀"  # 1, 2, 3 and 4 bytes of UTF-8


def text_of_bytes(count):
    """Text of exactly that many UTF-8 bytes."""
    return PATTERN * (count // 10) + "x" * (count % 10)


class Messages(MemoryService):
    methods = MemoryService.methods + ("archive", "notifyTyping")

    async def archive(self, context):
        record = self.record((context.data or {}).get("id"), {}, {})
        archived = self.change(record["id"], {"archived": True}, {})
        return {"archived": archived, "query": context.query, "provider": context.provider}

    async def notifyTyping(self, context):
        await context.app.publish("messages", "typing", context.data)
        return {"sent": True}


class People(MemoryService):
    """Records whose ids clients choose."""

    async def create(self, context):
        record = context.data or {}
        if self.store.get(to_string(record.get("id"))) is not None:
            raise FeathersError("Conflict", f"There is a record '{record['id']}' already")
        return await super().create(context)


class Channels(MemoryService):
    """The channels of a chat, whose ids are the rooms of its messages."""

    def reset(self):
        super().reset()
        for name in ("lobby", "random", "team"):
            self.store.put(name, {"id": name})


class Cards(People):
    """Cards of shared boards. A patch may name the version it was made on: if the card has changed since, it is refused."""

    async def create(self, context):
        context.data = {**(context.data or {}), "version": 1}
        return await super().create(context)

    async def patch(self, context):
        present = self.record(context.id, {}, {})["version"]
        if (context.data or {}).get("version", present) != present:
            raise FeathersError("Conflict", "The card has changed since")
        context.data = {**(context.data or {}), "version": present + 1}
        return await super().patch(context)


class Echo:
    methods = ("find", "get", "create", "update", "patch", "remove", "shout")

    async def find(self, context):
        return self.seen(context)

    async def get(self, context):
        return self.seen(context, id=context.id)

    remove = get

    async def create(self, context):
        return self.seen(context, data=context.data)

    shout = create

    async def update(self, context):
        return self.seen(context, id=context.id, data=context.data)

    patch = update

    def seen(self, context, **arguments):
        rest = {"query": context.query, "provider": context.provider, "headers": context.params.get("headers")}
        return {"method": context.method, **arguments, **rest}


class Slow:
    methods = ("find", "get")

    async def get(self, context):
        return {"id": context.id, "waited": await self.wait(context.id)}

    async def find(self, context):
        return {"waited": await self.wait(context.query.get("ms", 0))}

    async def wait(self, milliseconds):
        started = time.monotonic()
        await asyncio.sleep(max(float(milliseconds), 0) / 1000)
        return round((time.monotonic() - started) * 1000)


class Errors:
    methods = ("get", "create")

    async def get(self, context):
        bare = "bare" in context.query
        details = {
            "resource": "thing",
            "nested": {"n": 1, "list": [1, "two", None]},
            "errors": {"email": "Email is taken", "count": {"min": 1}},
        }
        name = to_string(context.id)
        if name in FEATHERS:
            raise FeathersError(name) if bare else FeathersError(name, f"{name} message", details)
        raise PLAIN.get(name, lambda: FeathersError("NotFound", f"No error called '{name}'"))()

    async def create(self, context):
        data = context.data
        name, message = data.get("name", "Error"), data.get("message")
        properties = data.get("props") or {}
        if name not in FEATHERS:
            raise PlainError(message or "This is a plain error", properties=properties)
        raise FeathersError(name, message, data.get("data"))


PLAIN = {
    "Error": lambda: PlainError("This is a plain error"),
    "TypeError": lambda: PlainError("Cannot read properties of undefined (reading 'boom')", "TypeError"),
    "WithErrors": lambda: PlainError("Plain error with errors", properties={"errors": {"field": "is wrong"}}),
    "WithCode": lambda: PlainError("Plain error with code", properties={"code": 418}),
    "String": lambda: ThrownString("just a string"),
}


class Big:
    methods = ("find", "get", "create")

    async def get(self, context):
        return text_of_bytes(int(parse_int(context.id)))

    async def find(self, context):
        count = int(parse_int(context.query.get("n", 0)))
        return {"n": count, "text": text_of_bytes(count)}

    async def create(self, context):
        text = context.data["text"]
        size = len(text.encode("utf-8", "surrogatepass"))
        return {"chars": utf16_length(text), "bytes": size, "same": text == text_of_bytes(size)}


class Members:
    methods = ("find", "get", "create")

    async def find(self, context):
        return {"route": context.params.get("route", {}), "query": context.query}

    async def get(self, context):
        return {"id": context.id, **await self.find(context)}

    async def create(self, context):
        return {"data": context.data, "route": context.params.get("route", {})}


class HTTPMeta:
    methods = ("get", "create")
    values = {"null": None, "false": False, "zero": 0, "string": "a string", "array": [1, "two", None]}

    async def get(self, context):
        if context.id == "headers":
            context.headers["X-Feathers"] = "yes"
        elif context.id == "status":
            context.status = 206
        elif context.id == "redirect":
            context.location = "/messages?x=ü"
        elif context.id in self.values:
            return self.values[context.id]
        return {"id": context.id}

    async def create(self, context):
        context.location = "/httpmeta/1"
        if isinstance(context.data, dict):
            context.status = context.data.get("status")
        return context.data
